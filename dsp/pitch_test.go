package dsp_test

import (
	"math"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// A f0Score compares tracks with the truth.
type f0Score struct {
	cents                 []float64 // absolute errors of the frames that are not gross
	voiced, missed, gross int       // frames truly voiced; of these unvoiced, of these off by more than 20 %
}

// score compares f0 with truth, of which skip frames at each end are left out.
func (s *f0Score) score(f0, truth []float64, skip int) {
	for i := skip; i < min(len(f0), len(truth))-skip; i++ {
		if truth[i] == 0 {
			continue
		}
		s.voiced++
		switch {
		case f0[i] == 0:
			s.missed++
		case math.Abs(f0[i]/truth[i]-1) > 0.2:
			s.gross++
		default:
			s.cents = append(s.cents, math.Abs(1200*math.Log2(f0[i]/truth[i])))
		}
	}
}

func (s *f0Score) median() float64 {
	slices.Sort(s.cents)
	if len(s.cents) == 0 {
		return math.NaN()
	}
	return s.cents[len(s.cents)/2]
}

// trajectoryFrames samples a trajectory at the frames.
func trajectoryFrames(f signals.Trajectory, dur float64) []float64 {
	v := make([]float64, int(dur/dsp.Hop+1e-9)+1)
	for i := range v {
		v[i] = f(float64(i) * dsp.Hop)
	}
	return v
}

// Goals of the median error in cents: a third of the least step in pitch that
// listeners notice, some 1.5 cent, with a constant or slowly moving F0; what
// the best program reaches with vibrato and in noise.
const (
	centsClean   = 0.5
	centsVibrato = 1.5
	centsNoise   = 2.4
	missedNoise  = 0.01 // share of the frames
	edgeFrames   = 3    // frames at each end that fade and are left out
)

func TestPitchOfKnownTrajectories(t *testing.T) {
	for _, c := range []struct {
		name string
		f    signals.Trajectory
		snr  float64 // dB; 0 for none is not needed: 300 is clean
		want float64
	}{
		{"constant 60", signals.Constant(60), 300, centsClean},
		{"constant 123.45", signals.Constant(123.45), 300, centsClean},
		{"constant 287.6", signals.Constant(287.6), 300, centsClean},
		{"constant 500", signals.Constant(500), 300, centsClean},
		{"constant 700", signals.Constant(700), 300, centsClean},
		{"glide up", signals.Glide(100, 200, 1.5), 300, centsClean},
		{"glide far", signals.Glide(70, 350, 1.5), 300, centsClean},
		{"glide down", signals.Glide(320, 140, 1.5), 300, centsClean},
		{"step", signals.Step(120, 180, 0.75), 300, centsClean},
		{"vibrato of a woman", signals.Vibrato(220, 50, 5.5), 300, centsVibrato},
		{"vibrato of a man", signals.Vibrato(130, 40, 6), 300, centsVibrato},
		{"low contour", signals.IntonationMale(), 300, centsClean},
		{"high contour", signals.IntonationFemale(), 300, centsClean},
		{"low contour at 0 dB", signals.IntonationMale(), 0, centsNoise},
		{"high contour at 0 dB", signals.IntonationFemale(), 0, centsNoise},
		{"another contour at 0 dB", signals.Intonation(160, 0.2, 2, 1.1, 1, 2), 0, centsNoise},
	} {
		t.Run(c.name, func(t *testing.T) {
			const dur = 1.5
			x := signals.Scale(signals.Harmonic(dsp.SampleRate, c.f, dur), 0.3)
			if c.snr < 300 {
				x = signals.AddNoise(x, c.snr, 3)
			}
			x = signals.Quantize(signals.Fade(x, dsp.SampleRate, 0.01), 1)
			f0 := dsp.NewPitch(dsp.SampleRate, nil).Track(nil, x)
			if want := int(dur/dsp.Hop) + 1; len(f0) != want {
				t.Fatalf("got %d frames, want %d", len(f0), want)
			}
			var s f0Score
			s.score(f0, trajectoryFrames(c.f, dur), edgeFrames)
			if m := s.median(); !(m <= c.want) {
				t.Errorf("median error: got %.3f cent, want at most %g", m, c.want)
			}
			if s.gross > 0 || float64(s.missed) > missedNoise*float64(s.voiced) {
				t.Errorf("of %d frames, got %d gross errors and %d missed", s.voiced, s.gross, s.missed)
			}
		})
	}
}

func TestPitchAvoidsOctaveErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		x    []float64
		want float64
	}{
		{"missing fundamental", signals.MissingFundamental(dsp.SampleRate, 150, 0.5), 150},
		{"missing fundamental, low", signals.MissingFundamental(dsp.SampleRate, 90, 0.5), 90},
		{"strong second partial", signals.StrongSecond(dsp.SampleRate, 120, 0.5), 120},
		{"weak subharmonic", signals.WeakSubharmonic(dsp.SampleRate, 200, 0.5), 200},
		{"vowel a", signals.Klatt(dsp.SampleRate, 400, signals.Vowels["a"], signals.FemaleScale, 0.5), 400},
		{"vowel i", signals.Klatt(dsp.SampleRate, 250, signals.Vowels["i"], signals.FemaleScale, 0.5), 250},
		{"clipped", signals.Clip(signals.Scale(signals.Harmonic(dsp.SampleRate, signals.Constant(110), 0.5), 2.5), 1), 110},
		{"faint", signals.Quantize(signals.Scale(signals.Harmonic(dsp.SampleRate, signals.Constant(110), 0.5), 0.001), 1), 110},
		{"tone", signals.Tone(dsp.SampleRate, 440, 0.5, 0.5), 440},
	} {
		f0 := dsp.NewPitch(dsp.SampleRate, nil).Track(nil, c.x)
		var s f0Score
		s.score(f0, trajectoryFrames(signals.Constant(c.want), 0.5), edgeFrames)
		if s.missed > 0 || s.gross > 0 || !(s.median() <= centsClean) {
			t.Errorf("%s: got %d missed, %d gross errors, median error %.3f cent", c.name, s.missed, s.gross, s.median())
		}
	}
}

