package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/lab/evaluate"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// Options configures New. Zero fields mean the default.
type Options struct {
	Gated     bool    // refused recordings are counted and left out of every figure; else they are in
	Threshold float64 // probability from which a recording counts as positive without the band; default 0.5, for models with classes the class
	Resamples int     // of each bootstrap; default stats.Resamples
	Seed      uint64  // of the bootstraps: equal seeds give equal intervals
}

// Report is how well a model did. See New.
type Report struct {
	Task         screen.Category `json:"task"`
	Model        string          `json:"model"`
	Version      string          `json:"version"`
	IsCalibrated bool            `json:"is_calibrated"`
	Rows         int             `json:"recordings"` // behind the figures
	Positive     int             `json:"positives"`
	Training     int             `json:"training_recordings,omitempty"` // for training, on which figures are too good
	Gated        bool            `json:"gate"`
	Refused      map[string]int  `json:"refused,omitempty"` // by the gate, reason by reason
	Resamples    int             `json:"resamples"`
	Clustered    bool            `json:"clustered"` // whether any cluster is known
	Threshold    stats.Number    `json:"threshold"` // of Single; null if the class decides
	EERThreshold stats.Number    `json:"eer_threshold"`

	Figures     []Figure      `json:"figures"`
	Single      Rule          `json:"single_threshold"`
	Band        Rule          `json:"indeterminate_band"`
	Ordinal     *Ordinal      `json:"ordinal,omitempty"`
	Reliability []Bin         `json:"reliability"`
	Kinds       []Detection   `json:"by_kind,omitempty"`
	Systems     []Detection   `json:"by_system,omitempty"`
	FalseAlarms []FalseAlarms `json:"false_alarms_by_source,omitempty"`
	Groups      []Group       `json:"groups,omitempty"`
	Against     *Comparison   `json:"against,omitempty"` // see Compare

	scores   []float64 // for the plots
	positive []bool
	clusters []string // of each row; one of its own where none is known
}

// Figure is a figure of all recordings and its 95 % intervals.
type Figure struct {
	Name       string       `json:"name"`
	Value      stats.Number `json:"value"`
	Recordings Interval     `json:"interval_by_recording"`
	Clusters   *Interval    `json:"interval_by_cluster,omitempty"` // nil if no cluster is known
}

// Interval is an interval in a Report.
type Interval struct {
	Low  stats.Number `json:"low"`
	High stats.Number `json:"high"`
}

// Share is a share in a Report.
type Share struct {
	K        int          `json:"k"`
	N        int          `json:"n"`
	Value    stats.Number `json:"value"`
	Interval              // Wilson's
}

// Rule is how decisions meet the labels.
type Rule struct {
	Sensitivity Share `json:"sensitivity"`
	Specificity Share `json:"specificity"`
	PPV         Share `json:"ppv"`
	NPV         Share `json:"npv"`
	Undecided   Share `json:"undecided"`
}

// Ordinal is how the classes of the recordings whose true class is known meet it.
type Ordinal struct {
	Names     []string     `json:"classes"`
	Confusion [][]int      `json:"confusion"` // [true][predicted]
	N         int          `json:"recordings"`
	Accuracy  stats.Number `json:"accuracy"`
	MAE       stats.Number `json:"mae"`
	MacroF1   stats.Number `json:"macro_f1"`
	Kappa     stats.Number `json:"quadratic_weighted_kappa"`
}

// Bin is a bin of the reliability table.
type Bin struct {
	Low         stats.Number `json:"low"`
	High        stats.Number `json:"high"`
	Probability stats.Number `json:"mean_probability"`
	Positive    Share        `json:"positive"`
}

// New measures the rows, which it does not change. Model says what scored them.
// A figure that is not defined, as where all rows are of one class, is NaN. A
// row whose probability is NaN leaves those figures undefined that order the
// scores, and is undecided.
func New(task screen.Category, model models.Info, rows []Row, o Options) *Report {
	r := &Report{
		Task: task, Model: model.Name, Version: model.Version, IsCalibrated: model.Calibrated,
		Gated: o.Gated, Resamples: cmp.Or(o.Resamples, stats.Resamples), Refused: map[string]int{},
	}
	for _, x := range rows {
		if o.Gated && x.Refused != "" {
			r.Refused[x.Refused]++
		}
	}
	rows = kept(rows, o)
	r.Rows = len(rows)
	for i, x := range rows {
		r.scores = append(r.scores, x.Score.Probability)
		r.clusters = append(r.clusters, cmp.Or(x.Cluster, "\x00"+strconv.Itoa(i)))
		r.positive = append(r.positive, x.Positive)
		if x.Positive {
			r.Positive++
		}
		if x.Train {
			r.Training++
		}
		r.Clustered = r.Clustered || x.Cluster != ""
	}
	r.Figures = r.figures(rows, o.Seed)
	_, eer := evaluate.EER(r.scores, r.positive)
	r.EERThreshold = stats.Number(eer)
	called := r.single(rows, o.Threshold)
	r.Single = newRule(evaluate.Single(called, r.positive, 1))
	r.Band = newRule(evaluate.Band(banded(rows), r.positive, 0, 0))
	r.Ordinal = newOrdinal(task, rows)
	if !slices.ContainsFunc(r.scores, math.IsNaN) {
		for _, b := range stats.Reliability(r.scores, r.positive, reliabilityBins) {
			r.Reliability = append(r.Reliability, Bin{stats.Number(b.Low), stats.Number(b.High), stats.Number(b.Probability), newShare(positivesOf(b))})
		}
	}
	r.synthesis(rows, called)
	r.groups(rows, called, o.Seed)
	return r
}

