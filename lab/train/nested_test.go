package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/features/spoof"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/lab/manifest"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// Numbers of pages of [nestedTrainer]: the time of a fit grows with them. The more
// have the ten recordings of each decoder without which it has no figure.
const (
	fewPages  = 14
	morePages = 20
)

// Under the race detector the time of nested tests is that of half of the recipes.
func init() { recipes = recipes[:cost.Sized(len(recipes), 2)] }

// nestedSchema has a third of the features of spoof, the covariates among them: the time
// of a nested cross-validation is that of its hundreds of regressions.
var nestedSchema = func() *features.Schema {
	var pairs [][2]string
	for j := range spoof.Schema().Len() {
		if name, unit := spoof.Schema().Feature(j); j < 110 || slices.Contains(covariates, name) {
			pairs = append(pairs, [2]string{name, unit})
		}
	}
	return features.NewSchema("test", pairs)
}()

// nestedTrainer has rows of some pages, systems of four decoders and features of
// chance, to which shift adds.
func nestedTrainer(pages int, shift func(r *manifest.Row, values []float64, rng *rand.Rand)) *trainer {
	systems := []string{"VITS", "WaveGlow", "MelGAN", "WORLD-vocoder", "PWG", "Matcha-TTS"}
	kinds := []string{"tts", "vocoder", "vocoder", "classical", "vocoder", "tts"}
	t := &trainer{task: screen.Deepfake, schema: nestedSchema, copies: copies[:1], nested: true, recipe: &recipes[0], opts: Options{Workers: 2}}
	rng := rand.New(rand.NewPCG(4, 4))
	for page := range pages {
		for k := range 6 {
			r := manifest.Row{Path: fmt.Sprint(page, ".", k), Source: fmt.Sprint("page", page), Speaker: fmt.Sprint("voice", page), Label: "bonafide", Language: "en", Duration: 1 + 3*float64(page%2)}
			if k%2 == 1 {
				s := (page + k) % len(systems)
				r.Label, r.Positive, r.System, r.Kind = "spoof", true, systems[s], kinds[s]
			}
			var copies [][]features.Vector
			for range 2 {
				v := make([]float64, t.schema.Len())
				for j := range v {
					v[j] = rng.NormFloat64()
				}
				shift(&r, v, rng)
				copies = append(copies, []features.Vector{{Schema: t.schema, Values: v}})
			}
			t.train, t.vectors = append(t.train, r), append(t.vectors, copies)
		}
	}
	t.made = make([][]madeSpoof, len(t.train))
	return t
}

func runNested(t *testing.T, tr *trainer) *nest {
	t.Helper()
	n := newNest(tr)
	if err := n.settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	return n
}

// markedTrainer has features that mark all decoders alike.
func markedTrainer() *trainer {
	return nestedTrainer(morePages, func(r *manifest.Row, v []float64, _ *rand.Rand) {
		for k := range 8 {
			v[50+k] += 2 * float64(stats.Indicator(r.Positive))
		}
	})
}

// marked is what several tests look at: a run with the rows of [markedTrainer].
var marked = sync.OnceValues(func() (run struct {
	auc     float64
	figures []models.Metric
}, err error) {
	n := newNest(markedTrainer())
	if err := n.settle(context.Background()); err != nil {
		return run, err
	}
	run.auc, _ = n.rank(n.scored(plainLogit))
	run.figures, err = n.figures(context.Background())
	return run, err
})

