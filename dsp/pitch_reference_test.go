package dsp

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/dsp/internal/signals"
)

// A f0Score compares a track with the truth.
type f0Score struct {
	cents                        []float64 // absolute errors of the frames that are no gross errors
	bias                         float64   // mean signed error in cents of the same
	voiced, missed, gross, extra int       // frames: truly voiced, found unvoiced, off by more than 20 %, falsely voiced
	unvoiced                     int
}

// score compares f0 with truth, of which skip frames at each end are left out.
func (s *f0Score) score(f0, truth []float64, skip int) {
	for i := skip; i < min(len(f0), len(truth))-skip; i++ {
		switch {
		case truth[i] == 0:
			s.unvoiced++
			if f0[i] > 0 {
				s.extra++
			}
		default:
			s.voiced++
			if f0[i] == 0 {
				s.missed++
			} else if math.Abs(f0[i]/truth[i]-1) > 0.2 {
				s.gross++
			} else {
				c := 1200 * math.Log2(f0[i]/truth[i])
				s.bias += c
				s.cents = append(s.cents, math.Abs(c))
			}
		}
	}
}

func (s *f0Score) median() float64 { return median(s.cents) }

func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	v = slices.Clone(v)
	slices.Sort(v)
	return v[len(v)/2]
}

func (s *f0Score) log(t *testing.T, name string) {
	t.Logf("%-32s median %.3f cent bias %+.3f, %d voiced: missed %.2f %% gross %.2f %%, %d unvoiced: extra %.2f %%", name, s.median(),
		s.bias/float64(max(1, len(s.cents))), s.voiced, pct(s.missed, s.voiced), pct(s.gross, s.voiced-s.missed), s.unvoiced, pct(s.extra, s.unvoiced))
}

func pct(a, b int) float64 { return 100 * float64(a) / float64(max(b, 1)) }

func TestPitchReferenceSynthetic(t *testing.T) {
	truth := syntheticTruth(t)
	var names []string
	for k, v := range truth {
		if strings.HasPrefix(v.Kind, "harmonic") || v.Kind == "klatt" || v.Kind == "clipped" || v.Kind == "dc" || v.Kind == "quiet" || (v.Kind == "tone" && v.F0 < 800) {
			names = append(names, k)
		}
	}
	slices.Sort(names)
	for _, k := range names {
		x, sr := referenceWAV(t, "synthetic", k+".wav")
		f0 := NewPitch(sr, nil).Track(nil, x)
		want := truth[k].Frames
		if want == nil {
			want = make([]float64, len(f0))
			for i := range want {
				want[i] = truth[k].F0
			}
		}
		var s f0Score
		s.score(f0, want, 3)
		s.log(t, k)
	}
}

func TestPitchReferenceResynthesised(t *testing.T) {
	var truth map[string]struct {
		FS float64   `json:"fs"`
		DT float64   `json:"dt"`
		F0 []float64 `json:"f0"`
	}
	readJSON(t, referenceFile(t, "resynthesised", "truth.json"), &truth)
	for _, snr := range []float64{300, 20, 10, 5, 0} {
		var all f0Score
		for k, v := range truth {
			x, sr := referenceWAV(t, "resynthesised", k+".wav")
			if snr < 100 {
				x = signals.AddNoise(x, snr, 1)
			}
			f0 := NewPitch(sr, nil).Track(nil, x)
			var want []float64
			for i := 0; i < len(v.F0); i += 2 {
				want = append(want, v.F0[i])
			}
			var s f0Score
			s.score(f0, want, 0)
			s.log(t, k)
			all.score(f0, want, 0)
		}
		all.log(t, "all")
	}
}

func TestPitchReferenceVoicing(t *testing.T) {
	x, sr := referenceWAV(t, "synthetic", "vuv_sequence.wav")
	f0 := NewPitch(sr, nil).Track(nil, x)
	bad := 0
	for i, f := range f0 {
		tt := float64(i) * Hop
		if (f > 0) != (signals.SequenceF0(signals.VoicedUnvoiced, tt) > 0) {
			t.Logf("t=%.2f: got %.2f, edge %.4f", tt, f, signals.ToEdge(signals.VoicedUnvoiced, tt))
			bad++
		}
	}
	t.Logf("%d of %d", bad, len(f0))
}
