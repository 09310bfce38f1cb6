package train

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/lab/evaluate"
	"github.com/voicescreen/voicescreen/lab/manifest"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/learn"
	"github.com/voicescreen/voicescreen/screen"
)

// file fits, cross-validates, calibrates and measures.
func (t *trainer) file(ctx context.Context) (*models.File, error) {
	n, err := t.nest(ctx)
	if err != nil {
		return nil, err
	}
	final, err := t.fitRows(stats.Indices(len(t.train)))
	if err != nil {
		return nil, err
	}
	clean, heard, err := t.crossValidate(ctx)
	if err != nil {
		return nil, err
	}
	known, on := &heldOut{clean, rowWeights(t.train, stats.Indices(len(t.train))), classes(t.train)}, "cross-validated scores of the training rows"
	calibrate := known.platt
	if n != nil {
		known = n.known()
		calibrate, on = known.cautious, "nested held-out scores of the training rows, as recorded, through a random channel, a codec and Opus; bent until one half has at most 10 % false alarms among them"
	}
	cal, err := calibrate()
	if err != nil {
		return nil, err
	}
	if cal.A <= 0 {
		return nil, fmt.Errorf("%w: the scores say nothing about held-out rows", learn.ErrFit)
	}
	deviation, err := t.spread(ctx)
	if err != nil {
		return nil, err
	}
	o, kind, bent := t.opts, "Logistic regression.", ""
	if final.others != nil {
		kind = "Four logistic regressions, three of them of ways of changing pitch or tempo, of which any makes the score high."
	}
	if n != nil {
		bent = " It is bent so that one half has few false alarms."
	}
	f := &models.File{
		Format: models.FileFormat, Name: cmp.Or(o.Name, "voicescreen-"+t.task.String()), Version: cmp.Or(o.Version, "1.0.0"),
		Category: t.task, Schema: t.schema.Name(),
		Description: kind + " The probability supposes that half of the recordings are positive." + bent + " A screening signal, not proof.",
		Link:        models.Link{Kind: models.Logit}, Intercept: stats.Significant(final.linear.Intercept, 5), LogitSD: stats.Significant(deviation, 5), Clip: clip,
		Calibration: &models.Calibration{A: stats.Significant(cal.A, 5), B: stats.Significant(cal.B, 5), Half: stats.Significant(cal.Half, 5)},
		Prior:       0.5, IsCalibrated: true, CalibratedOn: cmp.Or(o.Data, "the manifest") + "; " + on,
		Licence: cmp.Or(o.Licence, "MIT"), TrainedOn: t.origins(), Covariates: final.covariates, Features: final.features,
	}
	final.weigh(f)
	if t.task == screen.Deepfake {
		f.Outside = stats.Significant(t.outside, 5)
	}
	f.Indeterminate = known.undecidedBand(cal)
	if n != nil {
		if f.Metrics, err = n.figures(ctx); err != nil {
			return nil, err
		}
	}
	f.Metrics = append(f.Metrics, t.metrics(clean, heard, final)...)
	return f, f.Check()
}

// nest runs the nested cross-validation, if there is to be one, and sets the recipe
// to what it chose.
func (t *trainer) nest(ctx context.Context) (*nest, error) {
	if !t.nested {
		return nil, nil
	}
	n := newNest(t)
	if err := n.settle(ctx); err != nil {
		return nil, err
	}
	t.recipe = &recipes[n.chosen]
	return n, nil
}

func classes(rows []manifest.Row) []bool {
	y := make([]bool, len(rows))
	for i := range rows {
		y[i] = rows[i].Positive
	}
	return y
}

// crossValidate scores each training row by a model that saw neither its
// source nor its system nor its speaker: as it is, and through its first
// channel if there is one.
//
// It sets t.outside to what all but one in a hundred of those recordings keep.
func (t *trainer) crossValidate(ctx context.Context) (clean, heard []float64, err error) {
	var outside []float64
	clean = make([]float64, len(t.train))
	if len(t.copies) > 0 {
		heard = make([]float64, len(t.train))
	}
	for _, fold := range t.folds {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		m, err := t.fitRows(fold.Train)
		if err != nil {
			return nil, nil, fmt.Errorf("train: cross-validation: %w", err)
		}
		for _, i := range fold.Test {
			clean[i] = m.score(t.vectors[i][0])
			outside = append(outside, m.outside(t.vectors[i][0]))
			if heard != nil {
				heard[i] = m.score(t.vectors[i][1])
				outside = append(outside, m.outside(t.vectors[i][1]))
			}
		}
		t.advance()
	}
	slices.Sort(outside)
	t.outside = dsp.PercentileSorted(outside, 100*(1-unfamiliar))
	return clean, heard, nil
}

