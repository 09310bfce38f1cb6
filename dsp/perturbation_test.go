package dsp_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// Goals of the mean relative error: a third of what separates neighbouring
// settings of the references, and below what the best program reaches.
const (
	jitterPulses, jitterVowels   = 0.005, 0.03
	shimmerPulses, shimmerVowels = 0.002, 0.01
)

// measurePerturbation runs pitch, pulses and both measures.
func measurePerturbation(x []float64, sr float64) (dsp.Jitter, dsp.Shimmer, []float64) {
	p := dsp.NewPulses(sr)
	t := p.Find(nil, x, dsp.NewPitch(sr, nil).Track(nil, x))
	return dsp.MeasureJitter(t), dsp.MeasureShimmer(t, p.Amplitudes()), t
}

// relative is the mean of |got/want − 1|.
func relative(got, want []float64) float64 {
	var s float64
	for i := range got {
		s += math.Abs(got[i]/want[i]-1) / float64(len(got))
	}
	return s
}

func TestPerturbationOfKnownTrains(t *testing.T) {
	const dur = 1.2
	render := map[string]func(signals.Train) []float64{
		"pulses": func(tr signals.Train) []float64 { return tr.Pulses(dsp.SampleRate, dur) },
		"vowel":  func(tr signals.Train) []float64 { return tr.Vowel(dsp.SampleRate, dur) },
	}
	for _, f0 := range []float64{90, 130, 180, 210, 250} {
		for _, amount := range []float64{0.005, 0.02, 0.04} {
			for kind, r := range render {
				t.Run(fmt.Sprintf("%s %g Hz %g", kind, f0, amount), func(t *testing.T) {
					tr := signals.NewTrain(f0, dur, amount, 0, uint64(f0))
					j, _, times := measurePerturbation(signals.Quantize(signals.Normalize(r(tr), 0.5), 1), dsp.SampleRate)
					w := tr.Truth()
					goal := map[string]float64{"pulses": jitterPulses, "vowel": jitterVowels}[kind]
					if e := relative([]float64{j.Local, j.Absolute, j.RAP, j.PPQ5}, []float64{w.JitterLocal, w.JitterAbs, w.JitterRAP, w.JitterPPQ5}); !(e <= goal) {
						t.Errorf("jitter: got %+v, want %+v: mean relative error %.4f, want at most %g", j, w, e, goal)
					}
					if d := len(times) - len(tr.Times); d < -3 || d > 0 {
						t.Errorf("got %d pulses of %d", len(times), len(tr.Times))
					}
					tr = signals.NewTrain(f0, dur, 0, 3*amount, uint64(f0))
					_, s, _ := measurePerturbation(signals.Quantize(signals.Normalize(r(tr), 0.5), 1), dsp.SampleRate)
					w = tr.Truth()
					goal = map[string]float64{"pulses": shimmerPulses, "vowel": shimmerVowels}[kind]
					if e := relative([]float64{s.Local, s.LocalDB, s.APQ3, s.APQ5, s.APQ11}, []float64{w.ShimmerLocal, w.ShimmerDB, w.ShimmerAPQ3, w.ShimmerAPQ5, w.ShimmerAPQ11}); !(e <= goal) {
						t.Errorf("shimmer: got %+v, want %+v: mean relative error %.4f, want at most %g", s, w, e, goal)
					}
				})
			}
		}
	}
}

// Beyond the voiced frames an analysis has pulses only where the voice goes on as before. In
// speech, whose phrases end in creak or breath, its jitter is then nearer to the true one
// than that of all pulses that [dsp.Pulses] finds for the same track.
func TestJitterOfSpeechWithoutItsEnds(t *testing.T) {
	a := dsp.NewAnalyzer()
	var near, far float64 // sums of the errors, relative
	last := uint64(252)
	if cost.Race {
		last = 248
	}
	for seed := uint64(246); seed < last; seed++ {
		speaker := signals.NewSpeaker(seed)
		x := speaker.Speak(dsp.SampleRate, 5).X
		out := a.Analyze(x)
		all := dsp.NewPulses(dsp.SampleRate).Find(nil, x, out.F0)
		if lost := len(all) - len(out.Pulses); lost < 1 || lost > len(all)/30 {
			t.Errorf("speaker %d: got %d pulses, want 1 to %d fewer than the %d", seed, len(out.Pulses), len(all)/30, len(all))
		}
		truth := 2 / math.Sqrt(math.Pi) * speaker.Jitter // mean |T[i] − T[i−1]| of normal T
		near += math.Abs(out.Jitter.Local/truth - 1)
		far += math.Abs(dsp.MeasureJitter(all).Local/truth - 1)
	}
	if !(near < 0.97*far) {
		t.Errorf("got errors of %.3f, want less than the %.3f of all pulses", near, far)
	}
}

// Jitter does not leak into shimmer nor the other way.
func TestPerturbationsAreApart(t *testing.T) {
	tr := signals.NewTrain(150, 1.2, 0.01, 0.03, 2)
	j, s, _ := measurePerturbation(signals.Normalize(tr.Vowel(dsp.SampleRate, 1.2), 0.5), dsp.SampleRate)
	w := tr.Truth()
	if e := relative([]float64{j.Local, s.Local}, []float64{w.JitterLocal, w.ShimmerLocal}); !(e <= shimmerVowels) {
		t.Errorf("got %g and %g, want %g and %g", j.Local, s.Local, w.JitterLocal, w.ShimmerLocal)
	}
}

