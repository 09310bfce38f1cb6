// Package train fits models to manifests of labelled recordings: a logistic
// regression, with figures from cross-validation.
//
// It reads no audio: the caller decodes the recordings. Everything is
// deterministic, from a seed where chance is needed.
package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"math/rand/v2"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/features/spoof"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/lab/augment"
	"github.com/voicescreen/voicescreen/lab/manifest"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/learn"
	"github.com/voicescreen/voicescreen/screen"
)

// Options are the settings of [Fit]. Zero fields mean the default, but for
// Decode.
type Options struct {
	// Decode returns the mono samples and the rate in Hz of the recording of
	// a row. It is called from several goroutines. Required.
	Decode func(path string) (samples []float64, rate int, err error)

	// Through is Decode of the same recording after a channel that another program made,
	// such as a codec. If it is given, nested figures of these stand beside the others;
	// nothing is trained or chosen by them.
	Through func(path string) (samples []float64, rate int, err error)

	// Progress is called after each step: a recording read, then a model fitted. It is called from one goroutine at a time, and may be nil.
	Progress func(done, total int)
	Name     string // of the model; default "voicescreen-" and the task
	Version  string // default "1.0.0"
	Licence  string // of the weights; default "MIT"
	Data     string // what the recordings are, in words; default "the manifest"
	Seed     uint64 // of channels, folds and bootstraps
	Workers  int    // goroutines; default GOMAXPROCS

	// Nested measures and calibrates the deepfake model by nested
	// cross-validation, and chooses its recipe by the inner cells; see [Nested]. The
	// probability is bent until one half has at most 10 % false alarms on
	// held-out recordings of people, half of them through a random channel.
	Nested bool
}

const (
	// clip is how many standard deviations of a feature count at most, as in
	// the priors: a value further out is rather an error of the measurement.
	clip = 3
	// penalty is λ of the regression. By cross-validation on the deepfake
	// data, from 10 to 300 nothing much changes: AUC 0.812 at 50 and 0.810 at
	// 150, through random channels 0.739 and 0.732 (two copies).
	penalty = 50
	// numFolds is how many folds the cross-validation has at most.
	numFolds = 10
	// spoofShare is the share that the synthetic voices made of the bona fide
	// recordings of the deepfake task have in the weight of the class. By
	// cross-validation (linear, spoof/2) with a share of 0, 0.05, 0.1 and 0.2: AUC
	// 0.902, 0.904, 0.904, 0.903, EER 16.8, 16.8, 15.5, 15.8 %; through random channels
	// 0.849, 0.846, 0.845, 0.838; bona fide clips moved in pitch and formants by other
	// programs, within their sources, 0.64, 0.68, 0.71, 0.75. With errors of bands 0.1 and
	// 0.15 read the same within 0.003, with spoof/7 and with spoof/8.
	spoofShare = 0.1
	// refits is how many cluster bootstrap refits give the standard error of
	// the linear predictor, to a quarter of itself.
	refits = 10
)

// copies are what each training recording of the deepfake task passes through, besides
// as it is: a random channel, which the figures through a channel hear too, a codec
// of speech, Opus and another random channel, in this order: see calibrationCopies. What
// each of them gains is in docs/DEEPFAKE-TRIALS.md.
var copies = []func(x []float64, rate int, rng *rand.Rand) []float64{augment.Channel, augment.Codec, augment.Opus, augment.Channel}

// Fit fits a model to the rows of a manifest and returns its file, with its
// measured figures: a logistic regression. Rows with use "train" or "" are
// trained on; rows with any other use are scored by the finished model and
// reported apart. The deepfake model is fitted on schema spoof/10 and on each
// training recording also through two random channels, a codec and Opus and, if it is bona
// fide, on two synthetic voices made of it. It has three further regressions that tell the
// recordings of people from voices made of them by changing pitch or tempo in a way each,
// see [models.Predictor]. Depression and anxiety are fitted on schema voice/1.
//
// Figures named "cross-validated" come from folds in which no source, system
// or speaker is on both sides; see [Folds]. The probability is calibrated by
// Platt's method on the scores of those folds, with the classes balanced: it
// supposes that half of the recordings are positive. Equal rows, options and
// recordings give an equal file.
//
// A recording that cannot be read ends the training with its error. ctx stops
// it between recordings and between fits.
func Fit(ctx context.Context, task screen.Category, rows []manifest.Row, opts *Options) (*models.File, error) {
	t, err := newTrainer(task, rows, opts)
	if err != nil {
		return nil, err
	}
	if t.nested = opts.Nested; t.nested {
		if task != screen.Deepfake {
			return nil, errors.New("train: Options.Nested is for the deepfake task")
		}
		if err := nestable(t.train); err != nil {
			return nil, err
		}
	}
	t.folds = manifest.Folds(t.train, numFolds, opts.Seed)
	if err := t.read(ctx); err != nil {
		return nil, err
	}
	return t.file(ctx)
}

// newTrainer sorts the rows by use.
func newTrainer(task screen.Category, rows []manifest.Row, opts *Options) (*trainer, error) {
	if opts == nil || opts.Decode == nil {
		return nil, errors.New("train: Fit needs Options.Decode")
	}
	t := &trainer{task: task, opts: *opts, schema: features.VoiceSchema(), recipe: &recipe{penalty: penalty}}
	if task == screen.Deepfake {
		t.schema, t.copies = spoof.Schema(), copies
	}
	for _, r := range rows {
		if r.Use == "" || r.Use == "train" {
			t.train = append(t.train, r)
		} else {
			t.held = append(t.held, r)
		}
	}
	if len(t.train) == 0 {
		return nil, fmt.Errorf("%w: no row is for training", manifest.ErrInvalid)
	}
	return t, nil
}