// undecidedBand holds a tenth of the balanced cross-validated recordings on
// either side of the threshold of equal error rates, in probability.
func (h *heldOut) undecidedBand(c models.Calibration) models.Band {
	_, threshold := evaluate.EER(h.score, h.positive)
	order := stats.Indices(len(h.score))
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(h.score[i], h.score[j]) })
	var total, below float64
	for i, s := range h.score {
		total += h.weight[i]
		if s < threshold {
			below += h.weight[i]
		}
	}
	at := func(share float64) float64 {
		var sum float64
		for _, i := range order {
			if sum += h.weight[i]; sum >= share*total {
				return dsp.Logistic(c.Of(h.score[i]))
			}
		}
		return dsp.Logistic(c.Of(threshold))
	}
	return models.Band{Low: stats.Significant(at(below/total-learn.Undecided/2), 5), High: stats.Significant(at(below/total+learn.Undecided/2), 5)}
}

// origins says what the model was trained on, licence by licence.
func (t *trainer) origins() []models.Data {
	count := map[string]int{}
	for _, r := range t.train {
		count[cmp.Or(strings.TrimSpace(r.Licence), "not stated")]++
	}
	var names []string
	for l := range count {
		names = append(names, l)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(count[b]-count[a], cmp.Compare(a, b)) })
	out := make([]models.Data, len(names))
	for i, l := range names {
		out[i] = models.Data{Data: cmp.Or(t.opts.Data, "the manifest"), Rows: count[l], Licence: l}
	}
	return out
}

// metrics measures the cross-validated scores and those of the held-out rows.
func (t *trainer) metrics(clean, heard []float64, final *predictor) []models.Metric {
	folds := fmt.Sprintf("cross-validated, %d folds by source, system and speaker together", len(t.folds))
	m := t.measure(t.train, clean, folds)
	if heard != nil {
		m = append(m, t.measure(t.train, heard, folds+", each recording through one random channel")...)
	}
	m = append(m, t.byKind(clean, folds)...)
	uses := map[string][]int{}
	for i, r := range t.held {
		uses[r.Use] = append(uses[r.Use], i)
	}
	var names []string
	for u := range uses {
		names = append(names, u)
	}
	slices.Sort(names)
	for _, u := range names {
		var rows []manifest.Row
		var scores []float64
		for _, i := range uses[u] {
			rows = append(rows, t.held[i])
			scores = append(scores, final.score(t.heldVectors[i]))
		}
		m = append(m, t.measure(rows, scores, "rows with use "+u+", not trained on; sources, systems and speakers may recur")...)
	}
	return m
}

// leastOfKind is how many recordings a kind must have to be measured. Chosen.
const leastOfKind = 20

// byKind measures the AUC of each kind of synthesis against all recordings that
// are not positive, if the manifest names kinds.
func (t *trainer) byKind(scores []float64, split string) []models.Metric {
	index := map[string][]int{}
	var negative []int
	for i, r := range t.train {
		switch {
		case !r.Positive:
			negative = append(negative, i)
		case manifest.Known(r.Kind):
			index[r.Kind] = append(index[r.Kind], i)
		}
	}
	var out []models.Metric
	for _, kind := range slices.Sorted(maps.Keys(index)) {
		if len(index[kind]) < leastOfKind {
			continue
		}
		var rows []manifest.Row
		var of []float64
		for _, i := range slices.Concat(negative, index[kind]) {
			rows, of = append(rows, t.train[i]), append(of, scores[i])
		}
		for _, m := range t.measure(rows, of, split+", kind "+kind) {
			if m.Name == "auc" {
				out = append(out, m)
			}
		}
	}
	return out
}

// measure returns AUC, equal error rate and within-source AUC with their
// intervals, those of them that are defined. A row of unknown source is of one
// with no other.
func (t *trainer) measure(rows []manifest.Row, scores []float64, split string) []models.Metric {
	y := classes(rows)
	source, cluster := make([]string, len(rows)), make([]string, len(rows))
	for i := range rows {
		source[i], cluster[i] = cmp.Or(rows[i].Origin(), "\x00"+strconv.Itoa(i)), rows[i].Cluster()
	}
	by := "speaker"
	if slices.ContainsFunc(rows, func(r manifest.Row) bool { return manifest.Known(r.Source) || manifest.Known(r.System) }) {
		by = "source and system"
	}
	rate, _ := evaluate.EER(scores, y)
	var out []models.Metric
	for _, m := range []struct {
		name  string
		value float64
		stat  stats.Statistic
	}{
		{"auc", stats.AUC(scores, y), stats.AUCOf(scores, y)},
		{"eer", rate, evaluate.EEROf(scores, y)},
		{"within_source_auc", stats.WithinAUC(scores, y, source), stats.WithinAUCOf(scores, y, source)},
	} {
		ci := stats.BootstrapClusters(y, cluster, 0.95, stats.Resamples, t.opts.Seed, m.stat)
		if math.IsNaN(m.value) || math.IsNaN(ci.Low) {
			continue
		}
		out = append(out, models.Metric{
			Name: m.name, Value: stats.Decimals(m.value, 4), Low: stats.Decimals(min(ci.Low, m.value), 4), High: stats.Decimals(max(ci.High, m.value), 4),
			Interval: "95 %, bootstrap by " + by, Data: cmp.Or(t.opts.Data, "the manifest"), Split: split, N: len(rows),
		})
	}
	return out
}
