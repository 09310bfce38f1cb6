package dsp_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/dsp/wav"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// meterRates are the rates of telephones, wideband speech, discs and browsers.
var meterRates = []int{8000, 16000, 44100, 48000}

// switched returns a voice of 140 Hz and amplitude 0.3 from on to off, in white noise of
// RMS 0.001, which is -60 dBFS, and the level of the voice in dBFS.
func switched(rate int, on, off, dur float64) (x []float64, level float64) {
	x = signals.Noise(float64(rate), 0.001, dur, 1)
	v := signals.Scale(signals.Normalize(signals.Harmonic(float64(rate), signals.Constant(140), off-on), 1), 0.3)
	for i, s := range v {
		x[int(on*float64(rate))+i] += s
	}
	return x, 10 * math.Log10(signals.Power(v))
}

// Each quantity follows the truth within 0.1 s of audio: level and pitch of a voice that
// is switched on and off, speech since then, the noise before, and clipping.
func TestMeterIsAtMostATenthOfASecondBehind(t *testing.T) {
	const (
		behind     = 0.1
		on, off    = 1.0, 2.2
		levelError = 1.0   // dB: the noise floor's tenth percentile is below the mean
		f0Error    = 0.005 // relative
		reach      = 0.025 // s: the window of the level sees the voice before it begins
	)
	for _, rate := range meterRates {
		if cost.Race && rate != 8000 {
			continue
		}
		x, voice := switched(rate, on, off, 2.6)
		m, block := dsp.NewMeter(rate), rate/100
		for i := 0; i+block <= len(x); i += block {
			m.Add(x[i : i+block])
			r, now := m.Reading(), float64(i+block)/float64(rate)
			wrong := func(what string, got, want float64) {
				t.Errorf("%d Hz, at %.2f s: got %s %.4g, want %.4g", rate, now, what, got, want)
			}
			if math.Abs(r.Duration-now) > 1e-9 {
				wrong("duration", r.Duration, now)
			}
			inside, outside := now >= on+behind && now < off, now >= 2*behind && now < on || now >= off+behind
			if inside && math.Abs(r.Level-voice) > levelError {
				wrong("level", r.Level, voice)
			}
			if outside && math.Abs(r.Level+60) > 2*levelError {
				wrong("level", r.Level, -60)
			}
			if inside && math.Abs(r.F0/140-1) > f0Error {
				wrong("F0", r.F0, 140)
			}
			if outside && r.F0 != 0 {
				wrong("F0", r.F0, 0)
			}
			if now >= 0.1+2*behind && math.Abs(r.Noise+60) > 2*levelError { // 0.1 s of noise is needed
				wrong("noise", r.Noise, -60)
			}
			if inside && math.Abs(r.Voice-voice) > levelError && now > on+behind+0.05 { // 30 ms of voice are
				wrong("voice", r.Voice, voice)
			}
			most := min(max(now-on, 0), off-on)
			least := min(max(now-behind-on, 0), off-on)
			if r.Speech < least-reach || r.Speech > most+2*reach {
				wrong(fmt.Sprintf("(want %.3f to %.3f) speech", least, most), r.Speech, least)
			}
			if r.Clipped != 0 {
				wrong("clipped", r.Clipped, 0)
			}
		}
	}
}

// A tone that is clipped from 1 s on is so in the reading after 0.1 s, with the share that
// the whole has.
func TestMeterFindsClipping(t *testing.T) {
	for _, rate := range meterRates {
		if cost.Race && rate != 8000 {
			continue
		}
		x := signals.Tone(float64(rate), 200, 0.4, 1.5)
		for i := rate; i < len(x); i++ {
			x[i] = min(max(2*x[i], -0.5), 0.5)
		}
		m, block := dsp.NewMeter(rate), rate/100
		for i := 0; i+block <= len(x); i += block {
			m.Add(x[i : i+block])
			now, got := i+block, m.Reading().Clipped
			if want := dsp.Clipped(x[:now]); math.Abs(got-want) > float64(rate)/50/float64(now)/2 {
				t.Fatalf("%d Hz, at sample %d: got %g clipped, want %g", rate, now, got, want)
			}
			if now >= rate+rate/10 && got == 0 {
				t.Fatalf("%d Hz, at sample %d: got nothing clipped", rate, now)
			}
		}
		if got, want := m.Reading().Clipped, dsp.Clipped(x); got != want || want < 0.1 {
			t.Errorf("%d Hz: got %g clipped, want %g", rate, got, want)
		}
	}
}

// speechBound is how much the count of a Meter may differ from that of the Analyzer on the
// recordings below, in s: a gap of 0.2 s that one closes and the other does not, and
// rounding.
const speechBound = 0.25

