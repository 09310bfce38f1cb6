// Package protocol trains and tests on the sessions of a corpus as papers about
// it do, and compares the voice with what it must beat.
package protocol

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/lab/evaluate"
	"github.com/voicescreen/voicescreen/lab/train"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/learn"
	"github.com/voicescreen/voicescreen/screen"
)

// A Trial is one labelled session of a corpus.
type Trial struct {
	Recording   *features.Recording // Features and Metadata are read
	Interviewer features.Vector     // the same of what the interviewer says; no schema if unknown
	Positive    bool
	Total       int // of the questionnaire
	HasTotal    bool
	Speaker     string
	Split       string // "train", or what else the session is for; "" if the corpus has no split
	Fold        int    // of the corpus's own folds, from 1; 0 if it has none
}

// A Tested is what came of one part of a corpus that was held out.
type Tested struct {
	Part     string // such as "dev", or "5 folds"
	N        int
	Positive int
	Systems  []System
}

// A System is what was tried, and how well it did. Probabilities count as
// positive from the threshold of equal error rates on the sessions that it was
// trained on.
type System struct {
	Name        string
	N           int // sessions that it was tested on: those whose interviewer is heard, or all
	AUC         float64
	Low, High   float64 // 95 % interval of the AUC, bootstrap over speakers
	F1          float64 // of the positive class
	F1Negative  float64
	UAR         float64 // mean of sensitivity and specificity
	Accuracy    float64
	Sensitivity float64
	Specificity float64
	Totals      evaluate.Totals // N is 0 where totals are not predicted or not known
}

const (
	// protocolPenalty is λ of the regressions of the protocol, as it is usual for
	// a hundred sessions and as many standardised features: ten times what
	// one observation weighs. Chosen, and the same for every corpus: at this
	// size a search would fit the test.
	protocolPenalty = 10

	// protocolFolds is how many folds a corpus without split is dealt into.
	protocolFolds = 10

	// protocolClip bounds standardised features, as in the shipped models.
	protocolClip = 3
)

