package train

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/lab/evaluate"
	"github.com/voicescreen/voicescreen/lab/manifest"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// What the scored recordings passed through: their first copy of the training, and
// [Options.Through].
const (
	heardSplit   = "each recording through one random channel"
	throughSplit = "each recording through a channel of another program"
)

// calibrationBins are the bins of the calibration error, as wide as each other.
const calibrationBins = 10

// Nested measures the design of the deepfake task on rows by nested
// cross-validation and writes no model. Rows with use "train" or "" take part. For
// the cells see [manifest.Crossed]; everything that is chosen, measures, penalty and
// calibration, is chosen within the training rows of a cell. Two more figures stand
// beside it: with whole kinds of synthesis held out, and of a model of systems from
// before 2023 on those since; and by how much the equal error rate rises through a
// channel. Equal rows and options give equal figures.
func Nested(ctx context.Context, rows []manifest.Row, opts *Options) ([]models.Metric, error) {
	t, err := newTrainer(screen.Deepfake, rows, opts)
	if err != nil {
		return nil, err
	}
	if err := nestable(t.train); err != nil {
		return nil, err
	}
	t.held, t.nested = nil, true
	if err := t.read(ctx); err != nil {
		return nil, err
	}
	n := newNest(t)
	if err := n.settle(ctx); err != nil {
		return nil, err
	}
	figures, err := n.figures(ctx)
	if err != nil {
		return nil, err
	}
	return append(figures, n.losses()...), nil
}

// settle runs the nested cross-validation and chooses the recipe by all rows.
func (n *nest) settle(ctx context.Context) (err error) {
	if n.tested, n.counts, err = n.run(ctx); err != nil {
		return err
	}
	n.chosen = n.choose(n.benches(len(recipes)), stats.Indices(len(n.train)), nil)
	n.step()
	return ctx.Err()
}

// figures measures the held-out scores, then those of the two harder hold-outs.
func (n *nest) figures(ctx context.Context) ([]models.Metric, error) {
	split := fmt.Sprintf("nested, %d folds of sources and speakers by %d parts of decoders; each decoder and each source counts once, a recording by each model that tests it; %s",
		outerFolds, outerParts, n.choices())
	all := n.scored(plainLogit)
	out := n.measureAll(all, n.weight, split)
	heard := n.scored(heardLogit)
	out = append(out, n.measureAll(heard, n.weight, "nested, "+heardSplit)...)
	if n.through != nil {
		through := n.scored(throughLogit)
		out = append(out, n.measureAll(through, n.weight, "nested, "+throughSplit)...)
		out = append(out, n.situations(through, "nested, "+throughSplit)...)
	}
	groups := func(name string, of func(r *manifest.Row) string) {
		out = append(out, n.group(all, name, of)...)
	}
	groups("kind", func(r *manifest.Row) string { return r.Kind })
	groups("decoder", (*manifest.Row).Family)
	out = append(out, n.languages(all)...)
	out = append(out, n.lengths(all)...)
	out = append(out, n.situations(all, "nested")...)
	out = append(out, n.situations(heard, "nested, "+heardSplit)...)

	kinds := n.single(ctx, n.chosen, n.usable(manifest.ByKind(n.train, outerFolds, n.opts.Seed)))
	out = append(out, n.ranks(kinds, n.weight, "whole kinds held out, besides sources and speakers")...)
	n.step()
	since, err := n.since(ctx)
	n.step()
	return append(out, since...), cmp.Or(err, ctx.Err())
}

// choices says how often each recipe was chosen.
func (n *nest) choices() string {
	text := "chosen within the cells:"
	for k, c := range n.counts {
		if c > 0 {
			text += fmt.Sprintf(" %s (%d)", recipes[k].name, c)
		}
	}
	return text
}

// usable are the cells with both classes on both sides.
func (n *nest) usable(cells []manifest.Cell) []manifest.Cell {
	return slices.DeleteFunc(cells, func(c manifest.Cell) bool { return !n.bothClasses(c.Train) || !n.bothClasses(c.Test) })
}

// The logits of a row: as it is, and after what heardSplit and throughSplit say.
func plainLogit(h held) float64   { return h.logit.copies[0] }
func heardLogit(h held) float64   { return h.logit.copies[1] }
func throughLogit(h held) float64 { return h.logit.through }

