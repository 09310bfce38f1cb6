package report

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/screen"
)

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer) error {
	t := &text{w: w}
	t.line("task      %v", r.Task)
	t.line("model     %s %s", r.Model, r.Version)
	t.line("rows      %d, %d of them positive", r.Rows, r.Positive)
	if r.Gated {
		t.line("gate      %s", r.refusals())
	}
	if w := r.TrainingWarning(); w != "" {
		t.line("%s", w)
	}
	if r.Rows == 0 {
		return t.err
	}
	switch auc, _ := r.Figure("auc"); {
	case r.Positive == 0, r.Positive == r.Rows:
		t.line("EER, AUC  undefined: all rows are of one class")
	case math.IsNaN(float64(auc.Value)):
		t.line("EER, AUC  undefined: a score is not a number")
	}
	t.figures(r)
	by := "recordings"
	if r.Clustered {
		by = "groups of one source and system or one person, in brackets of recordings"
	}
	t.line("          95 %% intervals from %d bootstrap resamples of %s", r.Resamples, by)
	t.rules(r)
	t.ordinal(r.Ordinal)
	t.reliability(r.Reliability)
	t.detections("kind", r.Kinds)
	t.detections("system", r.Systems)
	t.falseAlarms(r.FalseAlarms)
	t.groups(r.Groups)
	t.comparison(r)
	return t.err
}

// refusals says what the gate refused.
func (r *Report) refusals() string {
	total := 0
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(r.Refused)) {
		total += r.Refused[reason]
		parts = append(parts, fmt.Sprintf("%d %s", r.Refused[reason], reason))
	}
	s := fmt.Sprintf("%d of %d recordings refused", total, total+r.Rows)
	if total > 0 {
		s += ": " + strings.Join(parts, ", ")
	}
	return s
}

// text writes lines until one does not get through.
type text struct {
	w   io.Writer
	err error
}

func (t *text) line(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format+"\n", args...)
	}
}

// titles are the names of figures, and by how much they are shown multiplied.
var titles = map[string]struct {
	name   string
	factor float64
	format string
}{
	"eer":               {"EER", 100, "%.2f %%"},
	"auc":               {"AUC", 1, "%.4f"},
	"within_source_auc": {"within", 1, "%.4f"},
	"min_dcf":           {"minDCF", 1, "%.4f"},
	"brier":             {"Brier", 1, "%.4f"},
	"ece":               {"ECE", 1, "%.4f"},
}

func (t *text) figures(r *Report) {
	for _, f := range r.Figures {
		if math.IsNaN(float64(f.Value)) {
			continue
		}
		title := titles[f.Name]
		scaled := func(n stats.Number) any { return title.factor * float64(n) }
		main, other := f.Recordings, ""
		bare := strings.TrimSuffix(title.format, " %%")
		if f.Clusters != nil {
			main = *f.Clusters
			other = fmt.Sprintf(" ["+bare+" to "+bare+"]", scaled(f.Recordings.Low), scaled(f.Recordings.High))
		}
		line := fmt.Sprintf("%-9s "+title.format+" (95 %% interval "+bare+" to "+bare+")", title.name, scaled(f.Value), scaled(main.Low), scaled(main.High))
		if f.Name == "eer" {
			line += fmt.Sprintf(", at a score of %.4f", r.EERThreshold)
		}
		if f.Name == "within_source_auc" {
			line += ", the AUC within sources"
		}
		t.line("%s%s", line, other)
	}
}

func (t *text) rules(r *Report) {
	at := fmt.Sprintf("at %.4f", r.Threshold)
	if math.IsNaN(float64(r.Threshold)) {
		at = "by class"
	}
	t.line("")
	t.line("decision       sensitivity               specificity               PPV     NPV     undecided")
	t.rule(at, r.Single)
	t.rule("with the band", r.Band)
}

func (t *text) rule(name string, d Rule) {
	t.line("%-14s %-25s %-25s %-7s %-7s %s", name, d.Sensitivity, d.Specificity, d.PPV.short(), d.NPV.short(), d.Undecided.short())
}

// three is n with three digits, a dash where it is undefined.
func three(n stats.Number) string {
	if math.IsNaN(float64(n)) {
		return "–"
	}
	return fmt.Sprintf("%.3f", n)
}

func percent(n stats.Number) string {
	if math.IsNaN(float64(n)) {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*n)
}

func (s Share) short() string { return percent(s.Value) }

// String is the share in percent with its interval.
func (s Share) String() string {
	if s.N == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %% (%.1f–%.1f)", 100*s.Value, 100*s.Low, 100*s.High)
}