// At the end of a recording the speech so far is that of the analysis, also in noise and
// when the voice gets louder or softer.
func TestMeterCountsTheSpeechOfTheAnalysis(t *testing.T) {
	for _, name := range []string{"short_en.wav", "voice_16k_en.wav"} {
		f, err := os.Open(filepath.Join("..", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		rec, err := wav.Decode(f, nil)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		rate, clean := rec.SampleRate, rec.Samples
		half := len(clean) / 2
		louder := append(signals.Scale(append([]float64(nil), clean[:half]...), 0.1), clean[half:]...)
		softer := append(append([]float64(nil), clean[:half]...), signals.Scale(append([]float64(nil), clean[half:]...), 0.3)...)
		for what, x := range map[string][]float64{
			"clean": clean, "10 dB": signals.AddNoise(append([]float64(nil), clean...), 10, 1), "louder": louder, "softer": softer,
		} {
			if cost.Race && (what != "louder" || rate != 16000) {
				continue
			}
			y := x
			if rate != dsp.SampleRate {
				y = dsp.NewResampler(rate, dsp.SampleRate).Resample(nil, x)
			}
			want := dsp.NewAnalyzer().Analyze(y).SpeechDuration()
			m := dsp.NewMeter(rate)
			for len(x) > 0 {
				n := min(len(x), rate/5)
				m.Add(x[:n])
				m.Reading()
				x = x[n:]
			}
			if got := m.Reading().Speech; math.Abs(got-want) > speechBound || want < 2 {
				t.Errorf("%s, %s: got %.2f s of speech, want %.2f", name, what, got, want)
			}
		}
	}
}

// Readings do not depend on the blocks, nor on how often they are asked for, and wild
// samples count as those that replace them.
func TestMeterReadsTheSameOfAnyBlocks(t *testing.T) {
	for _, rate := range []int{8000, 11025, 44100, 192000} {
		if cost.Race && rate > 11025 {
			continue
		}
		x := signals.Harmonic(float64(rate), signals.IntonationMale(), 1.5)
		copy(x, make([]float64, rate/4))
		clean := append([]float64(nil), x...)
		for i := 500; i < len(x); i += 1777 {
			x[i] = [...]float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300}[i%5]
			clean[i] = [...]float64{0, 0, 0, 16, -16}[i%5]
		}
		a, b, r := dsp.NewMeter(rate), dsp.NewMeter(rate), rand.New(rand.NewPCG(1, 2))
		for at := 0; at < len(x); {
			step := min(r.IntN(rate/4), len(x)-at)
			for end := at + step; at < end; {
				n := min(1+r.IntN(rate/20), end-at)
				a.Add(x[at : at+n])
				at += n
			}
			b.Add(clean[b.Len():at])
			if got, want := a.Reading(), b.Reading(); fmt.Sprintf("%x", got) != fmt.Sprintf("%x", want) {
				t.Fatalf("%d Hz, at %.2f s: got %+v, want %+v", rate, float64(at)/float64(rate), got, want)
			}
		}
		if got := a.Reading().Speech; got < 1 {
			t.Errorf("%d Hz: got %.2f s of speech, want more than 1", rate, got)
		}
	}
}

func TestMeterOfNothing(t *testing.T) {
	m := dsp.NewMeter(16000)
	for range 2 {
		r := m.Reading()
		if r.Duration != 0 || r.Speech != 0 || r.F0 != 0 || r.Clipped != 0 || !math.IsNaN(r.Level) || !math.IsNaN(r.Noise) || !math.IsNaN(r.Voice) {
			t.Errorf("got %+v, want nothing", r)
		}
		m.Add(nil)
	}
	for range 300 { // digital silence
		m.Add(make([]float64, 160))
	}
	if r := m.Reading(); r.Duration != 3 || r.Speech != 0 || r.F0 != 0 || r.Clipped != 0 || r.Level != -120 || r.Noise != -120 || !math.IsNaN(r.Voice) {
		t.Errorf("got %+v of silence", r)
	}
	for _, rate := range []int{0, -1, 3999, 400000} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no panic at %d Hz", rate)
				}
			}()
			dsp.NewMeter(rate)
		}()
	}
}

// BenchmarkMeter is the cost of a Meter whose reading is taken ten times a second, beside
// that of the analysis.
func BenchmarkMeter(b *testing.B) {
	x := conversation(20)
	b.Run("meter", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m := dsp.NewMeter(dsp.SampleRate)
			for at := 0; at < len(x); at += dsp.SampleRate / 10 {
				m.Add(x[at : at+dsp.SampleRate/10])
				m.Reading()
			}
		}
		reportSpeed(b, len(x))
	})
	b.Run("analysis", func(b *testing.B) {
		a := dsp.NewAnalyzer()
		for b.Loop() {
			a.Analyze(x)
		}
		reportSpeed(b, len(x))
	})
}