// scored are one score of each row by each model that tested it.
func (n *nest) scored(of func(held) float64) (s scoredRows) {
	for _, h := range n.tested {
		s.add(h.row, of(h))
	}
	return s
}

// since trains on systems from before sinceYear and is tested on those since, each
// recording counting once.
func (n *nest) since(ctx context.Context) ([]models.Metric, error) {
	c := manifest.Since(n.train, sinceYear, n.opts.Seed)
	if len(n.usable([]manifest.Cell{c})) == 0 || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	benches := n.benches(len(recipes))
	chosen := n.choose(benches, c.Train, nil)
	b := benches[chosen]
	cal, err := n.calibrated(b, c.Train, nil)
	if err != nil {
		return nil, fmt.Errorf("train: systems since %d: %w", sinceYear, err)
	}
	f := b.fit(c.Train, nil)
	var clean, through scoredRows
	for _, i := range c.Test {
		s := b.scores(f, i).calibrated(cal)
		clean.add(i, s.copies[0])
		through.add(i, s.through)
	}
	once := slices.Repeat([]float64{1}, len(n.train))
	split := fmt.Sprintf("trained on systems of before %d, tested on those since; each recording counts once, voices of more than a tenth of the rows are left out; chosen before %d: %s", sinceYear, sinceYear, recipes[chosen].name)
	out := n.measureAll(clean, once, split)
	if n.through != nil {
		out = append(out, n.measureAll(through, once, split+", "+throughSplit)...)
	}
	return out, nil
}

// figure is one figure of scores of some rows.
type figure struct {
	name string
	of   func(s []float64, y []bool, w []float64, page []string) float64
}

var rankFigures = []figure{
	{"auc", func(s []float64, y []bool, w []float64, _ []string) float64 { return evaluate.WeightedAUC(s, y, w) }},
	{"eer", func(s []float64, y []bool, w []float64, _ []string) float64 { return evaluate.WeightedEER(s, y, w) }},
	{"within_source_auc", func(s []float64, y []bool, _ []float64, page []string) float64 { return stats.WithinAUC(s, y, page) }},
}

// logitFigures need calibrated logits.
var logitFigures = []figure{
	{"calibration_error", func(s []float64, y []bool, w []float64, _ []string) float64 {
		return evaluate.WeightedECE(probabilities(s), y, balanced(y, w), calibrationBins)
	}},
	{"found_at_half", func(s []float64, y []bool, w []float64, _ []string) float64 { return shareAbove(s, y, w, true) }},
	alarmFigures[0],
}

// alarmFigures need calibrated logits and no synthetic recordings.
var alarmFigures = []figure{
	{"false_alarms_at_half", func(s []float64, y []bool, w []float64, _ []string) float64 { return shareAbove(s, y, w, false) }},
}

// shareAbove is the share of one class with a logit of 0 or more.
func shareAbove(s []float64, y []bool, w []float64, class bool) float64 {
	var above, all float64
	for i, v := range s {
		if y[i] == class {
			all += w[i]
			if v >= 0 {
				above += w[i]
			}
		}
	}
	return above / all // 0/0 is NaN
}

func (n *nest) measureAll(s scoredRows, weight []float64, split string) []models.Metric {
	return n.measureBy(s, weight, split, slices.Concat(rankFigures, logitFigures))
}

func (n *nest) ranks(s scoredRows, weight []float64, split string) []models.Metric {
	return n.measureBy(s, weight, split, rankFigures)
}

// measureBy returns those of the figures that are defined, with their intervals.
func (n *nest) measureBy(s scoredRows, weight []float64, split string, figures []figure) []models.Metric {
	y, _, page := n.pick(s.index)
	w := divided(s.index, weight)
	var out []models.Metric
	for _, f := range figures {
		out = append(out, n.measured(s.index, f.name, split, func(index []int) float64 {
			var ss, ww []float64
			var yy []bool
			var pp []string
			for _, k := range index {
				ss, yy, ww, pp = append(ss, s.score[k]), append(yy, y[k]), append(ww, w[k]), append(pp, page[k])
			}
			return f.of(ss, yy, ww, pp)
		})...)
	}
	return out
}