// reliabilityBins is how many bins the expected calibration error and the
// reliability table have: the usual ten.
const reliabilityBins = 10

func positivesOf(b stats.Bin) evaluate.Share {
	if b.N == 0 {
		return evaluate.NewShare(0, 0)
	}
	return evaluate.NewShare(int(math.Round(b.Positive*float64(b.N))), b.N)
}

// single returns 1 for what counts as positive without the band, 0 for what
// does not: by the threshold, or where none is given by the class of the
// models that have classes, else from one half.
func (r *Report) single(rows []Row, threshold float64) []float64 {
	var first screen.Severity // the first class that is positive
	switch r.Task {
	case screen.Depression:
		first = screen.MildToModerate // PHQ-9 ≥ 10
	case screen.Anxiety:
		first = screen.ModeratelySevere // GAD-7 ≥ 10
	}
	byClass := threshold == 0 && first > 0 && !slices.ContainsFunc(rows, func(x Row) bool { return x.Score.Severity == 0 })
	threshold = cmp.Or(threshold, 0.5)
	r.Threshold = stats.Number(threshold)
	if byClass {
		r.Threshold = stats.Number(math.NaN())
	}
	called := make([]float64, len(rows))
	for i, x := range rows {
		switch {
		case byClass && x.Score.Severity >= first, !byClass && x.Score.Probability >= threshold:
			called[i] = 1
		case math.IsNaN(x.Score.Probability):
			called[i] = math.NaN()
		}
	}
	return called
}

// banded returns −1, 0 or 1 for negative, undecided and positive.
func banded(rows []Row) []float64 {
	out := make([]float64, len(rows))
	for i, x := range rows {
		switch x.Score.Decision {
		case screen.Negative:
			out[i] = -1
		case screen.Positive:
			out[i] = 1
		}
	}
	return out
}

func (r *Report) figures(rows []Row, seed uint64) []Figure {
	s, y := r.scores, r.positive
	sources := make([]string, len(rows))
	within := false
	for i, x := range rows {
		sources[i] = cmp.Or(x.Source, "\x00"+strconv.Itoa(i)) // what is unknown is not the same
		within = within || x.Source != ""
	}
	figure := func(name string, value float64, stat stats.Statistic) {
		f := Figure{Name: name, Value: stats.Number(value), Recordings: newInterval(stats.Bootstrap(y, level, r.Resamples, seed, stat))}
		if r.Clustered {
			i := newInterval(stats.BootstrapClusters(y, r.clusters, level, r.Resamples, seed, stat))
			f.Clusters = &i
		}
		r.Figures = append(r.Figures, f)
	}
	rate, _ := evaluate.EER(s, y)
	figure("eer", rate, evaluate.EEROf(s, y))
	figure("auc", stats.AUC(s, y), stats.AUCOf(s, y))
	if within {
		figure("within_source_auc", stats.WithinAUC(s, y, sources), stats.WithinAUCOf(s, y, sources))
	}
	if r.Task == screen.Deepfake {
		figure("min_dcf", evaluate.MinDCF(s, y, evaluate.SpoofingCost), evaluate.MinDCFOf(s, y, evaluate.SpoofingCost))
	}
	figure("brier", stats.Brier(s, y), stats.BrierOf(s, y))
	if !slices.ContainsFunc(s, math.IsNaN) {
		figure("ece", stats.ECE(s, y, reliabilityBins), stats.ECEOf(s, y, reliabilityBins))
	}
	return r.Figures
}

// level is that of the intervals.
const level = 0.95

func newInterval(i stats.Interval) Interval {
	return Interval{stats.Number(i.Low), stats.Number(i.High)}
}

func newShare(s evaluate.Share) Share {
	return Share{s.K, s.N, stats.Number(s.Value), Interval{stats.Number(s.Low), stats.Number(s.High)}}
}

func newRule(d evaluate.Decisions) Rule {
	return Rule{newShare(d.Sensitivity), newShare(d.Specificity), newShare(d.PPV), newShare(d.NPV), newShare(d.Undecided)}
}

func newOrdinal(task screen.Category, rows []Row) *Ordinal {
	names := make([]string, len(task.Severities()))
	for i, s := range task.Severities() {
		names[i] = s.String()
	}
	var truth, predicted []int
	for _, x := range rows {
		if x.Class > 0 && x.Score.Severity > 0 {
			truth, predicted = append(truth, x.Class.Rank()-1), append(predicted, x.Score.Severity.Rank()-1)
		}
	}
	if len(truth) == 0 {
		return nil
	}
	c := evaluate.NewClasses(truth, predicted, len(names))
	return &Ordinal{names, c.Confusion, c.N, stats.Number(c.Accuracy), stats.Number(c.MAE), stats.Number(c.MacroF1), stats.Number(c.Kappa)}
}

// Figure returns the figure of that name; ok says whether there is one.
func (r *Report) Figure(name string) (f Figure, ok bool) {
	for _, f := range r.Figures {
		if f.Name == name {
			return f, true
		}
	}
	return Figure{}, false
}
