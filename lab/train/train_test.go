package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/features/spoof"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/lab/augment"
	"github.com/voicescreen/voicescreen/lab/manifest"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/learn"
	"github.com/voicescreen/voicescreen/screen"
)

const testRate = 8000

// voiceOf makes 0.8 s of a pulse train through a resonance: spoofs have equal
// periods, bona fide ones have jitter. Every path gives another voice.
func voiceOf(path string) ([]float64, int, error) {
	var n uint64
	if _, err := fmt.Sscanf(path, "%d.wav", &n); err != nil {
		return nil, 0, err
	}
	rng := rand.New(rand.NewPCG(n, 9))
	jitter := 0.03
	if n%2 == 1 {
		jitter = 0
	}
	x := make([]float64, testRate*8/10)
	period := 50 + 30*rng.Float64()
	for at := 0.0; int(at) < len(x); at += period * (1 + jitter*rng.NormFloat64()) {
		x[int(at)] = 0.5
	}
	w := 2 * math.Pi * (500 + 400*rng.Float64()) / testRate
	var y1, y2 float64
	for i := range x {
		y := x[i] + 1.9*math.Cos(w)*y1 - 0.9*y2 + 0.002*rng.NormFloat64()
		x[i], y1, y2 = y, y, y1
	}
	return x, testRate, nil
}

// testRows is a manifest of n recordings from twelve sources.
func testRows(n int) []manifest.Row {
	rows := make([]manifest.Row, n)
	for i := range rows {
		rows[i] = manifest.Row{Path: fmt.Sprintf("%d.wav", i), Positive: i%2 == 1, Use: "train", Source: fmt.Sprint("s", i/2%12), System: "-", Licence: "CC0"}
		if i%7 == 0 {
			rows[i].Use = "validate"
		}
	}
	return rows
}