func TestPitchOffset(t *testing.T) {
	x := signals.Scale(signals.Harmonic(dsp.SampleRate, signals.Constant(110), 0.5), 0.25)
	for i := range x {
		x[i] += 0.3
	}
	var s f0Score
	s.score(dsp.NewPitch(dsp.SampleRate, nil).Track(nil, x), trajectoryFrames(signals.Constant(110), 0.5), edgeFrames)
	if s.missed > 0 || !(s.median() <= centsClean) {
		t.Errorf("voice on a constant offset: got %d missed, median error %.3f cent", s.missed, s.median())
	}
}

func TestPitchAtOtherRates(t *testing.T) {
	for _, sr := range []float64{8000, 16000, 22050, 32000, 48000, 96000} {
		x := signals.Harmonic(sr, signals.Glide(110, 180, 0.6), 0.6)
		f0 := dsp.NewPitch(sr, nil).Track(nil, x)
		if len(f0) != 61 {
			t.Errorf("%g Hz: got %d frames, want 61", sr, len(f0))
		}
		var s f0Score
		s.score(f0, trajectoryFrames(signals.Glide(110, 180, 0.6), 0.6), edgeFrames)
		if s.missed > 0 || s.gross > 0 || !(s.median() <= centsClean) {
			t.Errorf("%g Hz: got %d missed, %d gross errors, median error %.3f cent", sr, s.missed, s.gross, s.median())
		}
	}
}

const (
	// voicingErrors is the largest share of wrong voicing decisions.
	voicingErrors = 0.005
	// undecided is the distance in seconds from a boundary within which a frame
	// counts for neither part: the parts fade over five times as long.
	undecided = 0.0025
)