// measured is a statistic of elements of rows, each the index of a training row, with its
// interval; none if it is not defined.
func (n *nest) measured(rows []int, name, split string, stat stats.Statistic) []models.Metric {
	y, cluster, different := make([]bool, len(rows)), make([]string, len(rows)), map[int]bool{}
	for k, i := range rows {
		different[i], cluster[k], y[k] = true, n.units[i], n.train[i].Positive
		if y[k] {
			cluster[k] += "\x00" + n.train[i].Family()
		}
	}
	value := stat(stats.Indices(len(rows)))
	ci := stats.BootstrapClusters(y, cluster, 0.95, stats.Resamples, n.opts.Seed, stat)
	if math.IsNaN(value) || math.IsNaN(ci.Low) {
		return nil
	}
	return []models.Metric{{
		Name: name, Value: stats.Decimals(value, 4), Low: stats.Decimals(min(ci.Low, value), 4), High: stats.Decimals(max(ci.High, value), 4),
		Interval: "95 %, bootstrap by source and decoder", Data: cmp.Or(n.opts.Data, "the manifest"), Split: split, N: len(different),
	}}
}

// losses are what the channels cost.
func (n *nest) losses() []models.Metric {
	all := n.scored(plainLogit)
	out := n.lost(all, n.scored(heardLogit), "nested, "+heardSplit)
	if n.through != nil {
		out = append(out, n.lost(all, n.scored(throughLogit), "nested, "+throughSplit)...)
	}
	return out
}

// lost is by how much the equal error rate of the same rows rises from one score to
// another, which other channels gave.
func (n *nest) lost(from, to scoredRows, split string) []models.Metric {
	w := divided(from.index, n.weight)
	return n.measured(from.index, "eer_lost", split, func(index []int) float64 {
		var before, after, ww []float64
		var y []bool
		for _, k := range index {
			before, after = append(before, from.score[k]), append(after, to.score[k])
			y, ww = append(y, n.train[from.index[k]].Positive), append(ww, w[k])
		}
		return evaluate.WeightedEER(after, y, ww) - evaluate.WeightedEER(before, y, ww)
	})
}

// group measures the AUC of the synthetic rows of each value of a key against all
// recordings of people, of values with at least rareFamily rows.
func (n *nest) group(s scoredRows, name string, of func(r *manifest.Row) string) []models.Metric {
	index := map[string]scoredRows{}
	var people scoredRows
	for k, i := range s.index {
		r := &n.train[i]
		if !r.Positive {
			people.index, people.score = append(people.index, i), append(people.score, s.score[k])
		} else if v := of(r); manifest.Known(v) && v[0] != 0 {
			g := index[v]
			g.index, g.score = append(g.index, i), append(g.score, s.score[k])
			index[v] = g
		}
	}
	var out []models.Metric
	for _, v := range slices.Sorted(maps.Keys(index)) {
		g := index[v]
		if len(g.index) < rareFamily {
			continue
		}
		both := scoredRows{slices.Concat(people.index, g.index), slices.Concat(people.score, g.score)}
		out = append(out, n.measureBy(both, n.weight, fmt.Sprintf("nested, %s %s, %d synthetic recordings", name, v, len(g.index)), rankFigures[:1])...)
	}
	return out
}

// languages measures the AUC within each language with at least leastOfKind rows of
// each class.
func (n *nest) languages(s scoredRows) []models.Metric {
	index := map[string]scoredRows{}
	class := map[string][2]int{}
	for k, i := range s.index {
		r := &n.train[i]
		g, c := index[r.Language], class[r.Language]
		g.index, g.score = append(g.index, i), append(g.score, s.score[k])
		c[stats.Indicator(r.Positive)]++
		index[r.Language], class[r.Language] = g, c
	}
	var out []models.Metric
	for _, l := range slices.Sorted(maps.Keys(index)) {
		if c := class[l]; manifest.Known(l) && min(c[0], c[1]) >= leastOfKind {
			out = append(out, n.measureBy(index[l], n.weight, "nested, language "+l, rankFigures[:1])...)
		}
	}
	return out
}