// Run trains on what a corpus gives for training and tests on the rest, or
// on folds in which no speaker is on both sides: the corpus's own, or ten. It
// tries, on the same sessions,
//
//   - a logistic regression on the features of the voice, with a ridge
//     regression of the total,
//   - the prior updated with the labels by Learn, and the prior as it is,
//   - the same regressions on sex and age alone: what a voice must beat,
//   - the same regressions on the features of the interviewer, who is not ill:
//     what comes out of that is the interview's, not the person's.
//
// Sessions whose interviewer's turns are unknown are left out of the
// last. A system that cannot be had, because labels are too few or no
// interviewer is known, is left out as a whole.
func Run(ctx context.Context, prior *models.BayesFile, trials []Trial, seed uint64) ([]Tested, error) {
	p := &protocol{trials: trials, prior: prior, seed: seed}
	var out []Tested
	for _, part := range p.parts() {
		t, err := p.test(ctx, part)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

type protocol struct {
	trials []Trial
	prior  *models.BayesFile
	seed   uint64
}

// predicted is what a system says of the tested sessions, by their place among
// all; the others are NaN.
type predicted struct {
	score []float64
	call  []bool
	total []float64
}

func (p *protocol) newPredicted() *predicted {
	q := &predicted{make([]float64, len(p.trials)), make([]bool, len(p.trials)), make([]float64, len(p.trials))}
	for i := range q.score {
		q.score[i], q.total[i] = math.NaN(), math.NaN()
	}
	return q
}

// An attempt fills q for the test sessions of a fold; ok is false if it
// cannot.
type attempt func(ctx context.Context, f stats.Fold, q *predicted) (ok bool, err error)

func (p *protocol) test(ctx context.Context, part part) (Tested, error) {
	t := Tested{Part: part.name}
	for _, f := range part.folds {
		t.N += len(f.Test)
		for _, i := range f.Test {
			t.Positive += stats.Indicator(p.trials[i].Positive)
		}
	}
	for _, s := range []struct {
		name string
		try  attempt
	}{
		{"voice, regression", p.regression(func(t *Trial) features.Vector { return t.Recording.Features })},
		{"voice, prior and labels", p.learned},
		{"voice, prior alone", p.unlearned},
		{"sex and age alone", p.demographics},
		{"interviewer alone", p.regression(func(t *Trial) features.Vector { return t.Interviewer })},
	} {
		q, ok := p.newPredicted(), true
		for _, f := range part.folds {
			if err := ctx.Err(); err != nil {
				return t, err
			}
			good, err := s.try(ctx, f, q)
			if err != nil {
				return t, fmt.Errorf("protocol: %s: %w", s.name, err)
			}
			ok = ok && good
		}
		if of := p.measure(s.name, part, q); ok && of.N > 0 {
			t.Systems = append(t.Systems, of)
		}
	}
	return t, nil
}

// regression predicts by regressions on vectors of schema voice/1, the sessions
// that have one.
func (p *protocol) regression(of func(*Trial) features.Vector) attempt {
	return func(_ context.Context, f stats.Fold, q *predicted) (bool, error) {
		var vectors []features.Vector
		known := func(index []int) (have []int) {
			for _, i := range index {
				if of(&p.trials[i]).Schema != nil {
					have = append(have, i)
				}
			}
			return have
		}
		f = stats.Fold{Train: known(f.Train), Test: known(f.Test)}
		for _, i := range f.Train {
			vectors = append(vectors, of(&p.trials[i]))
		}
		d := train.NewDesign(features.VoiceSchema(), vectors, protocolClip)
		return p.regress(f, q, func(i int) []float64 { return d.Row(of(&p.trials[i])) })
	}
}

// demographics predicts by regressions on what is known without listening.
func (p *protocol) demographics(_ context.Context, f stats.Fold, q *predicted) (bool, error) {
	var known bool
	var age, n float64
	for _, i := range f.Train {
		m := p.trials[i].Recording.Metadata
		known = known || m.Gender != 0 || m.Age > 0
		if m.Age > 0 {
			age, n = age+float64(m.Age), n+1
		}
	}
	if !known {
		return false, nil
	}
	const decade = 10 // years: so that a unit is worth about what a standard deviation is
	return p.regress(f, q, func(i int) []float64 {
		m, x := p.trials[i].Recording.Metadata, make([]float64, 3)
		switch m.Gender {
		case screen.Female:
			x[0] = 1
		case screen.Male:
			x[0] = -1
		}
		if m.Age > 0 {
			x[1] = (float64(m.Age) - age/n) / decade
			x[2] = x[1] * x[1]
		}
		return x
	})
}

// regress fits both regressions on the training sessions of a fold.
func (p *protocol) regress(f stats.Fold, q *predicted, row func(i int) []float64) (bool, error) {
	var x [][]float64
	var y []bool
	var count [2]float64
	for _, i := range f.Train {
		x, y = append(x, row(i)), append(y, p.trials[i].Positive)
		count[stats.Indicator(p.trials[i].Positive)]++
	}
	if count[0] == 0 || count[1] == 0 || len(x[0]) == 0 {
		return false, nil
	}
	w := make([]float64, len(y))
	for k := range y {
		w[k] = float64(len(y)) / 2 / count[stats.Indicator(y[k])]
	}
	c, err := learn.Logistic(x, y, w, protocolPenalty)
	if err != nil {
		return false, err
	}
	p.call(f, q, func(i int) float64 { return c.Predict(row(i)) })
	p.ridge(f, q, row)
	return true, nil
}

// call scores the test sessions, and decides them by the threshold of equal
// error rates on the training sessions.
func (p *protocol) call(f stats.Fold, q *predicted, score func(i int) float64) {
	var s []float64
	var y []bool
	for _, i := range f.Train {
		s, y = append(s, score(i)), append(y, p.trials[i].Positive)
	}
	_, threshold := evaluate.EER(s, y)
	for _, i := range f.Test {
		q.score[i] = score(i)
		q.call[i] = q.score[i] >= threshold
	}
}

// ridge predicts totals by the regression (XᵀX + λI)β = Xᵀ(y − ȳ), where all
// training sessions have one. X is not centred: its columns nearly are.
func (p *protocol) ridge(f stats.Fold, q *predicted, row func(i int) []float64) {
	var mean float64
	for _, i := range f.Train {
		if !p.trials[i].HasTotal {
			return
		}
		mean += float64(p.trials[i].Total) / float64(len(f.Train))
	}
	n := len(row(f.Train[0]))
	a, b := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for j := range n {
		a.SetSym(j, j, protocolPenalty)
	}
	for _, i := range f.Train {
		x := mat.NewVecDense(n, row(i))
		a.SymRankOne(a, 1, x)
		b.AddScaledVec(b, float64(p.trials[i].Total)-mean, x)
	}
	var c mat.Cholesky
	if !c.Factorize(a) {
		return
	}
	var beta mat.VecDense
	if c.SolveVecTo(&beta, b) != nil {
		return
	}
	for _, i := range f.Test {
		q.total[i] = mean + mat.Dot(&beta, mat.NewVecDense(n, row(i)))
	}
}

// unlearned predicts by the prior.
func (p *protocol) unlearned(_ context.Context, f stats.Fold, q *predicted) (bool, error) {
	return p.bayes(p.prior, f, q)
}

func (p *protocol) bayes(file *models.BayesFile, f stats.Fold, q *predicted) (bool, error) {
	b, err := models.NewBayes(file)
	if err != nil {
		return false, err
	}
	p.call(f, q, func(i int) float64 { return learn.Probability(b, p.trials[i].Recording) })
	return true, nil
}

// learned predicts by the prior updated with the training sessions.
func (p *protocol) learned(ctx context.Context, f stats.Fold, q *predicted) (bool, error) {
	var examples []learn.Example
	for _, i := range f.Train {
		examples = append(examples, p.trials[i].Example(p.prior.Category))
	}
	former, err := models.NewBayes(p.prior)
	if err != nil {
		return false, err
	}
	l, err := learn.Learn(ctx, p.prior, former, examples, &learn.LearnOptions{Seed: p.seed})
	if err != nil {
		if errors.Is(err, learn.ErrFewLabels) {
			return false, nil
		}
		return false, err
	}
	return p.bayes(l.File, f, q)
}

// Example is the session as Learn takes it. The total of a PHQ-8 counts as one
// of PHQ-9, whose bands are the same (Kroenke et al. 2009); without a total the
// class counts as an interview's.
func (t *Trial) Example(task screen.Category) learn.Example {
	e := learn.Example{User: t.Speaker, Recording: t.Recording, Label: learn.InterviewLabel(t.Positive)}
	if t.HasTotal {
		kind := learn.PHQ9
		if task == screen.Anxiety {
			kind = learn.GAD7
		}
		e.Label = learn.TotalLabel(kind, t.Total)
	}
	return e
}

// measure compares the tested sessions with their labels. AUC is over pairs that were tested
// together: each fold has a model of its own (see [learn.HeldOut]).
func (p *protocol) measure(name string, part part, q *predicted) System {
	var score, truth, guess []float64
	var y []bool
	var class, called []int
	var speaker []string
	var fold []int
	for k, f := range part.folds {
		for _, i := range f.Test {
			t := &p.trials[i]
			if math.IsNaN(q.score[i]) {
				continue
			}
			score, y, speaker = append(score, q.score[i]), append(y, t.Positive), append(speaker, t.Speaker)
			fold = append(fold, k)
			class, called = append(class, stats.Indicator(t.Positive)), append(called, stats.Indicator(q.call[i]))
			if t.HasTotal && !math.IsNaN(q.total[i]) {
				truth, guess = append(truth, float64(t.Total)), append(guess, q.total[i])
			}
		}
	}
	ci := stats.BootstrapClusters(y, speaker, 0.95, stats.Resamples, p.seed, stats.WithinAUCOf(score, y, fold))
	c := evaluate.NewClasses(class, called, 2)
	tn, fp, fn, tp := float64(c.Confusion[0][0]), float64(c.Confusion[0][1]), float64(c.Confusion[1][0]), float64(c.Confusion[1][1])
	s := System{
		Name: name, N: len(y), AUC: stats.WithinAUC(score, y, fold), Low: ci.Low, High: ci.High, Accuracy: c.Accuracy,
		F1: 2 * tp / (2*tp + fp + fn), F1Negative: 2 * tn / (2*tn + fp + fn),
		Sensitivity: tp / (tp + fn), Specificity: tn / (tn + fp), Totals: evaluate.NewTotals(truth, guess),
	}
	s.UAR = (s.Sensitivity + s.Specificity) / 2
	return s
}
