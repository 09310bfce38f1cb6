package ssl

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models/internal/nn/seeded"
	"github.com/voicescreen/voicescreen/screen"
)

// goldenSamples is the length of the clip of testdata/logits.json.
const goldenSamples = 40000

// logitTolerance is that of the equivalence with PyTorch in float32, from the issue that
// asked for the network.
const logitTolerance = 1e-4

// converted writes a model as a converted one and opens it.
func converted(t testing.TB, m *Model) *Model {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	out, err := Open(write(t, filepath.Join(t.TempDir(), "m.model"), b.Bytes()), &Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// collecting is a writer that has the garbage collected before each write.
type collecting struct{ bytes.Buffer }

func (c *collecting) Write(b []byte) (int, error) {
	runtime.GC()
	return c.Buffer.Write(b)
}

// TestWriteKeepsTheFile writes a model whose weights are mapped from a file, and which
// nothing else refers to.
func TestWriteKeepsTheFile(t *testing.T) {
	var first bytes.Buffer
	if err := open1(t, "wav2vec2").Write(&first); err != nil {
		t.Fatal(err)
	}
	path := write(t, filepath.Join(t.TempDir(), "m.model"), first.Bytes())
	m, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	var again collecting
	if err := m.Write(&again); err != nil || !bytes.Equal(again.Bytes(), first.Bytes()) {
		t.Errorf("got %d bytes (%v), want the %d of the file", again.Len(), err, first.Len())
	}
}

func open1(t testing.TB, kind string) *Model {
	t.Helper()
	k := kinds(t)[kind]
	m, err := Open(k.path, &k.opts)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestLogitIsThatOfPyTorch compares models of each kind, as they are published and
// converted, with what testdata/make.py computed.
func TestLogitIsThatOfPyTorch(t *testing.T) {
	data, err := os.ReadFile("testdata/logits.json")
	if err != nil {
		t.Fatal(err)
	}
	var logits map[string][]float64
	if err := json.Unmarshal(data, &logits); err != nil {
		t.Fatal(err)
	}
	two := func(kind string, synthetic int) float64 { return logits[kind][synthetic] - logits[kind][1-synthetic] }
	want := map[string]struct {
		logit                 float64
		name, licence, source string
	}{
		"fairseq-group": {two("fairseq-group", 0), "mms_300m", antiDeepfakeLicence, antiDeepfakeSource},
		"fairseq-layer": {two("fairseq-layer", 0), "mms_300m", antiDeepfakeLicence, antiDeepfakeSource},
		"wav2vec2":      {two("wav2vec2", 1), "detector", "apache-2.0", "someone/base"},
		"hubert":        {math.Log(math.Exp(logits["hubert"][1])+math.Exp(logits["hubert"][2])) - logits["hubert"][0], "detector", "", "someone/base"},
		"tiny.ckpt":     {two("tiny.ckpt", 0), "tiny", antiDeepfakeLicence, antiDeepfakeSource}, // these files are Python's
		"detector":      {two("detector", 1), "detector", "mit", ""},
	}
	for kind, k := range kinds(t) {
		if is, err := Is(k.path); !is || err != nil {
			t.Errorf("%s: Is: got %v, %v", kind, is, err)
		}
		m, err := Open(k.path, &k.opts)
		if err != nil {
			t.Fatal(err)
		}
		w, ok := want[kind]
		if !ok {
			t.Fatalf("%s: nothing to compare with", kind)
		}
		mapped := converted(t, m)
		for _, m := range []*Model{m, mapped} {
			got, err := m.Logit(t.Context(), seeded.Samples(goldenSamples))
			if err != nil || math.Abs(got-w.logit) > logitTolerance {
				t.Errorf("%s: got %v, %v, want %v", kind, got, err, w.logit)
			}
			i := m.Info()
			if i.Name != w.name || i.Licence != w.licence || i.Source != w.source || i.NonCommercial != (w.licence == antiDeepfakeLicence) ||
				len(i.SHA256) != 64 || i.Version != i.SHA256[:12] || i.Calibrated || !i.Streams {
				t.Errorf("%s: got %+v", kind, i)
			}
		}
		if a, b := m.Info(), mapped.Info(); a.SHA256 != b.SHA256 {
			t.Errorf("%s: got the checksum %s from the conversion, want %s of the published file", kind, b.SHA256, a.SHA256)
		}
	}
}

// TestInt8 opens a model of each kind in integers of eight bits: its score is near that of
// float32, its version names them, and its converted form gives the same bits.
func TestInt8(t *testing.T) {
	const tolerance = 0.01 // of the score, from the issue that asked for integers
	x := seeded.Samples(goldenSamples)
	for kind, k := range kinds(t) {
		float := open1(t, kind)
		want, err := float.Logit(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		k.opts.Int8 = true
		m, err := Open(k.path, &k.opts)
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Logit(t.Context(), x)
		d := math.Abs(dsp.Logistic(got) - dsp.Logistic(want))
		t.Logf("%s: the score moved by %.1e", kind, d)
		if err != nil || !(d <= tolerance) || got == want {
			t.Errorf("%s: got %v, %v, want %v", kind, got, err, want)
		}
		mapped := converted(t, m)
		if again, err := mapped.Logit(t.Context(), x); err != nil || again != got {
			t.Errorf("%s: got %v, %v from the conversion, want %v", kind, again, err, got)
		}
		calibrated, err := mapped.Recalibrated(Calibration{A: 2, Prior: 0.5, On: "clips"})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*Model{m, mapped, calibrated} {
			if i := m.Info(); !m.Int8() || !strings.HasPrefix(i.Version, float.Info().Version+"-int8") || i.SHA256 != float.Info().SHA256 {
				t.Errorf("%s: got %+v", kind, i)
			}
		}
		if s := scoreOf(t, mapped, voice(3, dsp.Segment{Start: 0, End: 3})); s.Version != m.Info().Version {
			t.Errorf("%s: got the version %s in a score, want %s", kind, s.Version, m.Info().Version)
		}
	}
}

// voice is a recording of noise at 16 kHz in which these stretches, in seconds, are
// speech.
func voice(seconds float64, speech ...dsp.Segment) *features.Recording {
	x := seeded.Samples(int(seconds * sampleRate))
	in := &features.Recording{NativeRate: sampleRate, Native: make([]float64, len(x)), Analysis: &dsp.Analysis{Speech: speech}}
	in.Analysis.Quality.SNR, in.Analysis.Quality.Bandwidth = 40, 8000
	for i, v := range x {
		in.Native[i] = float64(v)
	}
	return in
}

// score returns the score of a recording.
func scoreOf(t *testing.T, m *Model, in *features.Recording) screen.Score {
	t.Helper()
	all, err := m.Score(t.Context(), in)
	if err != nil || len(all) != 1 {
		t.Fatalf("got %v, %v", all, err)
	}
	return all[0]
}

// TestScoreIsTheMeanOfWindows scores a recording of several windows: each segment has
// the score of its window as a clip of its own, and the recording their mean.
func TestScoreIsTheMeanOfWindows(t *testing.T) {
	m := open1(t, "wav2vec2")
	in := voice(31, dsp.Segment{Start: 0, End: 31})
	s := scoreOf(t, m, in)
	w := windows(31 * sampleRate)
	if len(w) != 3 || len(s.Segments) != 3 || len(s.Contributions) != 3 {
		t.Fatalf("got windows %v, segments %v and contributions %v, want 3 of each", w, s.Segments, s.Contributions)
	}
	x, sum := seeded.Samples(31*sampleRate), 0.0
	for k, at := range w {
		y, err := m.Logit(t.Context(), x[at[0]:at[1]])
		if err != nil {
			t.Fatal(err)
		}
		sum += y / 3
		if got, want := s.Segments[k].Probability, dsp.Logistic(y); got != want {
			t.Errorf("window %d: got %v, want %v", k, got, want)
		}
	}
	logits := 0.0
	for _, c := range s.Contributions {
		logits += c.Logits
		if c.Logits != c.Value/3 || !strings.HasPrefix(c.Feature, "time.") {
			t.Errorf("got the contribution %+v, want a third of its value", c)
		}
	}
	const rounding = 1e-12
	if math.Abs(s.Probability-dsp.Logistic(sum)) > rounding || math.Abs(logits-sum) > rounding {
		t.Errorf("got the probability %v and contributions of %v, want the logit %v", s.Probability, logits, sum)
	}
	if s.Segments[0].Start != 0 || s.Segments[2].End != 31 || s.Segments[0].End != s.Segments[1].Start || s.Coverage != 1 || s.Decision == 0 || !math.IsNaN(s.Low) || len(s.Cautions) != 0 {
		t.Errorf("got %+v", s)
	}
}

// TestSourcesGiveTheSameScore reads a recording from memory and in blocks, several at
// the same time: the bits of the score stay the same.
func TestSourcesGiveTheSameScore(t *testing.T) {
	m := converted(t, open1(t, "fairseq-group"))
	in := voice(14.3, dsp.Segment{Start: 1, End: 14})
	want := scoreOf(t, m, in)
	for _, rate := range []int{sampleRate, 44100} {
		in := voice(14.3, dsp.Segment{Start: 1, End: 14})
		in.NativeRate = rate
		whole := scoreOf(t, m, in)
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() {
				src, err := features.NewSource(&features.Channel{Rate: rate, Samples: in.Native}, time.Minute)
				if err != nil {
					t.Error(err)
					return
				}
				all, err := m.Score(t.Context(), &features.Recording{Source: src, NativeRate: rate, Analysis: in.Analysis})
				if err != nil || all[0].Probability != whole.Probability || len(all[0].Segments) != len(whole.Segments) {
					t.Errorf("%d Hz: got %+v, %v, want %+v", rate, all, err, whole)
				}
			})
		}
		group.Wait()
		if rate == sampleRate && whole.Probability != want.Probability {
			t.Errorf("got %v and %v from one recording", whole.Probability, want.Probability)
		}
	}
}

// TestLittleSpeech scores windows without speech, and recordings that are too short.
func TestLittleSpeech(t *testing.T) {
	m := open1(t, "fairseq-layer")
	quiet := scoreOf(t, m, voice(31, dsp.Segment{Start: 14, End: 17}))
	var known []int
	for k, s := range quiet.Segments {
		if !math.IsNaN(s.Probability) {
			known = append(known, k)
		}
	}
	if !slices.Equal(known, []int{1}) || len(quiet.Contributions) != 1 || quiet.Probability != quiet.Segments[1].Probability || quiet.Coverage != 1 || quiet.Doubtful() {
		t.Errorf("speech in the second of three windows: got %+v", quiet)
	}
	for name, c := range map[string]struct {
		in       *features.Recording
		segments int
		coverage float64
	}{
		"nothing":              {&features.Recording{Analysis: &dsp.Analysis{}}, 1, 0},
		"nothing at all":       {&features.Recording{}, 1, 0},
		"a sample":             {voice(1.0/sampleRate, dsp.Segment{Start: 0, End: 1.0 / sampleRate}), 1, 0.5 / sampleRate},
		"a second":             {voice(1, dsp.Segment{Start: 0, End: 1}), 1, 0.5},
		"a word in a pause":    {voice(31, dsp.Segment{Start: 12, End: 12.5}), 3, 0.25},
		"a word in each":       {voice(31, dsp.Segment{Start: 1, End: 2.5}, dsp.Segment{Start: 29, End: 30.5}), 3, 1},
		"speech past the end":  {voice(3, dsp.Segment{Start: 2, End: 9}), 1, 0.5},
		"samples of 44.1 kHz":  {&features.Recording{Samples: make([]float64, 44100), Analysis: &dsp.Analysis{}}, 1, 0},
		"an unusable low rate": {&features.Recording{Native: make([]float64, 10), NativeRate: 10, Samples: make([]float64, 44100)}, 1, 0.5},
	} {
		s := scoreOf(t, m, c.in)
		if len(s.Segments) != c.segments || math.Abs(s.Coverage-c.coverage) > 1e-6 || !slices.Contains(s.Cautions, screen.LittleSpeech) || s.Decision != screen.Indeterminate ||
			!(s.Probability > 0 && s.Probability < 1) || len(s.Contributions) != c.segments {
			t.Errorf("%s: got %+v", name, s)
		}
	}
	in := voice(3, dsp.Segment{Start: 0, End: 3})
	in.Native[7], in.Native[9000] = math.NaN(), math.Inf(1)
	in.NativeRate, in.Lossy = 22050, true
	if s := scoreOf(t, m, in); !dsp.Finite(s.Probability) || !slices.Equal(s.Cautions, []screen.Caution{screen.Lossy}) {
		t.Errorf("samples that are not finite: got %+v", s)
	}
}

func TestScoreEndsWithItsContext(t *testing.T) {
	m := open1(t, "fairseq-group")
	if _, err := m.Score(canceled(t), voice(3)); !strings.Contains(err.Error(), "canceled") {
		t.Errorf("got %v, want the error of the context", err)
	}
}

// TestWindows checks every length up to 40 s in steps, and some more.
func TestWindows(t *testing.T) {
	lengths := []int{0, 1, windowLongest, windowLongest + 1, 600 * sampleRate, 3600 * sampleRate}
	for n := 0; n < 40*sampleRate; n += 997 {
		lengths = append(lengths, n)
	}
	for _, n := range lengths {
		w, s := windows(n), segments(windows(n))
		if w[0][0] != 0 || w[len(w)-1][1] != n || s[0][0] != 0 || s[len(s)-1][1] != n {
			t.Fatalf("%d samples: got %v, %v, want all of them", n, w, s)
		}
		for k, at := range w {
			length := at[1] - at[0]
			if length > windowLongest || n >= windowShortest && length < windowShortest {
				t.Errorf("%d samples: got a window of %d", n, length)
			}
			if s[k][0] < at[0] || s[k][1] > at[1] || s[k][1] < s[k][0] {
				t.Errorf("%d samples: got the segment %v of the window %v", n, s[k], at)
			}
			if k > 0 && (w[k-1][1]-at[0] < windowOverlap-1 || s[k-1][1] != s[k][0]) {
				t.Errorf("%d samples: got windows %v and %v, want an overlap of %d", n, w[k-1], at, windowOverlap)
			}
		}
		if least := (n - windowOverlap + windowLongest - windowOverlap - 1) / (windowLongest - windowOverlap); n > windowLongest && len(w) != least {
			t.Errorf("%d samples: got %d windows, want %d", n, len(w), least)
		}
	}
}

func TestCalibration(t *testing.T) {
	m := open1(t, "hubert")
	in := voice(14, dsp.Segment{Start: 0, End: 14})
	raw := scoreOf(t, m, in)
	once, err := m.Recalibrated(Calibration{A: 2, B: -1, Prior: 0.3, On: "clips"})
	if err != nil {
		t.Fatal(err)
	}
	twice, err := once.Recalibrated(Calibration{A: 0.5, B: 3, Prior: 0.4, On: "more clips"})
	if err != nil {
		t.Fatal(err)
	}
	logit := math.Log(raw.Probability / (1 - raw.Probability))
	for _, c := range []struct {
		m        *Model
		a, b, pi float64
		on       string
	}{{once, 2, -1, 0.3, "clips"}, {twice, 1, 2.5, 0.4, "more clips"}, {converted(t, twice), 1, 2.5, 0.4, "more clips"}} {
		s, info := scoreOf(t, c.m, in), c.m.Info()
		if math.Abs(s.Probability-dsp.Logistic(c.a*logit+c.b)) > 1e-9 || s.Prior != c.pi || !s.Calibrated || info.CalibratedOn != c.on || !info.Calibrated ||
			!strings.HasPrefix(info.Version, m.Info().Version+"-") || s.Version != info.Version {
			t.Errorf("got %+v of %+v, want the logit %v·%v + %v", s, info, c.a, logit, c.b)
		}
		if got := s.Contributions[0].Logits; math.Abs(got-c.a*s.Contributions[0].Value/2) > 1e-12 {
			t.Errorf("got the contribution %v of %v", got, s.Contributions[0].Value)
		}
	}
	if raw.Calibrated || raw.Prior != 0 || once.Info().Version == twice.Info().Version {
		t.Errorf("got %+v without a calibration, and the versions %s and %s", raw, once.Info().Version, twice.Info().Version)
	}
	for _, c := range []Calibration{
		{A: 0, Prior: 0.5, On: "x"}, {A: -1, Prior: 0.5, On: "x"}, {A: math.NaN(), Prior: 0.5, On: "x"}, {A: math.Inf(1), Prior: 0.5, On: "x"},
		{A: 1, B: math.NaN(), Prior: 0.5, On: "x"}, {A: 1, Prior: 0, On: "x"}, {A: 1, Prior: 1, On: "x"}, {A: 1, Prior: 0.5}, {A: 1, Prior: 0.5, On: strings.Repeat("x", maxText+1)},
	} {
		if _, err := m.Recalibrated(c); !errors.Is(err, ErrFile) {
			t.Errorf("%+v: got %v, want %v", c, err, ErrFile)
		}
	}
}