func TestPitchVoicing(t *testing.T) {
	other := []signals.Part{
		{Kind: signals.Silence, Duration: 0.313}, {Kind: signals.Unvoiced, Duration: 0.134},
		{Kind: signals.Voiced, Duration: 0.427, F0: 95, F1: 130}, {Kind: signals.Unvoiced, Duration: 0.085},
		{Kind: signals.Voiced, Duration: 0.362, F0: 280, F1: 210}, {Kind: signals.Silence, Duration: 0.191},
		{Kind: signals.Voiced, Duration: 0.244, F0: 170, F1: 160}, {Kind: signals.Silence, Duration: 0.2},
	}
	for i, parts := range [][]signals.Part{signals.VoicedUnvoiced, other} {
		for seed := range uint64(2) {
			x := signals.Quantize(signals.Sequence(dsp.SampleRate, parts, seed), seed)
			f0 := dsp.NewPitch(dsp.SampleRate, nil).Track(nil, x)
			wrong := 0
			for j, f := range f0 {
				at := float64(j) * dsp.Hop
				d := signals.ToEdge(parts, at)
				if (f > 0) != (signals.SequenceF0(parts, at) > 0) && (d < 1e-6 || d > undecided) {
					t.Logf("sequence %d, seed %d: %.2f s: got %g Hz", i, seed, at, f)
					wrong++
				}
			}
			if float64(wrong) > voicingErrors*float64(len(f0)) {
				t.Errorf("sequence %d, seed %d: got %d wrong decisions in %d frames", i, seed, wrong, len(f0))
			}
		}
	}
}

func TestPitchOfNoVoice(t *testing.T) {
	constant := make([]float64, dsp.SampleRate/2)
	for i := range constant {
		constant[i] = 0.5
	}
	broken := signals.Harmonic(dsp.SampleRate, signals.Constant(110), 0.3)
	for i := range broken {
		broken[i] = math.NaN()
	}
	for name, x := range map[string][]float64{
		"empty":         nil,
		"one sample":    {0.5},
		"silence":       make([]float64, dsp.SampleRate/2),
		"constant":      constant,
		"faint dither":  signals.Quantize(signals.Noise(dsp.SampleRate, 1e-9, 0.5, 1), 1),
		"white noise":   signals.Noise(dsp.SampleRate, 0.1, 1, 4),
		"not a number":  broken,
		"2 ms of voice": signals.Harmonic(dsp.SampleRate, signals.Constant(220), 0.002),
	} {
		f0 := dsp.NewPitch(dsp.SampleRate, nil).Track(nil, x)
		if len(f0) != dsp.FrameCount(len(x)) {
			t.Errorf("%s: got %d frames, want %d", name, len(f0), dsp.FrameCount(len(x)))
		}
		for i, f := range f0 {
			if f != 0 {
				t.Errorf("%s: frame %d: got %g Hz, want unvoiced", name, i, f)
			}
		}
	}
}

func TestPitchOf30ms(t *testing.T) {
	x := signals.Fade(signals.Tone(dsp.SampleRate, 220, 0.5, 0.03), dsp.SampleRate, 0.003)
	f0 := dsp.NewPitch(dsp.SampleRate, nil).Track(nil, x)
	const short = 10 // cent: half a window, without its fade, of six periods
	if c := 1200 * math.Abs(math.Log2(f0[1]/220)); !(c < short) || len(f0) != 4 {
		t.Errorf("got %v, want 220 Hz in the middle", f0)
	}
}

