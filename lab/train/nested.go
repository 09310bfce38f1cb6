package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"sync"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/lab/evaluate"
	"github.com/voicescreen/voicescreen/lab/manifest"
	"github.com/voicescreen/voicescreen/models"
)

const (
	// outerFolds and outerParts are the folds of sources and the parts of decoders
	// of the outer cells, innerFolds and innerParts those of the inner ones. Chosen:
	// a cell trains on half of the rows, the inner ones on a quarter.
	outerFolds, outerParts = 5, 3
	innerFolds, innerParts = 3, 2
	// sinceYear is the first year of the systems that the split by years tests.
	sinceYear = 2023
	// nestedSteps is how often a nested cross-validation reports progress.
	nestedSteps = 4
	// leastNested is how many rows of each class, and sources, a nested
	// cross-validation needs. Chosen.
	leastNested, leastUnits = 100, 20
)

// A recipe is what a nested cross-validation chooses from: the families of
// measures and the penalty of the regression.
type recipe struct {
	name    string
	without []string // patterns of [path.Match]; features with such a name are left out
	penalty float64
	weighed bool // by relevance, see weighed
}

// takes says whether the recipe has a feature.
func (r *recipe) takes(feature string) bool {
	return !slices.ContainsFunc(r.without, func(pattern string) bool {
		out, err := path.Match(pattern, feature)
		if err != nil {
			panic("train: " + err.Error())
		}
		return out
	})
}

// recipes are the designs of the deepfake task.
var recipes = []recipe{
	{"all measures", nil, penalty, false},
	{"all measures, weighed by relevance", nil, penalty, true},
	{"all measures, weighed by relevance, with half of the penalty", nil, penalty / 2, true},
}

// A held is what one cell of a nested cross-validation says of a row: the score of a model
// that saw neither its source nor its speaker nor its decoder, and that was designed and
// calibrated without them.
type held struct {
	row        int
	raw, logit heldScore // of the regression, and calibrated
}

// A heldScore is the score of a row.
type heldScore struct {
	copies  []float64 // those that calibrate: 0 as it is, 1 through a random channel
	through float64   // through the channel of [Options.Through], NaN without it
}

// scores are those of training row i.
func (b *bench) scores(m *predictor, i int) heldScore {
	s := heldScore{b.rows(m, i, b.calibrating()), math.NaN()}
	if b.through != nil {
		s.through = b.toScore(m, i).score(b.through[i])
	}
	return s
}

func (s heldScore) calibrated(c models.Calibration) heldScore {
	out := heldScore{make([]float64, len(s.copies)), c.Of(s.through)}
	for k, v := range s.copies {
		out.copies[k] = c.Of(v)
	}
	return out
}

// A nest is one nested cross-validation. All cells share the design of a recipe,
// centre and scale of each feature over all training rows, for which no label is
// used. Of the synthetic voices that the training makes itself, a cell leaves out
// those that imitate a decoder that it tests; see imitated.
type nest struct {
	*trainer
	units  []string
	weight []float64 // of each row in the figures
	tested []held    // what run returned
	counts []int     // how many cells chose each recipe
	chosen int       // the recipe that all rows choose
	step   func()    // reports progress
}

func newNest(t *trainer) *nest {
	n := &nest{trainer: t, units: manifest.Units(t.train), step: t.advance}
	n.weight = figureWeights(t.train, n.units)
	return n
}

// rareFamily is the least number of rows of a decoder that counts alone. Chosen.
const rareFamily = 10

// figureWeights makes each source of recordings of people count once, and each
// decoder of synthetic ones, all decoders with fewer than rareFamily rows and all
// unknown ones together as one. Within a decoder each source counts once. What a
// new decoder will be like is the question, and one that is common in the rows
// says it no better than a rare one.
func figureWeights(rows []manifest.Row, units []string) []float64 {
	family := map[string]int{}
	for i := range rows {
		if rows[i].Positive {
			family[rows[i].Family()]++
		}
	}
	type part struct{ family, unit string }
	parts := make([]part, len(rows))
	size, sources := map[part]float64{}, map[string]float64{}
	for i := range rows {
		parts[i].unit = units[i]
		if rows[i].Positive {
			if parts[i].family = rows[i].Family(); family[parts[i].family] < rareFamily {
				parts[i].family = "rare"
			}
		}
		if size[parts[i]]++; size[parts[i]] == 1 {
			sources[parts[i].family]++
		}
	}
	w := make([]float64, len(rows))
	for i, p := range parts {
		w[i] = 1 / size[p]
		if rows[i].Positive {
			w[i] /= sources[p.family]
		}
	}
	return w
}