func (t *text) ordinal(o *Ordinal) {
	if o == nil {
		return
	}
	t.line("")
	t.line("classes   accuracy %.3f, mean absolute error %.3f, macro F1 %.3f, quadratic weighted kappa %.3f (%d recordings)",
		o.Accuracy, o.MAE, o.MacroF1, o.Kappa, o.N)
	for i, row := range o.Confusion {
		var cells []string
		for j, n := range row {
			cells = append(cells, fmt.Sprintf("%s %d", o.Names[j], n))
		}
		t.line("  true %s: %s", o.Names[i], strings.Join(cells, ", "))
	}
}

func (t *text) reliability(bins []Bin) {
	if len(bins) == 0 {
		return
	}
	t.line("")
	t.line("probability    recordings  mean    positive")
	for _, b := range bins {
		if b.Positive.N > 0 {
			t.line("%.1f to %.1f     %-11d %.3f   %v", b.Low, b.High, b.Positive.N, b.Probability, b.Positive)
		}
	}
}

func (t *text) detections(by string, rows []Detection) {
	if len(rows) == 0 {
		return
	}
	t.line("")
	t.line("%-34s recordings  AUC     detected", by)
	for _, d := range rows {
		t.line("%-34s %-11d %-5s   %v", d.Name, d.Detected.N, three(d.AUC), d.Detected)
	}
}

func (t *text) falseAlarms(rows []FalseAlarms) {
	if len(rows) == 0 {
		return
	}
	t.line("")
	t.line("%-50s genuine  false alarms", "source")
	for _, f := range rows {
		t.line("%-50s %-8d %v", f.Source, f.Alarms.N, f.Alarms)
	}
}

func (t *text) groups(rows []Group) {
	if len(rows) == 0 {
		return
	}
	t.line("")
	t.line("%-18s %-34s recordings  AUC                    sensitivity               specificity", "by", "group")
	for _, g := range rows {
		n := fmt.Sprint(g.N)
		if g.N == 0 {
			n = fmt.Sprintf("<%d", MinCell)
		}
		auc := "–"
		if !g.Suppressed {
			auc = fmt.Sprintf("%.3f (%.3f–%.3f)", g.AUC, g.Interval.Low, g.Interval.High)
		}
		t.line("%-18s %-34s %-11s %-22s %-25v %v", g.By, g.Name, n, auc, g.Sensitivity, g.Specificity)
	}
}

func (t *text) comparison(r *Report) {
	c := r.Against
	if c == nil {
		return
	}
	t.line("")
	t.line("against   %s %s, on %d recordings with a score of both, %d of them positive", c.Model, c.Version, c.Rows, c.Positive)
	t.line("          this     other    difference (95 %% interval, paired bootstrap)")
	for _, f := range c.Figures {
		i, other := f.main(), ""
		if f.Clusters != nil {
			other = fmt.Sprintf(" [%+.4f to %+.4f]", f.Recordings.Low, f.Recordings.High)
		}
		t.line("%-9s %.4f   %.4f   %+.4f (%+.4f to %+.4f)%s", titles[f.Name].name, f.Value, f.Other, f.Difference, i.Low, i.High, other)
	}
	if d := c.DeLong; math.IsNaN(float64(d.P)) {
		t.line("DeLong    undefined: the difference of the AUC has no standard error on these recordings")
	} else {
		t.line("DeLong    difference of the AUC %+.4f (95 %% interval %+.4f to %+.4f), z = %.2f, p = %.3g", d.Difference, d.Low, d.High, d.Z, d.P)
	}
	if w := r.IndependenceWarning(); w != "" {
		t.line("          %s", w)
	}
	t.line("%s", r.Verdict())
}

// IndependenceWarning says what DeLong's test supposes that these recordings do not
// have; "" if they have it.
func (r *Report) IndependenceWarning() string {
	if r.Against == nil || len(slices.Compact(slices.Sorted(slices.Values(r.clusters)))) == len(r.clusters) {
		return ""
	}
	return "DeLong's test counts recordings as independent. Several are of one group here: decide by the bootstrap."
}

// TrainingWarning says how many recordings are for training; "" if none is.
func (r *Report) TrainingWarning() string {
	if r.Training == 0 {
		return ""
	}
	return fmt.Sprintf("Warning: the use of %d of the %d recordings is train. Figures on recordings that the model was trained on are too good.", r.Training, r.Rows)
}

// Warning is what every report says of its figures.
func (r *Report) Warning() string {
	what := "signs of " + r.Task.String()
	if r.Task == screen.Deepfake {
		what = "synthetic voices"
	}
	return "Screening scores for " + what + ", measured on these recordings. They support a decision and are not a diagnosis; on other people, microphones and rooms they can do worse."
}
