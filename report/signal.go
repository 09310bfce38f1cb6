package report

import (
	"image"
	"image/color"
	"math"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
)

// columns is the width of the pictures of a signal in points. Chosen: a printed page
// shows no more.
const columns = 960

const (
	rows         = 180    // of the spectrogram
	topFrequency = 5000.0 // Hz, of the spectrogram: above F3 of every voice
	darkest      = 60.0   // dB that the spectrogram shows; chosen, most of what is not noise
	emphasis     = 500.0  // Hz, above which the spectrogram is raised by 6 dB per octave
)

// A Signal holds what the pictures of a page show of a recording: waveform,
// spectrogram, pitch, formants and speech, in 960 columns of equal length. Its size
// does not grow with the recording, but for the stretches of speech. It is immutable.
type Signal struct {
	seconds   float64
	low, high []float64 // lowest and highest sample of each column
	power     *image.Gray
	pitch     []float64    // Hz, median of the voiced frames of each column; NaN if most are not voiced
	irregular float64      // share of the voice; NaN without voice or in noise
	formants  [3][]float64 // Hz, medians of F1 to F3 of the same frames; NaN where undefined
	speech    []dsp.Segment
	pauses    []dsp.Segment
}

// NewSignal measures a recording for its pictures. The samples are neither changed
// nor kept. It panics if the rate of c is not from 8 to 192 kHz or c is empty.
func NewSignal(c *features.Channel) *Signal {
	if len(c.Samples) == 0 {
		panic("report: a signal without samples")
	}
	s := &Signal{seconds: c.Seconds()}
	s.wave(c.Samples)
	s.power = spectrogram(c.Samples, c.Rate)
	a := features.NewMeasurer().Measure(c).Analysis
	s.tracks(a)
	if s.irregular = math.NaN(); a.Quality.SNR >= leastSNR {
		s.irregular = dsp.IrregularShare(a.F0, a.Irregular)
	}
	s.speech = append(s.speech, a.Speech...)
	s.pauses = append(s.pauses, a.Pauses...)
	return s
}

// leastSNR is the least signal-to-noise ratio in dB of a recording in which irregular voice
// is measured: see dsp.Pitch.Irregular.
const leastSNR = 10

// part returns which of n points belong to a column: at least one.
func part(column, n int) (from, to int) {
	from = min(column*n/columns, n-1)
	return from, max(from+1, (column+1)*n/columns)
}

// wave finds the lowest and highest sample of each column.
func (s *Signal) wave(x []float64) {
	s.low, s.high = make([]float64, columns), make([]float64, columns)
	for c := range columns {
		from, to := part(c, len(x))
		low, high := x[from], x[from]
		for _, v := range x[from:to] {
			low, high = min(low, v), max(high, v)
		}
		s.low[c], s.high[c] = low, high
	}
}

// tracks takes the medians of each column of the tracks of an analysis.
func (s *Signal) tracks(a *dsp.Analysis) {
	s.pitch = make([]float64, columns)
	for k := range s.formants {
		s.formants[k] = make([]float64, columns)
	}
	var values []float64
	median := func(from, to int, of func(i int) float64) float64 {
		values = values[:0]
		for i := from; i < to; i++ {
			if v := of(i); v > 0 { // not NaN
				values = append(values, v)
			}
		}
		if 2*len(values) < to-from || len(values) == 0 {
			return math.NaN()
		}
		return dsp.PercentileInPlace(values, 50)
	}
	for c := range columns {
		if len(a.F0) == 0 {
			s.pitch[c] = math.NaN()
			for k := range s.formants {
				s.formants[k][c] = math.NaN()
			}
			continue
		}
		from, to := part(c, len(a.F0))
		s.pitch[c] = median(from, to, func(i int) float64 { return a.F0[i] })
		for k := range s.formants {
			s.formants[k][c] = median(from, to, func(i int) float64 { return a.Formants[i].F[k] })
		}
	}
}

// spectrogram returns the power of a signal by time and frequency, black where it is
// highest: the mean over the frames of a column of the power of a Hann window of
// 25 ms, raised by 6 dB per octave above 500 Hz, as far as 5 kHz. What is above the
// signal's band is white.
func spectrogram(x []float64, rate int) *image.Gray {
	window := dsp.PeriodicHann(rate / 40)
	n := 1
	for n < len(window) {
		n *= 2
	}
	fft := dsp.NewFFT(n)
	frame, power, sum := make([]float64, n), make([]float64, n/2+1), make([]float64, n/2+1)
	db := make([]float64, columns*rows)
	most := math.Inf(-1)
	for c := range columns {
		from, to := part(c, len(x))
		clear(sum)
		for at := from; at < to; at += rate / 100 {
			clear(frame)
			for i, w := range window {
				if j := at + i - len(window)/2; j >= 0 && j < len(x) {
					frame[i] = w * x[j]
				}
			}
			for k, p := range fft.Power(power, frame) {
				sum[k] += p
			}
		}
		frames := float64((to - from + rate/100 - 1) / (rate / 100))
		for r := range rows {
			db[c*rows+r] = bandLevel(sum, r, float64(n)/float64(rate), frames)
			most = max(most, db[c*rows+r])
		}
	}
	img := image.NewGray(image.Rect(0, 0, columns, rows))
	for c := range columns {
		for r := range rows {
			dark := 0.0
			if level := db[c*rows+r] - most + darkest; level > 0 { // not NaN, as in silence
				dark = level / darkest
			}
			img.SetGray(c, rows-1-r, color.Gray{Y: uint8(255 * (1 - min(dark, 1)))})
		}
	}
	return img
}

// bandLevel returns the level of a row of the spectrogram in dB, -Inf without power.
// perHz is the number of bins in a hertz.
func bandLevel(sum []float64, row int, perHz, frames float64) float64 {
	low, high := topFrequency*float64(row)/rows, topFrequency*float64(row+1)/rows
	from := int(low * perHz)
	to := max(from+1, int(high*perHz))
	if to > len(sum) {
		return math.Inf(-1)
	}
	level := 10 * math.Log10(dsp.Mean(sum[from:to])/frames)
	return level + 20*math.Log10(max(1, (low+high)/2/emphasis))
}