// nestable says whether the rows are enough for nested cells.
func nestable(rows []manifest.Row) error {
	var class [2]int
	units := map[string]bool{}
	for i, u := range manifest.Units(rows) {
		class[stats.Indicator(rows[i].Positive)]++
		units[u] = true
	}
	if min(class[0], class[1]) < leastNested || len(units) < leastUnits {
		return fmt.Errorf("%w: nested cross-validation needs %d training rows of each class and %d sources, got %d, %d and %d",
			manifest.ErrInvalid, leastNested, leastUnits, class[0], class[1], len(units))
	}
	return nil
}

// subset is the cells of Crossed over some of the rows, in indices of all rows.
func (n *nest) subset(index []int, folds, parts int) []manifest.Cell {
	return n.cellsOf(index, func(rows []manifest.Row) []manifest.Cell { return manifest.Crossed(rows, folds, parts, n.opts.Seed) })
}

// cellsOf is the usable cells that split makes of some of the rows, in indices of all
// rows.
func (n *nest) cellsOf(index []int, split func(rows []manifest.Row) []manifest.Cell) []manifest.Cell {
	rows := make([]manifest.Row, len(index))
	for k, i := range index {
		rows[k] = n.train[i]
	}
	cells := split(rows)
	for c := range cells {
		for _, list := range [][]int{cells[c].Train, cells[c].Test} {
			for k := range list {
				list[k] = index[list[k]]
			}
		}
	}
	return n.usable(cells)
}

func (n *nest) bothClasses(index []int) bool {
	var class [2]bool
	for _, i := range index {
		class[stats.Indicator(n.train[i].Positive)] = true
	}
	return class[0] && class[1]
}

// choose returns the recipe whose models rank the held-out rows of the inner
// cells best: by the mean of the AUC, each source counting once, and that within
// sources, of the inner cells by source and decoder, and of the latest systems by
// a model of those before.
func (n *nest) choose(benches []*bench, index []int, tested decoderSet) int {
	best, most := 0, math.Inf(-1)
	latest := n.latest(index)
	for k, b := range benches {
		auc, within := n.rank(n.inner(b, index, tested))
		v := auc + within
		if len(latest) > 0 {
			auc, within = n.rank(n.later(b, latest, tested))
			v += auc + within
		}
		if v > most {
			best, most = k, v
		}
	}
	return best
}

// latestShare is the least share of the systems that count as the latest, of the
// synthetic rows whose year is known. Chosen.
const latestShare = 0.2

// latest is the cell that tests the latest systems among the rows of index, if it
// is usable.
func (n *nest) latest(index []int) []manifest.Cell {
	var years []int
	for _, i := range index {
		if n.train[i].Positive && n.train[i].Year() > 0 {
			years = append(years, n.train[i].Year())
		}
	}
	if len(years) == 0 {
		return nil
	}
	slices.Sort(years)
	year := years[int((1-latestShare)*float64(len(years)))]
	return n.cellsOf(index, func(rows []manifest.Row) []manifest.Cell {
		return []manifest.Cell{manifest.Since(rows, year, n.opts.Seed)}
	})
}

// later scores the latest systems. Their year is in question, not their decoder, and
// the made voices imitate decoders of before: only those of tested are left out.
func (n *nest) later(b *bench, latest []manifest.Cell, tested decoderSet) (s scoredRows) {
	f := b.fit(latest[0].Train, tested)
	for _, i := range latest[0].Test {
		s.add(i, b.row(f, i, 0))
	}
	return s
}

// scoredRows are held-out scores of rows. A row that several models scored is there as
// often.
type scoredRows struct {
	index []int
	score []float64
}

// inner scores the rows of index by models of inner cells, as they are.
func (n *nest) inner(b *bench, index []int, tested decoderSet) scoredRows {
	return n.crossed(b, n.subset(index, innerFolds, innerParts), tested, 1)[0]
}

// crossed scores so many copies of the test rows of cells by models of their training
// rows: with 1 as they are, with 2 through their first channel too. A row in several
// cells is there several times, once for each model, cell by cell. The models hear no
// voice made like the decoders of tested.
func (n *nest) crossed(b *bench, cells []manifest.Cell, tested decoderSet, copies int) []scoredRows {
	out := make([]scoredRows, copies)
	for _, c := range cells {
		f := b.fit(c.Train, tested.with(n.train, c.Test))
		for _, i := range c.Test {
			for copy, score := range b.rows(f, i, copies) {
				out[copy].add(i, score)
			}
		}
	}
	return out
}

