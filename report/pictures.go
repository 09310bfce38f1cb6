package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html/template"
	"image/png"
	"math"
	"strings"

	"github.com/voicescreen/voicescreen/dsp"
)

// The layout of the pictures over time, in points.
const (
	leftMargin   = 60.0
	rightMargin  = 10.0
	waveHeight   = 100.0
	pitchHeight  = 90.0
	panelGap     = 14.0
	axisHeight   = 24.0
	lowestPitch  = 50.0  // Hz
	highestPitch = 500.0 // Hz
)

// picture draws waveform with speech and pauses, spectrogram with formants, and pitch,
// one above the other on one axis of time.
func (s *Signal) picture() (template.HTML, error) {
	height := waveHeight + rows + pitchHeight + 2*panelGap + axisHeight
	d := newDrawing("signal", leftMargin+columns+rightMargin, height, "The recording over time", s.describe())
	s.drawWave(d, 0)
	if err := s.drawSpectrogram(d, waveHeight+panelGap); err != nil {
		return "", err
	}
	top := waveHeight + rows + 2*panelGap
	s.drawPitch(d, top)
	s.drawTime(d, top+pitchHeight)
	return d.finish(), nil
}

// x returns the place of a time.
func (s *Signal) x(seconds float64) float64 { return leftMargin + columns*seconds/s.seconds }

func (s *Signal) drawWave(d *drawing, top float64) {
	d.rect("panel", leftMargin, top, columns, waveHeight)
	for _, part := range s.speech {
		d.rect("speech", s.x(part.Start), top, s.x(part.End)-s.x(part.Start), waveHeight)
	}
	middle := top + waveHeight/2
	var path strings.Builder
	for c := range columns {
		high := middle - waveHeight/2*min(1, s.high[c])
		low := middle - waveHeight/2*max(-1, s.low[c])
		fmt.Fprintf(&path, "M%s %sV%s", number(leftMargin+float64(c)+0.5), number(high), number(max(low, high+0.5)))
	}
	d.add(`<path class="wave" d="%s"/>`, path.String())
	d.text("end", leftMargin-6, top+12, "wave")
}

func (s *Signal) drawSpectrogram(d *drawing, top float64) error {
	var buf bytes.Buffer
	if err := png.Encode(&buf, s.power); err != nil {
		return fmt.Errorf("report: draw the spectrogram: %w", err)
	}
	d.add(`<image x="%s" y="%s" width="%d" height="%d" preserveAspectRatio="none" href="data:image/png;base64,%s"/>`,
		number(leftMargin), number(top), columns, rows, base64.StdEncoding.EncodeToString(buf.Bytes()))
	d.rect("frame", leftMargin, top, columns, rows)
	y := func(f float64) float64 { return top + rows*(1-f/topFrequency) }
	for k, f := range s.formants {
		d.add(`<path class="formant f%d" d="%s"/>`, k+1, marks(f, y, topFrequency))
	}
	for f := 0.0; f <= topFrequency; f += 1000 {
		d.text("end", leftMargin-6, min(y(f)+4, top+rows), fmt.Sprintf("%.0f Hz", f))
	}
	return nil
}

// marks returns a path with a short line for each defined value of a track.
func marks(track []float64, y func(float64) float64, most float64) string {
	var path strings.Builder
	for c, v := range track {
		if v <= most { // not NaN
			fmt.Fprintf(&path, "M%s %sh1.6", number(leftMargin+float64(c)), number(y(v)))
		}
	}
	return path.String()
}

func (s *Signal) drawPitch(d *drawing, top float64) {
	d.rect("panel", leftMargin, top, columns, pitchHeight)
	y := func(f float64) float64 {
		return top + pitchHeight*(1-math.Log(f/lowestPitch)/math.Log(highestPitch/lowestPitch))
	}
	for _, f := range []float64{50, 100, 200, 400} {
		d.line("grid", leftMargin, y(f), leftMargin+columns, y(f))
		d.text("end", leftMargin-6, min(y(f)+4, top+pitchHeight), fmt.Sprintf("%.0f Hz", f))
	}
	inside := make([]float64, columns)
	for c, f := range s.pitch {
		if inside[c] = f; !(f >= lowestPitch) {
			inside[c] = math.NaN()
		}
	}
	d.add(`<path class="pitch" d="%s"/>`, marks(inside, y, highestPitch))
}

func (s *Signal) drawTime(d *drawing, top float64) {
	by := step(s.seconds, 10)
	for i := 0; float64(i)*by <= s.seconds; i++ {
		t := float64(i) * by
		d.line("tick", s.x(t), top, s.x(t), top+4)
		anchor := "middle"
		if t > 0.97*s.seconds {
			anchor = "end"
		}
		d.text(anchor, s.x(t), top+17, fmt.Sprintf("%.4g s", t))
	}
}

// describe says in words what the picture shows.
func (s *Signal) describe() string {
	var speech, pauses, longest float64
	for _, p := range s.speech {
		speech += p.Duration()
	}
	for _, p := range s.pauses {
		pauses, longest = pauses+p.Duration(), max(longest, p.Duration())
	}
	text := fmt.Sprintf("%.1f s, of which %.1f s are speech, in %s.", s.seconds, speech, count(len(s.speech), "stretch", "stretches"))
	if len(s.pauses) > 0 {
		text += fmt.Sprintf(" There are %s of 0.2 s or more; the longest takes %.1f s, all together %.1f s.",
			count(len(s.pauses), "pause", "pauses"), longest, pauses)
	} else {
		text += " There is no pause of 0.2 s or more."
	}
	if low, mid, high, ok := spread(s.pitch); ok {
		text += fmt.Sprintf(" The pitch is %.0f Hz in the middle, and from %.0f to %.0f Hz nine tenths of the time.", mid, low, high)
	} else {
		text += " No pitch was found."
	}
	if s.irregular >= 0 { // not NaN
		text += fmt.Sprintf(" %.0f %% of the voice is irregular, as creak is.", 100*s.irregular)
	}
	for k, f := range s.formants {
		if low, mid, high, ok := spread(f); ok {
			text += fmt.Sprintf(" Formant %d is %.0f Hz in the middle (%.0f to %.0f).", k+1, mid, low, high)
		}
	}
	return text
}

// spread returns the 5th, 50th and 95th percentile of the defined values of a track.
func spread(track []float64) (low, mid, high float64, ok bool) {
	var values []float64
	for _, v := range track {
		if v > 0 { // not NaN
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return 0, 0, 0, false
	}
	return dsp.Percentile(values, 5), dsp.Percentile(values, 50), dsp.Percentile(values, 95), true
}

// count writes a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