// Features that mark each decoder in its own way are of no use for a decoder that
// was held out: the nested figure is chance, where folds by source and speaker
// have a high one. Features that mark all decoders alike have a high one in
// both.
func TestNestedFigureIsThatOfNewDecoders(t *testing.T) {
	t.Parallel()
	own := nestedTrainer(morePages, func(r *manifest.Row, v []float64, _ *rand.Rand) {
		if !r.Positive {
			return
		}
		for k := range 8 { // of more than 100
			v[10*len(r.Family())+k] += 4 // the names of the decoders differ in length
		}
	})
	n := runNested(t, own)
	auc, _ := n.rank(n.scored(plainLogit))
	own.folds = stats.Folds(n.units, 5, 0) // the systems of a page are on others too
	clean, _, err := own.crossValidate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	former := stats.AUC(clean, classes(own.train))
	if !(auc < 0.7 && former > 0.9) {
		t.Errorf("marks of single decoders: got the nested AUC %.3f and %.3f by sources, want below 0.7 and above 0.9", auc, former)
	}
	all, err := marked()
	if err != nil {
		t.Fatal(err)
	}
	if !(all.auc > 0.9) {
		t.Errorf("a mark of all decoders: got the nested AUC %.3f, want above 0.9", all.auc)
	}
	want := map[string]bool{"nested, 5 folds": false, "nested, each": false, "nested, kind vocoder": false, "nested, decoder flow": false,
		"nested, language en": false, "whole kinds": false, "trained on systems of before 2023": false,
		"nested, 0 s to below 2 s": false, "nested, 4 s and longer": false, "nested, pages with synthetic speech": false,
		"nested, each recording through one random channel, pages with": false}
	for _, m := range all.figures {
		if !(m.Low <= m.Value && m.Value <= m.High) {
			t.Errorf("%s of %s: got %v in %v to %v", m.Name, m.Split, m.Value, m.Low, m.High)
		}
		for prefix := range want {
			if strings.HasPrefix(m.Split, prefix) {
				want[prefix] = true
			}
		}
	}
	for prefix, found := range want {
		if !found {
			t.Errorf("no figure of %q", prefix)
		}
	}
}

// Features that say nothing have a nested AUC of one half, although the recipe that
// ranks best is chosen: it is chosen on other rows.
func TestNestedFigureOfChance(t *testing.T) {
	t.Parallel()
	n := runNested(t, nestedTrainer(fewPages, func(*manifest.Row, []float64, *rand.Rand) {}))
	const most = 0.18 // three standard errors of an AUC of 42 and 42
	if auc, _ := n.rank(n.scored(plainLogit)); !(math.Abs(auc-0.5) < most) {
		t.Errorf("got the AUC %.3f, want 0.5", auc)
	}
}

// The fast fit of a bench scores as the model that the trainer writes does.
func TestBenchFitsTheModelOfTheTrainer(t *testing.T) {
	t.Parallel()
	tr := nestedTrainer(morePages, func(r *manifest.Row, v []float64, _ *rand.Rand) {
		for k := range 20 {
			v[k] += 0.5 * float64(stats.Indicator(r.Positive))
		}
	})
	all := stats.Indices(len(tr.train))
	tr.manipulated = make([][]madeSpoof, len(tr.train))
	for i, r := range tr.train {
		if k := (i + 2) % len(tr.train); !r.Positive && !tr.train[k].Positive { // other people's features
			tr.manipulated[i] = []madeSpoof{{tr.vectors[k][1], "psola"}}
		}
	}
	for k := range 2 { // as they are, and weighed
		tr.recipe = &recipes[k]
		want, err := tr.fitRows(all)
		if err != nil {
			t.Fatal(err)
		}
		b := newNest(tr).bench(tr.recipe)
		got := b.fit(all, nil)
		if len(got.others) != 1 || len(want.others) != 1 || got.others[0].of != want.others[0].of {
			t.Fatalf("got the further predictors %v and %v, want one of the same", got.others, want.others)
		}
		const tolerance = 1e-4 // of scores with a deviation of 2; that of fastLogistic
		for i := range tr.train {
			for copy := range 2 {
				if d := math.Abs(b.row(got, i, copy) - want.score(tr.vectors[i][copy])); !(d < tolerance) {
					t.Fatalf("%s: row %d, copy %d: differs by %v", tr.recipe.name, i, copy, d)
				}
			}
		}
	}
}

