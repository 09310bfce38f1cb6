package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/lab/evaluate"
	"github.com/voicescreen/voicescreen/screen"
)

// Detection is how much of one kind of synthesis, or of one system, counts as
// positive by the single threshold. Where the recordings tell of people's
// health, which is all tasks but deepfake, those of fewer than MinCell positives
// are left out.
type Detection struct {
	Name     string       `json:"name"`
	Detected Share        `json:"detected"`
	AUC      stats.Number `json:"auc"` // against all negatives
}

// FalseAlarms is how many of the negatives of one source count as positive.
// Where the source may be a clinic, which is all tasks but deepfake, those of
// fewer than MinCell negatives are left out.
type FalseAlarms struct {
	Source string `json:"source"`
	Alarms Share  `json:"alarms"`
}

// Group is how well the model does on some of the people or recordings.
// A group of fewer than MinCell recordings has no figure at all, one of fewer
// than MinCell positives or negatives only its size.
type Group struct {
	By          string       `json:"by"`
	Name        string       `json:"name"`
	N           int          `json:"recordings"` // 0 if fewer than MinCell
	Positives   int          `json:"positives"`
	AUC         stats.Number `json:"auc"`
	Interval    Interval     `json:"auc_interval"` // by cluster, or by recording where no cluster is known
	Sensitivity Share        `json:"sensitivity"`  // by the single threshold
	Specificity Share        `json:"specificity"`
	Suppressed  bool         `json:"suppressed"` // whether anything is left out
}

// synthesis fills in what is known by kind, system and source.
func (r *Report) synthesis(rows []Row, called []float64) {
	r.Kinds = r.detections(rows, called, func(x Row) string { return x.Kind })
	r.Systems = r.detections(rows, called, func(x Row) string { return x.System })
	count := map[string][2]int{}
	for i, x := range rows {
		if !x.Positive && x.Source != "" {
			c := count[x.Source]
			c[1]++
			if called[i] == 1 {
				c[0]++
			}
			count[x.Source] = c
		}
	}
	for _, s := range slices.Sorted(maps.Keys(count)) {
		if count[s][1] < r.least() {
			continue
		}
		r.FalseAlarms = append(r.FalseAlarms, FalseAlarms{s, newShare(evaluate.NewShare(count[s][0], count[s][1]))})
	}
	slices.SortStableFunc(r.FalseAlarms, func(a, b FalseAlarms) int { return cmp.Compare(b.Alarms.Value, a.Alarms.Value) })
}

// least is how many recordings a kind, a system or a source has to have for a
// figure: clips are public, patients are not.
func (r *Report) least() int {
	if r.Task == screen.Deepfake {
		return 1
	}
	return MinCell
}

func (r *Report) detections(rows []Row, called []float64, name func(Row) string) []Detection {
	by := map[string][]int{}
	var negatives []int
	for i, x := range rows {
		if !x.Positive {
			negatives = append(negatives, i)
		} else if n := name(x); n != "" {
			by[n] = append(by[n], i)
		}
	}
	var out []Detection
	for _, n := range slices.Sorted(maps.Keys(by)) {
		if len(by[n]) < r.least() {
			continue
		}
		k := 0
		for _, i := range by[n] {
			if called[i] == 1 {
				k++
			}
		}
		s, y := r.pick(slices.Concat(by[n], negatives))
		out = append(out, Detection{n, newShare(evaluate.NewShare(k, len(by[n]))), stats.Number(stats.AUC(s, y))})
	}
	slices.SortStableFunc(out, func(a, b Detection) int { return cmp.Compare(a.Detected.Value, b.Detected.Value) })
	return out
}

func (r *Report) pick(index []int) (scores []float64, positive []bool) {
	for _, i := range index {
		scores, positive = append(scores, r.scores[i]), append(positive, r.positive[i])
	}
	return scores, positive
}

// quality is the group of the tertiles of the signal-to-noise ratio.
const quality = "recording quality"

// groups fills in Groups: those of the rows, and the thirds by quality.
func (r *Report) groups(rows []Row, called []float64, seed uint64) {
	by := map[string]map[string][]int{}
	put := func(dimension, name string, i int) {
		if by[dimension] == nil {
			by[dimension] = map[string][]int{}
		}
		by[dimension][name] = append(by[dimension][name], i)
	}
	var snr []float64
	for i, x := range rows {
		for dimension, name := range x.Groups {
			put(dimension, name, i)
		}
		if !math.IsNaN(x.SNR) {
			snr = append(snr, x.SNR)
		}
	}
	slices.Sort(snr)
	if low, high := dsp.PercentileSorted(snr, 100.0/3), dsp.PercentileSorted(snr, 200.0/3); low < high {
		for i, x := range rows {
			switch {
			case math.IsNaN(x.SNR):
			case x.SNR < low:
				put(quality, fmt.Sprintf("noisiest third, below %.0f dB", low), i)
			case x.SNR < high:
				put(quality, fmt.Sprintf("middle third, %.0f to %.0f dB", low, high), i)
			default:
				put(quality, fmt.Sprintf("cleanest third, from %.0f dB", high), i)
			}
		}
	}
	for _, dimension := range slices.Sorted(maps.Keys(by)) {
		for _, name := range slices.Sorted(maps.Keys(by[dimension])) {
			r.Groups = append(r.Groups, r.group(dimension, name, by[dimension][name], called, seed))
		}
	}
}

func (r *Report) group(dimension, name string, index []int, called []float64, seed uint64) Group {
	nan := stats.Number(math.NaN())
	empty := newShare(evaluate.NewShare(0, 0))
	g := Group{By: dimension, Name: name, AUC: nan, Interval: Interval{nan, nan}, Sensitivity: empty, Specificity: empty, Suppressed: true}
	if len(index) < MinCell {
		return g
	}
	g.N = len(index)
	s, y := r.pick(index)
	c, clusters := make([]float64, len(index)), make([]string, len(index))
	p := 0
	for k, i := range index {
		c[k], clusters[k] = called[i], r.clusters[i]
		if y[k] {
			p++
		}
	}
	if p < MinCell || len(y)-p < MinCell {
		return g
	}
	d := evaluate.Single(c, y, 1)
	g.Sensitivity, g.Specificity = newShare(d.Sensitivity), newShare(d.Specificity)
	g.Suppressed = false
	g.Positives = p
	g.AUC = stats.Number(stats.AUC(s, y))
	g.Interval = newInterval(stats.BootstrapClusters(y, clusters, level, r.Resamples, seed, stats.AUCOf(s, y)))
	return g
}