func TestPerturbationInNoise(t *testing.T) {
	const noise = 0.05 // relative: 30 dB below the voice
	tr := signals.NewTrain(120, 1.2, 0.01, 0.03, 2)
	x := signals.AddNoise(signals.Normalize(tr.Vowel(dsp.SampleRate, 1.2), 0.5), 30, 1)
	j, s, _ := measurePerturbation(x, dsp.SampleRate)
	w := tr.Truth()
	if e := relative([]float64{j.Local, j.RAP, s.Local}, []float64{w.JitterLocal, w.JitterRAP, w.ShimmerLocal}); !(e <= noise) {
		t.Errorf("got %+v and %+v, want %+v", j, s, w)
	}
}

func TestPulsesAtOtherRates(t *testing.T) {
	tr := signals.NewTrain(140, 1, 0.01, 0, 3)
	w := tr.Truth()
	for _, sr := range []float64{16000, 22050, 48000} {
		j, _, times := measurePerturbation(tr.Pulses(sr, 1), sr)
		if e := relative([]float64{j.Local, j.RAP}, []float64{w.JitterLocal, w.JitterRAP}); !(e <= jitterPulses) || len(times) < len(tr.Times)-3 {
			t.Errorf("%g Hz: got %+v from %d pulses, want %+v from %d", sr, j, len(times), w, len(tr.Times))
		}
	}
}

// The definitions, by hand: periods of 10, 12, 10, 12, 10 ms.
func TestMeasureJitterByHand(t *testing.T) {
	j := dsp.MeasureJitter([]float64{0, 0.010, 0.022, 0.032, 0.044, 0.054})
	const mean = 0.0108
	want := dsp.Jitter{Local: 0.002 / mean, Absolute: 0.002, RAP: 0.004 / 3 / mean, PPQ5: 0.0008 / mean, DDP: 0.004 / mean}
	for i, p := range [][2]float64{{j.Local, want.Local}, {j.Absolute, want.Absolute}, {j.RAP, want.RAP}, {j.PPQ5, want.PPQ5}, {j.DDP, want.DDP}} {
		if math.Abs(p[0]-p[1]) > 1e-12 {
			t.Errorf("measure %d: got %g, want %g", i, p[0], p[1])
		}
	}
}

func TestMeasureJitterSkipsGaps(t *testing.T) {
	a := dsp.MeasureJitter([]float64{0, 0.010, 0.0201, 0.0302, 0.500, 0.510, 0.5201, 0.5302})
	if want := 0.0001 / 2; math.Abs(a.Absolute-want) > 1e-9 { // of |0.1|, 0, |0.1|, 0 ms
		t.Errorf("two stretches: got %g s, want %g", a.Absolute, want)
	}
	if !math.IsNaN(a.PPQ5) {
		t.Errorf("five periods in no stretch: got %g, want NaN", a.PPQ5)
	}
}

func TestMeasureShimmerByHand(t *testing.T) {
	s := dsp.MeasureShimmer([]float64{0, 0.01, 0.02, 0.03, 0.04}, []float64{1, 1.2, 1, 1.2, 1})
	const mean = 1.08
	for i, p := range [][2]float64{{s.Local, 0.2 / mean}, {s.LocalDB, 20 * math.Log10(1.2)}, {s.APQ3, 0.4 / 3 / mean}, {s.APQ5, 0.08 / mean}} {
		if math.Abs(p[0]-p[1]) > 1e-12 {
			t.Errorf("measure %d: got %g, want %g", i, p[0], p[1])
		}
	}
	if !math.IsNaN(s.APQ11) {
		t.Errorf("APQ11 of five pulses: got %g, want NaN", s.APQ11)
	}
	nan := dsp.MeasureShimmer([]float64{0, 0.01, 0.02}, []float64{1, math.NaN(), 1})
	if !math.IsNaN(nan.Local) || !math.IsNaN(nan.LocalDB) {
		t.Errorf("no two neighbours: got %+v, want NaN", nan)
	}
}

func TestPerturbationOfNothing(t *testing.T) {
	j, s := dsp.MeasureJitter(nil), dsp.MeasureShimmer(nil, nil)
	for _, v := range []float64{j.Local, j.Absolute, j.RAP, j.PPQ5, j.DDP, s.Local, s.LocalDB, s.APQ3, s.APQ5, s.APQ11} {
		if !math.IsNaN(v) {
			t.Errorf("without pulses: got %+v, %+v, want NaN", j, s)
		}
	}
	p := dsp.NewPulses(dsp.SampleRate)
	if got := p.Find(nil, make([]float64, 1000), []float64{100, 100, 100}); len(got) != 0 {
		t.Errorf("silence called voiced: got pulses %v", got)
	}
	if got := p.Find(nil, nil, []float64{100}); len(got) != 0 {
		t.Errorf("no samples: got pulses %v", got)
	}
}

// A stretch longer than a block is as good as a short one.
func TestPulsesOfALongStretch(t *testing.T) {
	const dur = 9 // s: two blocks of 4 s and a part
	tr := signals.NewTrain(100, dur, 0.01, 0, 5)
	x := tr.Pulses(16000, dur)
	p := dsp.NewPulses(16000)
	f0 := dsp.NewPitch(16000, nil).Track(nil, x)
	times := p.Find(nil, x, f0)
	if len(times) < len(tr.Times)-3 || len(times) > len(tr.Times) || !slices.IsSorted(times) {
		t.Fatalf("got %d pulses, want %d", len(times), len(tr.Times))
	}
	const joints = 0.01 // relative: blocks have anchors of their own
	if j, w := dsp.MeasureJitter(times), tr.Truth(); math.Abs(j.Local/w.JitterLocal-1) > joints {
		t.Errorf("got %g, want %g", j.Local, w.JitterLocal)
	}
	if !cost.Race {
		if n := cost.Allocations(2, func() { times = p.Find(times, x, f0) }); n > 0 {
			t.Errorf("got %g allocations, want 0", n)
		}
	}
}
