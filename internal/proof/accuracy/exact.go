package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/dsp/wav"
)

// cepstrum is a signal with the HTK coefficients of some frames in full precision.
type cepstrum struct {
	x      []float64 // 16-bit integers over 32767
	rate   int
	frames []int
	want   [][]float64 // by frame: its coefficients, c0 first
}

// readCepstra reads mfcc_stft.json and the recordings that it names.
func (s *set) readCepstra(dir string) error {
	var all map[string]json.RawMessage
	if err := readJSON(filepath.Join(dir, "mfcc_stft.json"), &all); err != nil {
		return err
	}
	for _, name := range sortedKeys(all) {
		if strings.HasPrefix(name, "_") {
			continue // a note, not a signal
		}
		var v struct {
			SR  int `json:"sr"`
			HTK struct {
				Frames []int
				MFCC   [][]float64 `json:"mfcc_lifted_c0first"`
			}
		}
		if err := json.Unmarshal(all[name], &v); err != nil {
			return fmt.Errorf("mfcc_stft.json: %s: %w", name, err)
		}
		folder, base, _ := strings.Cut(name, "/")
		if folder == "real" {
			folder = "recorded"
		} else {
			folder = "synthetic"
		}
		f, err := os.Open(filepath.Join(dir, folder, base+".wav"))
		if err != nil {
			return err
		}
		a, err := wav.Decode(f, nil)
		f.Close()
		if err != nil {
			return err
		}
		for i := range a.Samples {
			a.Samples[i] *= 32768. / 32767
		}
		s.mfcc = append(s.mfcc, cepstrum{a.Samples, v.SR, v.HTK.Frames, v.HTK.MFCC})
	}
	return nil
}

// mfccError is the largest difference from a stored coefficient, relative to
// the largest coefficient of its frame.
func mfccError(c cepstrum) float64 {
	m := dsp.NewMFCC(float64(c.rate), nil)
	var e float64
	for i, t := range c.frames {
		start := t * m.HopLen()
		got := m.Coefficients(nil, c.x[start:start+m.FrameLen()])
		var diff, size float64
		for k, w := range c.want[i] {
			diff = max(diff, math.Abs(got[k]-w))
			size = max(size, math.Abs(w))
		}
		e = max(e, diff/size)
	}
	return e
}

// tones is the number of tones for each rate. Chosen: dense enough to find every ripple of
// a filter of this length.
const tones = 25

// resamplingRows resamples tones from 8, 16, 22.05 and 48 kHz to 44.1 kHz, up to 0.9 of
// the lower Nyquist frequency. Spurs and aliases are the power of what remains of a tone of
// amplitude 1 after its best fit is subtracted.
func resamplingRows(m map[string]float64) {
	ripple, spurs := 0., math.Inf(-1)
	for _, rate := range []int{8000, 16000, 22050, 48000} {
		r := dsp.NewResampler(rate, dsp.SampleRate)
		nyquist := float64(min(rate, dsp.SampleRate)) / 2
		for k := range tones {
			f := 0.9 * nyquist * (float64(k) + 0.7) / (tones - 0.3)
			x := make([]float64, rate/2)
			for i := range x {
				x[i] = math.Sin(2 * math.Pi * f * float64(i) / float64(rate))
			}
			y := r.Resample(nil, x)
			gain, rest := fitTone(y[len(y)/4:len(y)*3/4], f/dsp.SampleRate)
			ripple = max(ripple, math.Abs(20*math.Log10(gain)))
			spurs = max(spurs, 10*math.Log10(2*rest))
		}
	}
	m["resampling, ripple to 0.9 Nyquist"] = ripple
	m["resampling, spurs and aliases"] = spurs
}

// fitTone fits a·cos + b·sin of f cycles a sample to y by least squares. It returns the
// amplitude and the mean square of the residual.
func fitTone(y []float64, f float64) (amp, rest float64) {
	var cc, cs, ss, yc, ys float64
	for i, v := range y {
		s, c := math.Sincos(2 * math.Pi * f * float64(i))
		cc, cs, ss = cc+c*c, cs+c*s, ss+s*s
		yc, ys = yc+v*c, ys+v*s
	}
	det := cc*ss - cs*cs
	a, b := (yc*ss-ys*cs)/det, (ys*cc-yc*cs)/det
	for i, v := range y {
		s, c := math.Sincos(2 * math.Pi * f * float64(i))
		d := v - a*c - b*s
		rest += d * d
	}
	return math.Hypot(a, b), rest / float64(len(y))
}