func TestTrain(t *testing.T) {
	t.Parallel()
	rows := testRows(cost.Sized(48, 16))
	for i := range rows {
		if rows[i].Positive {
			rows[i].Kind = "vocoder"
		}
	}
	var calls atomic.Int64
	opts := &Options{Decode: voiceOf, Data: "made pulses", Seed: 5, Progress: func(done, total int) {
		if n := calls.Add(1); int(n) != done || total < len(rows)+refits {
			t.Errorf("progress: got %d of %d at call %d", done, total, n)
		}
	}}
	f, err := Fit(context.Background(), screen.Deepfake, rows, opts)
	if err != nil {
		t.Fatal(err)
	}
	if least := len(rows) + refits + 2; int(calls.Load()) < least {
		t.Errorf("got %d calls of Progress, want at least %d", calls.Load(), least)
	}
	var text bytes.Buffer
	if err := f.Write(&text); err != nil {
		t.Fatal(err)
	}
	s, err := models.Load(bytes.NewReader(text.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	var splits []string
	for _, m := range f.Metrics {
		if m.Name != "auc" {
			continue
		}
		splits = append(splits, m.Split)
		if least := 0.9; m.Value < least && !strings.Contains(m.Split, "channel") {
			t.Errorf("%s: got AUC %v, want %v: the classes are easy", m.Split, m.Value, least)
		}
	}
	if len(splits) != cost.Sized(4, 3) { // 24 rows are too few of a kind
		t.Errorf("got figures for %q, want cross-validated, with a channel, of the one kind, and held out", splits)
	}
	// Recordings that nobody has seen.
	for i := 1000; i < 1010; i++ {
		x, rate, _ := voiceOf(fmt.Sprintf("%d.wav", i))
		got, err := s.Score(context.Background(), &features.Recording{Native: x, NativeRate: rate})
		if err != nil {
			t.Fatal(err)
		}
		if p := got[0].Probability; (p > 0.5) != (i%2 == 1) {
			t.Errorf("recording %d: got probability %.3f", i, p)
		}
	}
}

// TestTrainIsReproducible trains with several goroutines and with one.
func TestTrainIsReproducible(t *testing.T) {
	t.Parallel()
	write := func(workers int) []byte {
		f, err := Fit(t.Context(), screen.Deepfake, testRows(cost.Sized(12, 6)), &Options{Decode: voiceOf, Seed: 5, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := f.Write(&text); err != nil {
			t.Fatal(err)
		}
		return text.Bytes()
	}
	if !bytes.Equal(write(4), write(1)) {
		t.Error("got another file from the same rows with another number of workers")
	}
}

// TestMeasureOfUnknownSources says that rows whose sources are unknown are not
// of one source: what they have among each other is no AUC within sources.
func TestMeasureOfUnknownSources(t *testing.T) {
	rows, scores := testRows(40), make([]float64, 40)
	for i := range rows {
		scores[i] = float64(i%10 + 4*stats.Indicator(rows[i].Positive))
	}
	tr := &trainer{}
	within := func(rows []manifest.Row) (value float64, ok bool) {
		for _, m := range tr.measure(rows, scores, "all") {
			if m.Name == "within_source_auc" {
				return m.Value, true
			}
		}
		return 0, false
	}
	// In some, two rows of each source are left, and the others of unknown source.
	some, none := slices.Clone(rows), slices.Clone(rows)
	for i := range rows {
		none[i].Source = []string{"", "-", "unknown"}[i/2%3]
		if i >= 24 {
			some[i] = none[i]
		}
	}
	const want = 1 // of each source the one positive is above the one negative
	if v, ok := within(some); !ok || v != want {
		t.Errorf("with some sources: got %v, want %v, which they have by themselves", v, want)
	}
	if v, ok := within(none); ok {
		t.Errorf("without sources: got %v, want none", v)
	}
}

// TestMetricsSayHowManyFolds trains on fewer sources than there could be folds.
func TestMetricsSayHowManyFolds(t *testing.T) {
	tr := &trainer{train: testRows(40), folds: make([]stats.Fold, 4)}
	m := tr.metrics(make([]float64, 40), nil, nil)
	if len(m) == 0 || !strings.Contains(m[0].Split, " 4 folds") {
		t.Errorf("got %+v, want figures of 4 folds", m)
	}
}

func TestTrainRefuses(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	broken := errors.New("broken file")
	one := testRows(20)
	for i := range one {
		one[i].Positive, one[i].Use = true, ""
	}
	for name, c := range map[string]struct {
		ctx  context.Context
		rows []manifest.Row
		opts *Options
		want error
	}{
		"cancelled":   {ctx, testRows(20), &Options{Decode: voiceOf}, context.Canceled},
		"unreadable":  {context.Background(), testRows(20), &Options{Decode: func(string) ([]float64, int, error) { return nil, 0, broken }}, broken},
		"no rows":     {context.Background(), nil, &Options{Decode: voiceOf}, manifest.ErrInvalid},
		"held out":    {context.Background(), []manifest.Row{{Path: "0.wav", Use: "validate"}}, &Options{Decode: voiceOf}, manifest.ErrInvalid},
		"one class":   {context.Background(), one, &Options{Decode: voiceOf}, learn.ErrFit},
		"all silence": {context.Background(), testRows(20), &Options{Decode: func(string) ([]float64, int, error) { return make([]float64, 800), 8000, nil }}, learn.ErrFit},
	} {
		if _, err := Fit(c.ctx, screen.Deepfake, c.rows, c.opts); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
	if _, err := Fit(context.Background(), screen.Deepfake, testRows(4), nil); err == nil {
		t.Error("without Decode: got no error")
	}
	bad := &Options{Decode: func(string) ([]float64, int, error) { return make([]float64, 10), 1, nil }}
	if _, err := Fit(context.Background(), screen.Deepfake, testRows(4), bad); err == nil || !strings.Contains(err.Error(), "1 Hz") {
		t.Errorf("impossible rate: got %v", err)
	}
}

// TestTrainOnVoiceFeatures fits the depression task, whose schema is voice/1.
func TestTrainOnVoiceFeatures(t *testing.T) {
	f, err := Fit(context.Background(), screen.Depression, testRows(24), &Options{Decode: voiceOf})
	if err != nil {
		t.Fatal(err)
	}
	if f.Schema != "voice/1" || f.Category != screen.Depression || !f.IsCalibrated {
		t.Errorf("got schema %s, category %v, calibrated %v", f.Schema, f.Category, f.IsCalibrated)
	}
}

// Refits on bootstraps have both classes, from however few sources the rows are.
func TestTrainOnTwoSources(t *testing.T) {
	rows := testRows(24)
	for i := range rows {
		rows[i].Source = fmt.Sprint("s", i/2%2)
	}
	for seed := range uint64(3) {
		if _, err := Fit(t.Context(), screen.Depression, rows, &Options{Decode: voiceOf, Seed: seed}); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// A cluster that a bootstrap draws twice weighs twice as much as one that it
// draws once.
func TestRowWeightsOfABootstrap(t *testing.T) {
	rows := []manifest.Row{{Source: "a"}, {Source: "a"}, {Source: "a"}, {Source: "a"}, {Source: "b"}, {Source: "c", Positive: true}}
	weigh := func(index ...int) (a, b float64) {
		for k, w := range rowWeights(rows, index) {
			switch rows[index[k]].Source {
			case "a":
				a += w
			case "b":
				b += w
			}
		}
		return a, b
	}
	a, b := weigh(0, 1, 2, 3, 4, 5)
	if math.Abs(a/b-2) > 1e-12 {
		t.Errorf("got a cluster of four at %v times one of one, want 2", a/b)
	}
	a, b = weigh(0, 0, 1, 1, 2, 2, 3, 3, 4, 5)
	if math.Abs(a/b-4) > 1e-12 {
		t.Errorf("drawn twice: got %v times, want 4", a/b)
	}
}

// oneSegment is a recording of one segment, all of whose features are 0.
func oneSegment() []features.Vector {
	return []features.Vector{{Schema: spoof.Schema(), Values: make([]float64, spoof.Schema().Len())}}
}

// readerOfAVoice reads for the deepfake task; x at the rate in Hz is its first recording.
func readerOfAVoice(t *testing.T) (r *reader, x []float64, rate int) {
	t.Helper()
	tr, err := newTrainer(screen.Deepfake, testRows(8), &Options{Decode: voiceOf})
	if err != nil {
		t.Fatal(err)
	}
	x, rate, _ = voiceOf("0.wav")
	return &reader{trainer: tr}, x, rate
}

// TestExamplesOfSpoofs checks the weights of made voices, and that they go
// with the recording that they were made of.
func TestExamplesOfSpoofs(t *testing.T) {
	rows := testRows(8)
	tr := &trainer{train: rows, schema: spoof.Schema(), vectors: make([][][]features.Vector, 8), made: make([][]madeSpoof, 8)}
	for i, r := range rows {
		tr.vectors[i] = [][]features.Vector{oneSegment(), oneSegment()}
		if !r.Positive {
			tr.made[i] = []madeSpoof{{oneSegment(), "world"}, {oneSegment(), "psola"}, {oneSegment(), "lpc"}}
		}
	}
	m := &predictor{Design: &Design{}}
	index := []int{0, 1, 2, 3}
	x, y, w := tr.examples(m, index, nil)
	if want := 4*2 + 2*3; len(x) != want || len(y) != want || len(w) != want {
		t.Fatalf("got %d, %d and %d examples of four rows, want %d", len(x), len(y), len(w), want)
	}
	var class [2]float64
	for i := range w {
		class[stats.Indicator(y[i])] += w[i]
	}
	if math.Abs(class[0]-2) > 1e-12 || math.Abs(class[1]-2) > 1e-12 {
		t.Errorf("got classes of weight %v, want 2 each", class)
	}
	// Row 0 is bona fide: its two copies, then what was made of it.
	var made float64
	for i := 2; i < 5; i++ {
		if !y[i] {
			t.Errorf("example %d: got a bona fide one, want one that was made", i)
		}
		made += w[i]
	}
	if want := spoofShare; math.Abs(made-want) > 1e-12 { // one of two rows, of a class of weight 2
		t.Errorf("got a weight of %v for what was made of one row, want %v", made, want)
	}
	if x, _, _ := tr.examples(m, []int{1, 3}, nil); len(x) != 4 {
		t.Errorf("got %d examples of two spoofs, want their 4 copies", len(x))
	}
	// Where MLSA is tested only psola is left of the three, with the weight of all.
	tested := decoderSet{"mlsa": true}
	x, y, w = tr.examples(m, index, tested)
	if want := 4*2 + 2*1; len(x) != want || !y[2] || math.Abs(w[2]-spoofShare) > 1e-12 {
		t.Errorf("MLSA is tested: got %d examples, the third %v with the weight %v, want %d, true, %v", len(x), y[2], w[2], want, spoofShare)
	}
}

// Of each recording of a person two synthetic voices are made, one of them by errors of
// bands, which every hold-out trains on; of a short one none.
func TestSpoofsOfARecording(t *testing.T) {
	r, x, rate := readerOfAVoice(t)
	made := r.spoofsOf(x, rate, 0)
	if len(made) != 2 || len(imitated[made[0].method]) == 0 || made[1].method != "band errors" || len(made[0].segments) != 1 {
		t.Fatalf("got %+v", made)
	}
	tr := r.trainer
	tr.made = [][]madeSpoof{made}
	every := decoderSet{}
	for family := range exampleOf {
		every[family] = true
	}
	if left := tr.heardFrom(0, every); len(left) != 1 || left[0].method != "band errors" {
		t.Errorf("all decoders held out: got %d voices", len(left))
	}
	if made := r.spoofsOf(x[:1000], rate, 0); made != nil {
		t.Errorf("0.1 s: got %d voices, want none", len(made))
	}
}

// Each method of augment.Spoof and Manipulated names the decoders that it imitates, and each of these
// is one of the table of systems: a hold-out that tests a decoder would else train on
// its imitation.
func TestImitatedNamesEachMethod(t *testing.T) {
	x, rate, _ := voiceOf("0.wav")
	met := map[string]bool{}
	for seed := range uint64(150) { // the chance that one of nine methods is not met: 2e-7
		_, method := augment.Spoof(x, rate, rand.New(rand.NewPCG(seed, 1)))
		met[method] = true
		if len(imitated[method]) == 0 {
			t.Fatalf("method %q: got no decoders", method)
		}
	}
	augment.Manipulated(x, rate, rand.New(rand.NewPCG(1, 1)), func(_ []float64, method string) { met[method] = true })
	for method, families := range imitated {
		if !met[method] {
			t.Errorf("augment has no method %q", method)
		}
		for _, f := range families {
			if r := (manifest.Row{System: exampleOf[f]}); r.Family() != f {
				t.Errorf("method %q: got the decoder %q of the system %q, want %q", method, r.Family(), exampleOf[f], f)
			}
		}
	}
}

// exampleOf names a system of each imitated decoder.
var exampleOf = map[string]string{
	"codec": "Codec-DAC", "diffusion": "DiffWave", "formant": "espeak-ng", "griffinlim": "GriffinLim-mel80", "hifigan": "HiFi-GAN-V1",
	"istft": "APNet", "lpc": "LPC-vocoder", "melgan": "MelGAN", "mlsa": "HTS", "nsf": "hn-NSF", "phasevocoder": "phase-vocoder-pitch",
	"pwg": "PWG", "univnet": "UnivNet", "world": "WORLD-vocoder",
}
