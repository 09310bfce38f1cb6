package report

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/lab/evaluate"
	"github.com/voicescreen/voicescreen/models"
)

// ErrCompare is wrapped by the errors about rows on which two models cannot be
// compared. The message says why.
var ErrCompare = errors.New("report: nothing to compare the models on")

// Comparison is how a second model does on the recordings that both models scored.
type Comparison struct {
	Model        string     `json:"model"`
	Version      string     `json:"version"`
	IsCalibrated bool       `json:"is_calibrated"`
	Rows         int        `json:"recordings"` // with a score of both models
	Positive     int        `json:"positives"`
	Figures      []Compared `json:"figures"`
	DeLong       Test       `json:"delong"`
}

// Compared is a figure of both models, and the intervals of the difference by a paired
// bootstrap: each resample draws the recordings of both models together.
type Compared struct {
	Name       string       `json:"name"`
	Value      stats.Number `json:"value"`      // of the model of the report
	Other      stats.Number `json:"other"`      // of the second model
	Difference stats.Number `json:"difference"` // Value − Other
	Recordings Interval     `json:"interval_by_recording"`
	Clusters   *Interval    `json:"interval_by_cluster,omitempty"` // nil if no cluster is known
}

// Test is DeLong's test of the difference of two areas under the ROC curve. It counts
// recordings as independent.
type Test struct {
	Difference stats.Number `json:"difference"`
	SE         stats.Number `json:"standard_error"`
	Z          stats.Number `json:"z"`
	P          stats.Number `json:"p"` // two-sided
	Interval
}

// Compare adds a Comparison with a second model, whose scores are Row.Other. Rows and o
// are those of New. The error wraps ErrCompare if no recording has a score of both
// models, or if all that have are of one class.
func (r *Report) Compare(other models.Info, rows []Row, o Options) error {
	c := &Comparison{Model: other.Name, Version: other.Version, IsCalibrated: other.Calibrated}
	var a, b []float64
	var positive []bool
	var clusters []string
	for i, x := range kept(rows, o) {
		p, q := x.Score.Probability, x.Other.Probability
		if math.IsNaN(p) || math.IsNaN(q) {
			continue
		}
		a, b, positive = append(a, p), append(b, q), append(positive, x.Positive)
		clusters = append(clusters, r.clusters[i])
		c.Positive += stats.Indicator(x.Positive)
	}
	switch c.Rows = len(a); {
	case c.Rows == 0:
		return fmt.Errorf("%w: no recording has a score of both", ErrCompare)
	case c.Positive == 0, c.Positive == c.Rows:
		return fmt.Errorf("%w: all %d recordings with a score of both are of one class", ErrCompare, c.Rows)
	}
	add := func(name string, one, two stats.Statistic) {
		all := stats.Indices(len(a))
		f := Compared{Name: name, Value: stats.Number(one(all)), Other: stats.Number(two(all))}
		f.Difference = f.Value - f.Other
		paired := func(index []int) float64 { return one(index) - two(index) }
		f.Recordings = newInterval(stats.Bootstrap(positive, level, r.Resamples, o.Seed, paired))
		if r.Clustered {
			i := newInterval(stats.BootstrapClusters(positive, clusters, level, r.Resamples, o.Seed, paired))
			f.Clusters = &i
		}
		c.Figures = append(c.Figures, f)
	}
	add("auc", stats.AUCOf(a, positive), stats.AUCOf(b, positive))
	add("brier", stats.BrierOf(a, positive), stats.BrierOf(b, positive))
	add("ece", stats.ECEOf(a, positive, reliabilityBins), stats.ECEOf(b, positive, reliabilityBins))
	d := evaluate.NewDeLong(a, b, positive, level)
	c.DeLong = Test{
		stats.Number(d.Difference), stats.Number(d.SE), stats.Number(d.Z), stats.Number(d.P),
		Interval{stats.Number(d.Low), stats.Number(d.High)},
	}
	r.Against = c
	return nil
}

// kept returns the rows that count: all, or with a gate those that it does not refuse.
func kept(rows []Row, o Options) []Row {
	if !o.Gated {
		return rows
	}
	return slices.DeleteFunc(slices.Clone(rows), func(x Row) bool { return x.Refused != "" })
}

// main returns the interval to decide by: by cluster where any cluster is known.
func (c Compared) main() Interval {
	if c.Clusters != nil {
		return *c.Clusters
	}
	return c.Recordings
}

// Verdict says in a sentence which model orders the recordings better.
func (r *Report) Verdict() string {
	c := r.Against
	if c == nil {
		return ""
	}
	auc := c.Figures[0]
	this, other := r.Model+" "+r.Version, c.Model+" "+c.Version
	switch i := auc.main(); {
	case i.Low > 0:
		return fmt.Sprintf("The AUC of %s is higher than that of %s on these recordings; the interval of the difference excludes 0.", this, other)
	case i.High < 0:
		return fmt.Sprintf("The AUC of %s is lower than that of %s on these recordings; the interval of the difference excludes 0.", this, other)
	}
	return fmt.Sprintf("These recordings do not show which of %s and %s has the higher AUC: the interval of the difference includes 0.", this, other)
}