func TestPitchScratchIsReused(t *testing.T) {
	long := signals.Sequence(dsp.SampleRate, signals.VoicedUnvoiced, 1)
	short := signals.Harmonic(dsp.SampleRate, signals.Constant(90), 0.3)
	want := dsp.NewPitch(dsp.SampleRate, nil).Track(nil, short)
	p := dsp.NewPitch(dsp.SampleRate, nil)
	f0 := p.Track(nil, long)
	f0 = p.Track(f0, short)
	if !slices.Equal(f0, want) {
		t.Errorf("after another recording: got %v, want %v", f0, want)
	}
	if !cost.Race {
		f0 = p.Track(f0, long)
		if n := cost.Allocations(3, func() { f0 = p.Track(f0, long) }); n > 0 {
			t.Errorf("got %g allocations, want 0", n)
		}
	}
}

func TestNewPitchPanics(t *testing.T) {
	for _, c := range []struct {
		sr   float64
		opts *dsp.PitchOptions
	}{{0, nil}, {math.NaN(), nil}, {math.Inf(1), nil}, {3000, nil}, {44100, &dsp.PitchOptions{Floor: 300, Ceiling: 200}}, {44100, &dsp.PitchOptions{Floor: -1}}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("NewPitch(%g, %+v): got no panic", c.sr, c.opts)
				}
			}()
			dsp.NewPitch(c.sr, c.opts)
		}()
	}
}

// thump adds a knock against the microphone at the time at, in seconds: noise
// below 100 Hz under a bump of width seconds, with the given peak.
func thump(x []float64, at, width, peak float64, seed uint64) {
	n := int(3 * width * dsp.SampleRate)
	w := signals.Noise(dsp.SampleRate, 1, 3*width, seed)
	pole := math.Exp(-2 * math.Pi * 100 / dsp.SampleRate)
	for range 2 {
		var y float64
		for i, v := range w {
			y = pole*y + (1-pole)*v
			w[i] = y
		}
	}
	for i := range w {
		t := (float64(i) - float64(n)/2) / (width * dsp.SampleRate)
		w[i] *= math.Exp(-4 * t * t)
	}
	w = signals.Normalize(w, peak)
	start := int(at*dsp.SampleRate) - n/2
	for i, v := range w {
		if k := start + i; k >= 0 && k < len(x) {
			x[k] += v
		}
	}
}

// A knock against the microphone or wind on it, much louder below 300 Hz than
// the voice, does not make the voice silent, nor is it a voice.
func TestPitchBesideThump(t *testing.T) {
	const f0 = 180
	amp := make([]float64, 15) // strongest where the first formants are
	for k := 1; k < len(amp); k++ {
		f := float64(k) * f0
		amp[k] = 0.1 + math.Exp(-math.Pow((f-700)/350, 2))
	}
	voice := signals.Fade(signals.Scale(signals.Partials(dsp.SampleRate, f0, amp, 0.6), 0.1), dsp.SampleRate, 0.02)
	for _, c := range []struct {
		name string
		peak float64
	}{{"none", 0}, {"as loud as the voice", 0.1}, {"loud", 0.5}, {"overloading", 0.95}} {
		t.Run(c.name, func(t *testing.T) {
			x := signals.Noise(dsp.SampleRate, 1e-4, 2.5, 4)
			for i, v := range voice {
				x[i+dsp.SampleRate] += v // from 1.0 to 1.6 s
			}
			if c.peak > 0 {
				thump(x, 0.4, 0.12, c.peak, 8)
				thump(x, 2.1, 0.06, c.peak, 9)
			}
			var hits, wrong int
			for i, f := range dsp.NewPitch(dsp.SampleRate, nil).Track(nil, x) {
				at := float64(i) * dsp.Hop
				switch voiced := at > 1.02 && at < 1.58; {
				case voiced && f > 0 && math.Abs(f/f0-1) < 0.01:
					hits++
				case voiced || (f > 0 && (at < 0.97 || at > 1.63)):
					wrong++
				}
			}
			if hits < 55 || wrong > 0 {
				t.Errorf("got %d frames of the voice and %d wrong ones, want 55 and 0", hits, wrong)
			}
		})
	}
}
