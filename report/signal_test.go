package report

import (
	"math"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// TestSpectrogramOfATone checks the frequency and the time at which the picture is
// darkest, for a tone in the second half of a recording.
func TestSpectrogramOfATone(t *testing.T) {
	for _, rate := range []int{8000, 16000, 44100} {
		x := make([]float64, 2*rate)
		for n := rate; n < len(x); n++ {
			x[n] = 0.3 * math.Sin(2*math.Pi*1500*float64(n)/float64(rate))
		}
		img := spectrogram(x, rate)
		const tone = rows - 1 - int(1500*rows/topFrequency)
		at := columns * 3 / 4
		darkest := 0
		for y := range rows {
			if img.GrayAt(at, y).Y < img.GrayAt(at, darkest).Y {
				darkest = y
			}
			if far := y < tone-12 || y > tone+12; far && img.GrayAt(at, y).Y < 200 { // a Hann window is 60 dB lower there
				t.Errorf("%d Hz: row %d is far from the tone in row %d: got brightness %d", rate, y, tone, img.GrayAt(at, y).Y)
			}
			if got := img.GrayAt(columns/4, y).Y; got != 255 {
				t.Fatalf("%d Hz: silence has brightness %d in row %d", rate, got, y)
			}
		}
		if darkest < tone-1 || darkest > tone+1 {
			t.Errorf("%d Hz: got the darkest row %d, want the tone in row %d", rate, darkest, tone)
		}
	}
}

// TestWaveAndPitch checks the extremes of the columns and the pitch of a recording
// that is shorter than the picture is wide, in frames, and of a longer one.
func TestWaveAndPitch(t *testing.T) {
	for _, seconds := range []int{1, 20} {
		x := make([]float64, seconds*dsp.SampleRate)
		for n := range x {
			for k := 1.0; k <= 10; k++ {
				x[n] += 0.05 * math.Sin(2*math.Pi*150*k*float64(n)/dsp.SampleRate)
			}
		}
		s := NewSignal(&features.Channel{Samples: x, Rate: dsp.SampleRate})
		voiced := 0
		for c := columns / 10; c < columns*9/10; c++ {
			if math.Abs(s.pitch[c]-150) < 1 {
				voiced++
			}
			if s.low[c] > s.high[c] {
				t.Fatalf("%d s: column %d: got lowest %v and highest %v", seconds, c, s.low[c], s.high[c])
			}
		}
		if voiced < columns*7/10 {
			t.Errorf("%d s: got 150 Hz in %d columns of %d", seconds, voiced, columns*8/10)
		}
	}
}

// TestIrregularVoice compares speakers whose share of irregular voice is known, clean and in
// noise, where it is not measured.
func TestIrregularVoice(t *testing.T) {
	for _, seed := range []uint64{240, 243} {
		v := signals.NewSpeaker(seed).Speak(dsp.SampleRate, 6)
		want := dsp.IrregularShare(v.F0, v.Irregular)
		s := NewSignal(&features.Channel{Samples: v.X, Rate: dsp.SampleRate})
		if !(math.Abs(s.irregular-want) < 0.06) {
			t.Errorf("speaker %d: got a share of %.3f, want %.3f", seed, s.irregular, want)
		}
		if text := s.describe(); !strings.Contains(text, "of the voice is irregular") {
			t.Errorf("speaker %d: got %q", seed, text)
		}
		noisy := NewSignal(&features.Channel{Samples: signals.AddNoise(v.X, 0, seed), Rate: dsp.SampleRate})
		if text := noisy.describe(); strings.Contains(text, "irregular") {
			t.Errorf("speaker %d in noise: got %q", seed, text)
		}
	}
}

// TestPartsCoverEverything checks that the columns leave out no point.
func TestPartsCoverEverything(t *testing.T) {
	for _, n := range []int{1, 5, columns - 1, columns, columns + 1, 10*columns + 7} {
		seen := 0
		for c := range columns {
			from, to := part(c, n)
			if from > seen || to <= from || to > n {
				t.Fatalf("%d points: column %d has %d to %d, seen %d", n, c, from, to, seen)
			}
			seen = max(seen, to)
		}
		if seen != n {
			t.Errorf("%d points: got %d of them", n, seen)
		}
	}
}