func (s *scoredRows) add(row int, score float64) {
	s.index, s.score = append(s.index, row), append(s.score, score)
}

// pick returns labels, weights and pages of rows.
func (n *nest) pick(index []int) (y []bool, w []float64, page []string) {
	for _, i := range index {
		y, page = append(y, n.train[i].Positive), append(page, n.train[i].Source)
	}
	return y, divided(index, n.weight), page
}

// divided are the weights of rows, each divided by how often the row is there.
func divided(index []int, weight []float64) []float64 {
	times := map[int]float64{}
	for _, i := range index {
		times[i]++
	}
	w := make([]float64, len(index))
	for k, i := range index {
		w[k] = weight[i] / times[i]
	}
	return w
}

// rank is the AUC with each source counting once, and that within sources.
func (n *nest) rank(s scoredRows) (auc, within float64) {
	y, w, page := n.pick(s.index)
	return evaluate.WeightedAUC(s.score, y, w), stats.WithinAUC(s.score, y, page)
}

// balanced scales weights so that each class has half of the number of rows.
func balanced(y []bool, w []float64) []float64 {
	var sum [2]float64
	for i := range y {
		sum[stats.Indicator(y[i])] += w[i]
	}
	out := make([]float64, len(w))
	for i := range y {
		out[i] = w[i] / sum[stats.Indicator(y[i])] * float64(len(y)) / 2
	}
	return out
}

// run scores every training row, by the model of each cell that tests it: the recipe, the
// calibration and the model are those of the other rows of the cell. It also counts how
// often each recipe was chosen.
func (n *nest) run(ctx context.Context) ([]held, []int, error) {
	cells := n.usable(manifest.Crossed(n.train, outerFolds, outerParts, n.opts.Seed))
	benches := n.benches(len(recipes))
	chosen := make([]int, len(cells))
	n.parallel(ctx, len(cells), func(c int) { chosen[c] = n.choose(benches, cells[c].Train, decoderSet{}.with(n.train, cells[c].Test)) })
	n.step()
	scored, failed := make([][]held, len(cells)), make([]error, len(cells))
	n.parallel(ctx, len(cells), func(c int) {
		b, tested := benches[chosen[c]], decoderSet{}.with(n.train, cells[c].Test)
		cal, err := n.calibrated(b, cells[c].Train, tested)
		if failed[c] = err; err != nil {
			return
		}
		f := b.fit(cells[c].Train, tested)
		for _, i := range cells[c].Test {
			raw := b.scores(f, i)
			scored[c] = append(scored[c], held{i, raw, raw.calibrated(cal)})
		}
	})
	count := make([]int, len(recipes))
	for _, k := range chosen {
		count[k]++
	}
	if err := errors.Join(failed...); err != nil {
		return nil, nil, fmt.Errorf("train: nested cross-validation: %w", err)
	}
	return slices.Concat(scored...), count, ctx.Err()
}

// single scores the test rows of cells by one recipe, without a calibration.
func (n *nest) single(ctx context.Context, k int, cells []manifest.Cell) (s scoredRows) {
	b := n.bench(&recipes[k])
	out := make([]scoredRows, len(cells))
	n.parallel(ctx, len(cells), func(c int) {
		f := b.fit(cells[c].Train, decoderSet{}.with(n.train, cells[c].Test))
		for _, i := range cells[c].Test {
			out[c].add(i, b.row(f, i, 0))
		}
	})
	for _, part := range out {
		s.index, s.score = append(s.index, part.index...), append(s.score, part.score...)
	}
	return s
}

// parallel calls f for 0 to before count, by as many goroutines as the trainer
// has, until ctx is done.
func (n *nest) parallel(ctx context.Context, count int, f func(int)) {
	var wg sync.WaitGroup
	jobs := make(chan int)
	for range n.workers() {
		wg.Go(func() {
			for c := range jobs {
				f(c)
			}
		})
	}
	for c := 0; c < count && ctx.Err() == nil; c++ {
		jobs <- c
	}
	close(jobs)
	wg.Wait()
}

// probabilities of logits.
func probabilities(logit []float64) []float64 {
	p := make([]float64, len(logit))
	for i, s := range logit {
		p[i] = dsp.Logistic(s)
	}
	return p
}
