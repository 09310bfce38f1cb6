package dsp_test

import (
	"errors"
	"io"
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// collect returns a Sink that fills the tracks of out.
func collect(out *dsp.Analysis) *dsp.Sink {
	return &dsp.Sink{
		Begin: func(a *dsp.Analysis) {
			n := len(a.F0)
			out.Level, out.Loudness, out.HNR = make([]float64, n), make([]float64, n), make([]float64, n)
			out.Spectrum, out.MFCC, out.Formants = make([]dsp.Spectrum, n), make([][dsp.NumMFCC]float64, n), make([]dsp.Formants, n)
		},
		Frame: func(i int, f *dsp.Frame) {
			out.Level[i], out.Loudness[i], out.Spectrum[i], out.MFCC[i] = f.Level, f.Loudness, f.Spectrum, f.MFCC
		},
		HNR:      func(i int, db float64) { out.HNR[i] = db },
		Formants: func(i int, f *dsp.Formants) { out.Formants[i] = *f },
	}
}

// numbers lists the bits of all numbers of an analysis.
func numbers(a *dsp.Analysis) []uint64 {
	var v []uint64
	add := func(x ...float64) {
		for _, f := range x {
			v = append(v, math.Float64bits(f))
		}
	}
	add(a.Duration, a.CPPS, a.Quality.SNR, a.Quality.Clipped, a.Quality.Bandwidth)
	add(a.Jitter.Local, a.Jitter.PPQ5, a.Shimmer.Local, a.Shimmer.LocalDB, a.Shimmer.APQ11)
	add(a.F0...)
	add(a.Level...)
	add(a.Loudness...)
	add(a.HNR...)
	add(a.Pulses...)
	add(a.Syllables...)
	for i, s := range a.Spectrum {
		add(s.Centroid, s.Rolloff85, s.Flux, s.Flatness, s.Slope500, s.Slope1500, s.Alpha, s.Hammarberg)
		add(a.MFCC[i][:]...)
		add(a.Formants[i].F[:]...)
		add(a.Formants[i].B[:]...)
	}
	for _, s := range append(a.Speech, a.Pauses...) {
		add(s.Start, s.End)
	}
	return v
}

// A stream has the bits of the same samples in memory.
func TestStreamEqualsAnalyze(t *testing.T) {
	vowel := signals.Klatt(dsp.SampleRate, 110, signals.Vowels["a"], 9, 0.05) // longer than the longest stretch of pulses
	odd := append([]float64(nil), conversation(3)...)
	for i := 0; i < len(odd); i += 977 {
		odd[i] = []float64{math.NaN(), math.Inf(1), 100, -1e300}[i%4]
	}
	clipped := append([]float64(nil), conversation(3)...)
	for i, v := range clipped {
		clipped[i] = min(max(20*v, -0.5), 0.7) + 0.2
	}
	for name, x := range map[string][]float64{
		"conversation": conversation(12), "vowel": vowel, "odd samples": odd, "clipped, with an offset": clipped,
		"silence": make([]float64, 3*dsp.SampleRate), "one sample": {0.1}, "none": nil, "short": conversation(1)[:600],
	} {
		want := numbers(dsp.NewAnalyzer().Analyze(x))
		a := dsp.NewAnalyzer()
		for range 2 { // its scratch is used again
			var tracks dsp.Analysis
			out, err := a.Stream(dsp.NewSamples(x), nil, collect(&tracks))
			if err != nil {
				t.Fatal(err)
			}
			tracks.F0, tracks.IsSpeech, tracks.Pulses, tracks.Speech, tracks.Pauses, tracks.Syllables = out.F0, out.IsSpeech, out.Pulses, out.Speech, out.Pauses, out.Syllables
			tracks.Duration, tracks.CPPS, tracks.Jitter, tracks.Shimmer, tracks.Quality = out.Duration, out.CPPS, out.Jitter, out.Shimmer, out.Quality
			got := numbers(&tracks)
			if len(got) != len(want) {
				t.Fatalf("%s: got %d numbers, want %d", name, len(got), len(want))
			}
			differ := 0
			for i := range want {
				if got[i] != want[i] {
					differ++
				}
			}
			if differ > 0 {
				t.Errorf("%s: %d of %d numbers differ", name, differ, len(want))
			}
		}
	}
}

// TestStreamWants: the frames that a Sink wants have the bits of all frames, but for the
// flux after a gap, and the others have neither spectral measures nor a cepstrum.
func TestStreamWants(t *testing.T) {
	var all, some dsp.Analysis
	x := conversation(3)
	sink := collect(&some)
	sink.Wants = func(i int) bool { return i%10 < 5 }
	for out, s := range map[*dsp.Analysis]*dsp.Sink{&all: collect(&all), &some: sink} {
		if _, err := dsp.NewAnalyzer().Stream(dsp.NewSamples(x), nil, s); err != nil {
			t.Fatal(err)
		}
		if len(out.Level) != dsp.FrameCount(len(x)) {
			t.Fatalf("got %d frames, want %d", len(out.Level), dsp.FrameCount(len(x)))
		}
	}
	for i := range all.Level {
		got, want := some.Spectrum[i], all.Spectrum[i]
		if i%10 == 0 && i > 0 {
			got.Flux, want.Flux = 0, 0
		}
		if wanted := i%10 < 5; wanted && (got != want || some.MFCC[i] != all.MFCC[i]) {
			t.Errorf("frame %d: got %+v and %v, want %+v and %v", i, got, some.MFCC[i], want, all.MFCC[i])
		} else if !wanted && !(math.IsNaN(got.Centroid) && math.IsNaN(some.MFCC[i][0])) {
			t.Errorf("frame %d: got %+v and %v, want NaN", i, got, some.MFCC[i])
		}
		if some.Level[i] != all.Level[i] || some.Loudness[i] != all.Loudness[i] {
			t.Errorf("frame %d: got level %g and loudness %g, want %g and %g", i, some.Level[i], some.Loudness[i], all.Level[i], all.Loudness[i])
		}
	}
}

// failingAt fails in one of its passes: with an error, or by an early end.
type failingAt struct {
	dsp.Samples
	pass, passes int
	err          error
}

func (f *failingAt) Rewind() error {
	f.passes++
	return f.Samples.Rewind()
}

func (f *failingAt) Read(dst []float64) (int, error) {
	if f.passes == f.pass {
		return 0, f.err
	}
	return f.Samples.Read(dst)
}

func TestStreamReportsErrors(t *testing.T) {
	broken := errors.New("broken")
	x := conversation(2)
	for pass := 1; pass <= 4; pass++ {
		for _, c := range []struct{ err, want error }{{broken, broken}, {io.EOF, dsp.ErrChanged}} {
			if pass == 1 && c.err == io.EOF {
				continue // an empty signal
			}
			src := &failingAt{Samples: dsp.NewSamples(x), pass: pass, err: c.err}
			if _, err := dsp.NewAnalyzer().Stream(src, nil, collect(new(dsp.Analysis))); !errors.Is(err, c.want) {
				t.Errorf("pass %d: got %v, want %v", pass, err, c.want)
			}
		}
	}
}

// A stream has the bits of a conversion in memory, whatever the length.
func TestResamplerStreams(t *testing.T) {
	noise := signals.Noise(8000, 0.1, 7, 1)
	for _, rates := range [][2]int{{8000, 44100}, {16000, 44100}, {48000, 44100}, {96000, 44100}, {192000, 16000}, {44100, 16000}, {22050, 44100}, {11024, 44100}, {44100, 44100}} {
		r := dsp.NewResampler(rates[0], rates[1])
		for _, n := range []int{0, 1, 7, 100, 4096, 50001} {
			x := noise[:n]
			want := r.Resample(nil, x)
			src := r.Samples(dsp.NewSamples(x))
			for range 2 {
				if err := src.Rewind(); err != nil {
					t.Fatal(err)
				}
				var got []float64
				block := make([]float64, 1000)
				for {
					m, err := src.Read(block)
					got = append(got, block[:m]...)
					if err == io.EOF {
						break
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				if len(got) != len(want) {
					t.Fatalf("%d to %d Hz: got %d samples of %d, want %d", rates[0], rates[1], len(got), n, len(want))
				}
				for i, v := range want {
					if got[i] != v {
						t.Fatalf("%d to %d Hz: got %v at %d of %d, want %v", rates[0], rates[1], got[i], i, n, v)
					}
				}
			}
		}
	}
}