// trainer is one call of Fit.
type trainer struct {
	task   screen.Category
	opts   Options
	schema *features.Schema
	copies []func(x []float64, rate int, rng *rand.Rand) []float64 // what each recording passes through, besides as it is
	nested bool
	recipe *recipe // of the model

	train, held []manifest.Row
	folds       []stats.Fold
	vectors     [][][]features.Vector // of each training row: as it is, then its copies; of each of them the segments
	made        [][]madeSpoof         // of each training row: the spoofs made of it
	manipulated [][]madeSpoof         // likewise, of the deepfake task: its pitch or tempo changed
	heldVectors [][]features.Vector
	through     [][]features.Vector // of each training row by Options.Through, nil without it
	outside     float64             // see models.File

	done int // steps of the progress; see advance
}

// advance reports one more step: a row read, a fold or a refit.
func (t *trainer) advance() {
	t.done++
	if t.opts.Progress != nil {
		t.opts.Progress(t.done, t.steps())
	}
}

// steps is how often advance will be called.
func (t *trainer) steps() int {
	n := len(t.train) + len(t.held)
	if len(t.folds) > 0 { // a model is fitted
		n += len(t.folds) + refits
	}
	if t.nested {
		n += nestedSteps
	}
	return n
}

func (t *trainer) workers() int {
	if t.opts.Workers > 0 {
		return t.opts.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// fitRows fits the training rows with the given indices, which may repeat.
func (t *trainer) fitRows(index []int) (*predictor, error) {
	m := &predictor{Design: t.weighed(t.conditioned(t.design(index, t.recipe), index), t.recipe, index)}
	if len(m.features) == 0 {
		return nil, fmt.Errorf("%w: no feature varies", learn.ErrFit)
	}
	x, y, w := t.examples(m, index, nil)
	var err error
	if m.linear, err = learn.Logistic(x, y, w, t.recipe.penalty); err != nil {
		return nil, err
	}
	for _, kind := range manipulations {
		x, y, w = t.manipulatedExamples(m, index, kind)
		if len(x) == 0 {
			continue
		}
		c, err := learn.Logistic(x, y, w, penalty)
		if err != nil {
			return nil, err
		}
		m.others = append(m.others, kind.rarely(c))
	}
	return m, nil
}

// design is that of the training rows with the given indices, of the features that
// the recipe takes.
func (t *trainer) design(index []int, r *recipe) *Design {
	var vectors []features.Vector
	for _, i := range index {
		for _, segments := range t.vectors[i] {
			vectors = append(vectors, segments...)
		}
	}
	d := NewDesign(t.schema, vectors, clip)
	d.split()
	part := &Design{clip: d.clip, covariates: d.covariates, given: d.given}
	for k, f := range d.features {
		if r.takes(f.Name) {
			part.features, part.columns = append(part.features, f), append(part.columns, d.columns[k])
		}
	}
	return part
}

// examples returns the designs, classes and weights of the training rows with
// the given indices, of all their copies and of the spoofs made of them but for those
// that imitate a decoder that is tested.
func (t *trainer) examples(m *predictor, index []int, tested decoderSet) (x [][]float64, y []bool, w []float64) {
	weights := rowWeights(t.train, index)
	var e exampleSet
	var positive, made float64
	for k, i := range index {
		if t.train[i].Positive {
			positive += weights[k]
		}
		made += float64(len(t.heardFrom(i, tested)))
	}
	share := 0.0
	if made > 0 {
		share = spoofShare
	}
	for k, i := range index {
		weight := weights[k] / float64(len(t.vectors[i]))
		if t.train[i].Positive {
			weight *= 1 - share
		}
		for _, segments := range t.vectors[i] {
			e.add(m, segments, t.train[i].Positive, weight)
		}
		for _, v := range t.heardFrom(i, tested) {
			e.add(m, v.segments, true, share*positive/made)
		}
	}
	return e.x, e.y, e.w
}

// An exampleSet is what a regression is fitted to.
type exampleSet struct {
	x [][]float64
	y []bool
	w []float64
}

// add adds a recording of the given weight, which its segments share, by the design of m.
func (e *exampleSet) add(m *predictor, segments []features.Vector, positive bool, weight float64) {
	for _, v := range segments {
		e.x = append(e.x, m.Row(v))
		e.y = append(e.y, positive)
		e.w = append(e.w, weight/float64(len(segments)))
	}
}

// spread is the standard error of the linear predictor: the root mean square,
// over the training rows, of its standard deviation over refits on cluster
// bootstraps.
func (t *trainer) spread(ctx context.Context) (float64, error) {
	clusters := map[string][]int{}
	var keys [2][]string // of each class, from which as many are drawn as it has
	for i := range t.train {
		key := t.train[i].Cluster()
		if clusters[key] == nil {
			class := stats.Indicator(t.train[i].Positive)
			keys[class] = append(keys[class], key)
		}
		clusters[key] = append(clusters[key], i)
	}
	rng := rand.New(rand.NewPCG(t.opts.Seed, 1))
	scores := make([][]float64, len(t.train)) // of each row, by the refits
	for range refits {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		var index []int
		for _, class := range keys {
			for range class {
				index = append(index, clusters[class[rng.IntN(len(class))]]...)
			}
		}
		slices.Sort(index)
		m, err := t.fitRows(index)
		if err != nil {
			return 0, err
		}
		for i := range t.train {
			scores[i] = append(scores[i], m.score(t.vectors[i][0]))
		}
		t.advance()
	}
	var variance float64
	for _, s := range scores {
		sd := dsp.SD(s)
		variance += sd * sd
	}
	return math.Sqrt(variance / float64(len(scores))), nil
}