// A cell does not hear voices made like a decoder that it tests.
func TestCellsLeaveOutImitations(t *testing.T) {
	tr := nestedTrainer(morePages, func(*manifest.Row, []float64, *rand.Rand) {})
	all := stats.Indices(len(tr.train))
	for i := range tr.train {
		if !tr.train[i].Positive {
			tr.made[i] = []madeSpoof{{tr.vectors[i][0], "world"}, {tr.vectors[i][1], "griffin-lim"}}
		}
	}
	people := len(all) / 2
	for _, c := range []struct {
		tested []int // rows
		want   int   // made voices
	}{{nil, 2 * people}, {all[:1], 2 * people}, {all, people}} { // row 0 is of a person; all have WORLD but no Griffin-Lim
		x, _, _ := tr.examples(&predictor{Design: &Design{}}, all, decoderSet{}.with(tr.train, c.tested))
		if got := len(x) - 2*len(all); got != c.want {
			t.Errorf("%d rows are tested: got %d made voices, want %d", len(c.tested), got, c.want)
		}
	}
	if got := (decoderSet{"mlsa": true}).with(tr.train, nil); !got.imitatedBy("lpc") || got.imitatedBy("psola") {
		t.Errorf("MLSA: got %v", got)
	}
}

// The latest systems are those of the last years, at least a fifth, and what trains
// is of before.
func TestLatestSystems(t *testing.T) {
	systems := []string{"WORLD-vocoder", "WaveGlow", "MelGAN", "Matcha-TTS"} // of 2016, 2018, 2019 and 2023
	tr := &trainer{}
	for page := range 12 {
		row := manifest.Row{Source: fmt.Sprint(page), Speaker: fmt.Sprint("voice", page)}
		synthetic := row
		synthetic.Positive, synthetic.System = true, systems[page%len(systems)]
		tr.train = append(tr.train, row, synthetic)
	}
	n := newNest(tr)
	cells := n.latest(stats.Indices(len(n.train)))
	if len(cells) != 1 {
		t.Fatalf("got %d cells, want one", len(cells))
	}
	first, last := 9999, 0
	for _, i := range cells[0].Test {
		if n.train[i].Positive {
			first = min(first, n.train[i].Year())
		}
	}
	for _, i := range cells[0].Train {
		last = max(last, n.train[i].Year())
	}
	if first != 2023 || last != 2019 {
		t.Errorf("got tested systems from %d on and trained ones up to %d, want 2023 and 2019", first, last)
	}
}

// The relevance of a feature is √(1 + t²) of the differences of the pages, 1 for one
// that differs by chance in sign only, and does not see pages with one class.
func TestRelevance(t *testing.T) {
	schema := spoof.Schema()
	tr := &trainer{schema: schema}
	add := func(page string, positive bool, x, y float64) {
		v := make([]float64, schema.Len())
		v[0], v[1] = x, y
		tr.train = append(tr.train, manifest.Row{Source: page, Positive: positive})
		tr.vectors = append(tr.vectors, [][]features.Vector{{{Schema: schema, Values: v}}})
	}
	for page, d := range []float64{1, 2, 3} { // of x; y differs by ±1 or not at all
		add(fmt.Sprint(page), false, 5, 0)
		add(fmt.Sprint(page), true, 5+d, d-2)
	}
	add("people", false, -100, 100)
	d := &Design{features: make([]models.Feature, 2), columns: []int{0, 1}, clip: 1000}
	d.features[0].Scale, d.features[1].Scale = 1, 1
	got := tr.relevance(d, stats.Indices(len(tr.train)))
	want := []float64{math.Sqrt(1 + 4/(2./3)*3), 1} // mean 2, variance ⅔, three pages
	for k := range want {
		if math.Abs(got[k]-want[k]) > 1e-12 {
			t.Errorf("feature %d: got %v, want %v", k, got[k], want[k])
		}
	}
	if got := tr.relevance(d, []int{0, 1}); got[0] != 1 || got[1] != 1 {
		t.Errorf("one page: got %v, want 1", got)
	}
	r := &recipe{weighed: true}
	w := tr.weighed(d, r, stats.Indices(len(tr.train)))
	if ratio := w.features[1].Scale / w.features[0].Scale; math.Abs(ratio-math.Sqrt(want[0])) > 1e-4 {
		t.Errorf("got scales in the ratio %v, want %v", ratio, math.Sqrt(want[0]))
	}
	if r.weighed = false; tr.weighed(d, r, nil) != d {
		t.Error("a recipe that does not weigh changes the design")
	}
}

