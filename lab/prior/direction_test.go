package prior

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/dsp/wav"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/proof/shared"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// TestManipulatedSpeechMovesTheScore slows recordings down, flattens their
// pitch and their loudness and makes them quieter, and looks at each feature on
// its own: the manipulation moves it as it should, and it alone then moves the
// depression score as the evidence says, up, in each way of speaking. Where the way is not
// given, longer pauses make free speech more probable too, and the two may cancel.
func TestManipulatedSpeechMovesTheScore(t *testing.T) {
	f := priorFile(t, Depression())
	b, err := models.NewBayes(f)
	if err != nil {
		t.Fatal(err)
	}
	analyzer := dsp.NewAnalyzer()
	score := func(v features.Vector, s screen.Speech) float64 {
		in := &features.Recording{Features: v, FixedGain: true, Speech: s, Metadata: screen.Metadata{Gender: screen.Male}}
		return b.ScoreRow(b.Row(in), v).Probability
	}
	moved := map[string]int{}
	list := recordings(t)
	if dir, ok := shared.Find(t, "reference/recorded"); ok {
		for _, name := range []string{"jfk_44100_mono.wav", "arctic_a0007_16k.wav", "arctic_bdl_0011_32k.wav"} {
			list = append(list, filepath.Join(dir, name))
		}
	}
	for _, path := range list {
		name := filepath.Base(path)
		x := speechOf(t, path)
		a := analyzer.Analyze(x)
		was := features.Extract(a)
		flat := flatPitch(x, a.F0, a.Pulses)
		for _, c := range []struct {
			what     string
			x        []float64
			features map[string]float64 // with the sign of the change
		}{
			{"slowed", stretched(x, 1.5), map[string]float64{"speech.rate_syl_s": -1, "articulation.rate_syl_s": -1, "pause.mean_s": 1, "pause.sd_s": 1, "loudness.peak_gap_sd_s": 1}},
			{"flat pitch", flat, map[string]float64{"f0.sd_st": -1, "f0.range_st": -1}},
			{"flat loudness", flatLoudness(x), map[string]float64{"level.sd_db": -1, "level.range_db": -1}},
			{"quieter", scaled(x, 0.25), map[string]float64{"level.mean_dbfs": -1}},
		} {
			now := features.Extract(analyzer.Analyze(c.x))
			for feature, sign := range c.features {
				before, after := was.Get(feature), now.Get(feature)
				if math.IsNaN(before) || math.IsNaN(after) {
					continue // a sentence without a pause
				}
				if !((after-before)*sign > 0) {
					t.Errorf("%s, %s: %s went from %.4g to %.4g", name, c.what, feature, before, after)
					continue
				}
				alone := features.Vector{Schema: was.Schema, Values: append([]float64(nil), was.Values...)}
				alone.Values[was.Schema.Index(feature)] = after
				for _, s := range screen.Speeches() {
					if p, q := score(was, s), score(alone, s); effect(t, feature) != 0 && !beyond(f, feature, s, was) && !(q > p) {
						t.Errorf("%s, %s, %v: %s from %.4g to %.4g alone moves the score from %.4f to %.4f, want up", name, c.what, s, feature, before, after, p, q)
					}
				}
				moved[feature]++
			}
		}
	}
	for _, feature := range []string{"speech.rate_syl_s", "articulation.rate_syl_s", "pause.mean_s", "pause.sd_s", "loudness.peak_gap_sd_s", "f0.sd_st", "f0.range_st", "level.sd_db", "level.range_db", "level.mean_dbfs"} {
		if moved[feature] == 0 {
			t.Errorf("%s was measured in no recording", feature)
		}
	}
	t.Logf("recordings in which each feature moved: %v", moved)
}

// beyond reports whether a feature of a man is so far from its norm that only the clip
// counts.
func beyond(f *models.BayesFile, feature string, s screen.Speech, v features.Vector) bool {
	for i := range f.Features {
		if x := &f.Features[i]; x.Name == feature {
			of := x.Norms.Of(s).Male
			return math.Abs(x.Value(v)-of.Center) > f.Clip*of.Scale
		}
	}
	return false
}

// effect returns the effect of a feature on depression.
func effect(t *testing.T, feature string) float64 {
	t.Helper()
	for _, e := range Depression().Current() {
		if e.Feature == feature {
			return e.D
		}
	}
	t.Fatalf("no effect of %s", feature)
	return 0
}