func TestFigureWeights(t *testing.T) {
	tr := nestedTrainer(morePages, func(*manifest.Row, []float64, *rand.Rand) {})
	sum := map[string]float64{}
	for i, w := range newNest(tr).weight {
		if r := &tr.train[i]; r.Positive {
			sum[r.Family()] += w
		} else {
			sum[r.Source] += w
		}
	}
	for name, w := range sum {
		if math.Abs(w-1) > 1e-12 {
			t.Errorf("%s: got the weight %v, want 1", name, w)
		}
	}
}

func TestNestedRefuses(t *testing.T) {
	t.Parallel()
	few := testRows(24)
	if _, err := Nested(t.Context(), few, &Options{Decode: voiceOf}); !errors.Is(err, manifest.ErrInvalid) || !strings.Contains(err.Error(), "100 training rows") {
		t.Errorf("few rows: got %v", err)
	}
	if _, err := Fit(t.Context(), screen.Deepfake, few, &Options{Decode: voiceOf, Nested: true}); !errors.Is(err, manifest.ErrInvalid) {
		t.Errorf("few rows of Fit: got %v", err)
	}
	if _, err := Fit(t.Context(), screen.Depression, few, &Options{Decode: voiceOf, Nested: true}); err == nil {
		t.Error("depression: got no error")
	}
	if _, err := Nested(t.Context(), few, nil); err == nil {
		t.Error("no options: got no error")
	}
}

// Each pattern of a recipe leaves out a feature of the schema.
func TestRecipesLeaveOutFeatures(t *testing.T) {
	for _, r := range recipes {
		for _, pattern := range r.without {
			one := recipe{without: []string{pattern}}
			found := false
			for i := range spoof.Schema().Len() {
				name, _ := spoof.Schema().Feature(i)
				found = found || !one.takes(name)
			}
			if !found {
				t.Errorf("%s: no feature matches %q", r.name, pattern)
			}
		}
		if !r.takes("pitch.sd_oct") {
			t.Errorf("%s: leaves out pitch.sd_oct", r.name)
		}
	}
}

func TestSituations(t *testing.T) {
	rows := []manifest.Row{
		{Source: "demo"}, {Source: "demo", Positive: true, Bandwidth: 3400},
		{Source: "calls", Bandwidth: 3400}, {Source: "calls", Bandwidth: 8000},
	}
	n := &nest{trainer: &trainer{train: rows}}
	s := scoredRows{stats.Indices(4), []float64{1, 2, 3, 4}}
	want := map[string][]int{"pages with synthetic speech": {0, 1}, "pages without synthetic speech": {2, 3}, "bandwidth below 5 kHz": {1, 2}}
	for _, situation := range situationsOf(rows) {
		got := n.part(s, situation.is)
		if !slices.Equal(got.index, want[situation.name]) {
			t.Errorf("%s: got rows %v, want %v", situation.name, got.index, want[situation.name])
		}
		delete(want, situation.name)
	}
	if len(want) > 0 {
		t.Errorf("got no situation of %v", want)
	}
}

// A row that several models scored counts as one.
func TestRowsOfSeveralCellsCountOnce(t *testing.T) {
	w := divided([]int{0, 1, 0, 2, 0}, []float64{6, 5, 4})
	if want := []float64{2, 5, 2, 4, 2}; !slices.Equal(w, want) {
		t.Errorf("got %v, want %v", w, want)
	}
	tr := nestedTrainer(morePages, func(*manifest.Row, []float64, *rand.Rand) {})
	n := newNest(tr)
	once, often := scoredRows{}, scoredRows{}
	rng := rand.New(rand.NewPCG(5, 5))
	for i := range tr.train {
		score := rng.NormFloat64()
		once.add(i, score)
		for range 1 + i%3 {
			often.add(i, score)
		}
	}
	a, b := n.measureAll(once, n.weight, "once"), n.measureAll(often, n.weight, "often")
	for k := range a {
		if a[k].N != b[k].N || a[k].Name != "within_source_auc" && math.Abs(a[k].Value-b[k].Value) > 2e-4 {
			t.Errorf("%s: got %v of %d rows, want %v of %d", a[k].Name, b[k].Value, b[k].N, a[k].Value, a[k].N)
		}
	}
}