// recordings are those of the repository.
func recordings(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob("../../testdata/*.wav")
	if err != nil || len(list) < 5 {
		t.Fatalf("got recordings %v and error %v, want five or more", list, err)
	}
	return list
}

// speechOf reads a recording at dsp.SampleRate.
func speechOf(t *testing.T, path string) []float64 {
	t.Helper()
	r, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	a, err := wav.Decode(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.SampleRate == dsp.SampleRate {
		return a.Samples
	}
	return dsp.NewResampler(a.SampleRate, dsp.SampleRate).Resample(nil, a.Samples)
}

func scaled(x []float64, gain float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = gain * v
	}
	return y
}

// stretched makes x longer by a factor at the same pitch: overlap-add of frames
// of 40 ms that are shifted by up to 8 ms to where they fit best (WSOLA;
// Verhelst and Roelands 1993).
func stretched(x []float64, factor float64) []float64 {
	const n, hop, reach = dsp.SampleRate / 25, dsp.SampleRate / 50, dsp.SampleRate / 125
	y := make([]float64, int(float64(len(x))*factor)+n)
	last := 0 // where the frame before would go on
	for out := 0; out+n <= len(y); out += hop {
		ideal := int(float64(out) / factor)
		best, at := math.Inf(-1), -1
		for from := max(ideal-reach, 0); from <= ideal+reach && from+n <= len(x); from += 4 {
			if out == 0 || last+n > len(x) {
				at = from
				break
			}
			var fit float64
			for i := 0; i < n; i += 8 {
				fit += x[from+i] * x[last+i]
			}
			if fit > best {
				best, at = fit, from
			}
		}
		if at < 0 {
			break
		}
		for i := range n {
			y[out+i] += x[at+i] * (0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/n))
		}
		last = at + hop
	}
	return y
}

// flatPitch draws the pitch of x to a fifth of its way from its mean: grains of
// two periods round the pulses, put down again at the flatter rate (TD-PSOLA;
// Moulines and Charpentier 1990). What is not voiced stays.
func flatPitch(x, f0, pulses []float64) []float64 {
	var mean, n float64
	for _, f := range f0 {
		if f > 0 {
			mean, n = mean+math.Log(f), n+1
		}
	}
	mean /= n
	const sr, longest = dsp.SampleRate, 0.02 // a pause between pulses ends a stretch
	y := append([]float64(nil), x...)
	for i := 0; i < len(pulses); {
		j := i + 1
		for j < len(pulses) && pulses[j]-pulses[j-1] < longest {
			j++
		}
		part := pulses[i:j]
		i = j
		if len(part) < 4 {
			continue
		}
		for k := int(part[0] * sr); k < int(part[len(part)-1]*sr); k++ {
			y[k] = 0
		}
		k := 0
		for at := part[0]; at < part[len(part)-1]; {
			for k+1 < len(part)-1 && math.Abs(part[k+1]-at) < math.Abs(part[k]-at) {
				k++
			}
			period := part[k+1] - part[k]
			flat := math.Exp(-(mean + 0.2*(math.Log(1/period)-mean)))
			half := int(period * sr)
			from, to := int(part[k]*sr), int(at*sr)
			for d := -half; d <= half; d++ {
				if from+d >= 0 && from+d < len(x) && to+d >= int(part[0]*sr) && to+d < int(part[len(part)-1]*sr) {
					y[to+d] += x[from+d] * (0.5 + 0.5*math.Cos(math.Pi*float64(d)/float64(half))) * flat / period
				}
			}
			at += flat
		}
	}
	return y
}

// flatLoudness halves the differences of the level, in dB, of what is louder than a
// hundredth of the loudest.
func flatLoudness(x []float64) []float64 {
	const smooth = dsp.SampleRate / 20
	level := make([]float64, len(x))
	var sum, top float64
	for i := range x {
		sum += x[i] * x[i]
		if i >= smooth {
			sum -= x[i-smooth] * x[i-smooth]
		}
		level[max(i-smooth/2, 0)] = math.Sqrt(max(sum, 0) / smooth)
		top = max(top, level[max(i-smooth/2, 0)])
	}
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = v * math.Pow(max(level[i], top/100)/top, -0.5)
	}
	return scaled(y, 0.5)
}
