package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/internal/durable"
	"github.com/voicescreen/voicescreen/lab/evaluate"
	"github.com/voicescreen/voicescreen/lab/manifest"

	"github.com/voicescreen/voicescreen/screen"
)

// thresholdsOptions are the flags of "thresholds".
type thresholdsOptions struct {
	task, scores, account, out, classes string
	model, version                      string
	undecided, sensitivity, specificity float64
}

func newThresholds() *cobra.Command {
	var o thresholdsOptions
	cmd := &cobra.Command{
		Use:   "thresholds --task TASK --scores FILE.csv [--out FILE.json]",
		Short: "Choose the thresholds of an account",
		Long: `Choose two thresholds from labelled scores: scores below the lower one are negative,
those from the upper one on positive, and those between undecided. --undecided bounds
the share of undecided recordings, and the mean of sensitivity and specificity
among the others is made as large as possible. --sensitivity and --specificity
instead state what the lower and the upper threshold must reach. --classes also
chooses where the classes of the model begin.

The scores are a CSV file with the columns path, label and score, as "evaluate
--scores" writes it. --classes needs the column total, the sum of the questionnaire.
The figures "on others" are from ten folds: each tenth is decided by thresholds
chosen on the other nine. Recordings with the same value in a column group, such as
those of one person, are always in the same fold.

--out writes the thresholds of the account, and keeps those of other accounts and
tasks in the file. "voicescreen serve --thresholds" reads this file. It applies the
thresholds after --base-rate and --deepfake-prior, so they hold for a service with
the same flags as the scores.`,
		Example: "  voicelab evaluate --task depression --manifest clinic.csv --scores scores.csv\n" +
			"  voicelab thresholds --task depression --scores scores.csv --undecided 0.2 --classes mae --account clinic-a --out thresholds.json",
		Args: command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			task, err := o.check(cmd)
			if err != nil {
				return err
			}
			return runThresholds(cmd, task, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.task, "task", "", "depression, anxiety or deepfake (required)")
	f.StringVar(&o.scores, "scores", "", "the labelled scores (required)")
	f.Float64Var(&o.undecided, "undecided", defaultUndecided, "the largest share left undecided; 0 for a single threshold")
	f.Float64Var(&o.sensitivity, "sensitivity", 0, "the sensitivity that the lower threshold must reach")
	f.Float64Var(&o.specificity, "specificity", 0, "the specificity that the upper threshold must reach")
	f.StringVar(&o.classes, "classes", "", "also choose where the classes begin: by mae, macro-f1 or accuracy")
	f.StringVar(&o.account, "account", screen.AllAccounts, "with --out: the account; * is every account without thresholds of its own")
	f.StringVar(&o.model, "model", "", "with --out: name of the model that the thresholds are for (default any)")
	f.StringVar(&o.version, "version", "", "with --out: version of the model that the thresholds are for (default any)")
	f.StringVar(&o.out, "out", "", "the file of thresholds to write")
	command.Values(cmd, "task", taskNames...)
	command.Values(cmd, "classes", "mae", "macro-f1", "accuracy")
	command.NoValues(cmd, "account", "model", "version")
	return cmd
}

// check returns the task, or what is wrong with the flags.
func (o *thresholdsOptions) check(cmd *cobra.Command) (screen.Category, error) {
	task, err := command.ParseTask(o.task)
	if err != nil {
		return 0, err
	}
	if o.scores == "" {
		return 0, command.Usagef("--scores is missing")
	}
	if cmd.Flags().Changed("undecided") && (o.sensitivity > 0 || o.specificity > 0) {
		return 0, command.Usagef("--undecided and --sensitivity or --specificity exclude each other")
	}
	if !(o.undecided >= 0 && o.undecided < 1) {
		return 0, command.Usagef("--undecided is %v, want 0 to below 1", o.undecided)
	}
	if name := command.Given(cmd, "account", "model", "version"); name != "" && o.out == "" {
		return 0, command.Usagef("--%s needs --out", name)
	}
	for _, name := range []string{"sensitivity", "specificity"} {
		if v, _ := cmd.Flags().GetFloat64(name); cmd.Flags().Changed(name) && !(v > 0 && v <= 1) {
			return 0, command.Usagef("--%s is %v, want above 0 to 1", name, v)
		}
	}
	return task, nil
}

// defaultUndecided is the budget with which the published thresholds of the
// service's own model were chosen.
const defaultUndecided = 0.2

// labelledScores is a file of scores.
type labelledScores struct {
	score    []float64
	positive []bool
	class    []int    // from 0; nil if there is no column total
	group    []string // of whom or of what each is; "" is one of its own
}

func runThresholds(cmd *cobra.Command, task screen.Category, o thresholdsOptions) error {
	s, err := readScores(o.scores, task)
	if err != nil {
		return fmt.Errorf("scores %s: %w", o.scores, err)
	}
	p := &command.Printer{W: cmd.OutOrStdout()}
	t := screen.Thresholds{Model: o.model, Version: o.version, ChosenOn: fmt.Sprintf("%d recordings", len(s.score))}
	low, high, err := o.band(s.score, s.positive)
	if err != nil {
		return err
	}
	t.Low, t.High = &low, &high
	p.Printf("band      %.4f to %.4f\n", low, high)
	printDecisions(p, "on these", decide(s.score, s.positive, low, high))
	if d, ok := o.heldOut(s); ok {
		printDecisions(p, "on others", d)
	} else {
		p.Printf("on others  too few recordings to say\n")
	}
	if o.classes != "" {
		if t.Classes, err = o.cuts(s, task); err != nil {
			return err
		}
		p.Printf("classes   begin at %.4f\n", t.Classes)
		printClasses(p, task, s, t.Classes)
	}
	if p.Err != nil || o.out == "" {
		return p.Err
	}
	return writeThresholds(o.out, o.account, task, t)
}

// decide measures a band, of which one without width is a single threshold.
func decide(scores []float64, positive []bool, low, high float64) evaluate.Decisions {
	if low == high {
		return evaluate.Single(scores, positive, high)
	}
	return evaluate.Band(scores, positive, low, high)
}

// band chooses the two thresholds.
func (o *thresholdsOptions) band(scores []float64, positive []bool) (low, high float64, err error) {
	if o.sensitivity == 0 && o.specificity == 0 {
		low, high, err = evaluate.BandWithin(scores, positive, o.undecided)
		return clamp(low), clamp(high), err
	}
	if o.sensitivity > 0 {
		low, err = evaluate.ForSensitivity(scores, positive, o.sensitivity)
	}
	if o.specificity > 0 && err == nil {
		high, err = evaluate.ForSpecificity(scores, positive, o.specificity)
	}
	switch {
	case o.sensitivity == 0:
		low = high
	case o.specificity == 0 || high < low: // one threshold does both
		high = low
	}
	return clamp(low), clamp(high), err
}

// clamp limits a threshold to 0 to 1.
func clamp(v float64) float64 { return min(max(v, 0), 1) }

// heldOutFolds is how many parts the recordings are dealt into to see how
// thresholds do on recordings that they were not chosen on. The usual number.
const heldOutFolds = 10

// heldOut decides each part of the recordings by thresholds chosen on the
// others.
func (o *thresholdsOptions) heldOut(s *labelledScores) (d evaluate.Decisions, ok bool) {
	fold := s.deal()
	calls := make([]float64, len(s.score)) // −1, 0, 1
	for f := range heldOutFolds {
		var scores []float64
		var positive []bool
		for i := range fold {
			if fold[i] != f {
				scores, positive = append(scores, s.score[i]), append(positive, s.positive[i])
			}
		}
		low, high, err := o.band(scores, positive)
		if err != nil {
			return d, false
		}
		for i, v := range s.score {
			switch {
			case fold[i] != f:
			case v < low:
				calls[i] = -1
			case v > high || low == high:
				calls[i] = 1
			}
		}
	}
	return evaluate.Band(calls, s.positive, 0, 0), true
}

// deal gives each recording one of heldOutFolds parts, those of one group the
// same.
func (s *labelledScores) deal() []int {
	fold, of := make([]int, len(s.score)), map[string]int{}
	dealt := 0
	for _, i := range rand.New(rand.NewPCG(1, 0)).Perm(len(s.score)) {
		f, seen := of[s.group[i]]
		if !seen || s.group[i] == "" {
			f = dealt % heldOutFolds
			of[s.group[i]] = f
			dealt++
		}
		fold[i] = f
	}
	return fold
}

func (o *thresholdsOptions) cuts(s *labelledScores, task screen.Category) ([]float64, error) {
	var by evaluate.Objective
	if err := by.UnmarshalText([]byte(o.classes)); err != nil {
		return nil, command.Usagef("--classes is %q, want mae, macro-f1 or accuracy", o.classes)
	}
	n := len(task.Severities())
	if n == 0 {
		return nil, command.Usagef("--classes: the %v model has no classes", task)
	}
	if s.class == nil {
		return nil, fmt.Errorf("scores %s: --classes needs the column total", o.scores)
	}
	return evaluate.Cuts(s.score, s.class, n, by)
}

func printDecisions(p *command.Printer, on string, d evaluate.Decisions) {
	p.Printf("%-9s sensitivity %.3f (%.3f to %.3f), specificity %.3f (%.3f to %.3f), undecided %.3f\n", on,
		d.Sensitivity.Value, d.Sensitivity.Low, d.Sensitivity.High,
		d.Specificity.Value, d.Specificity.Low, d.Specificity.High, d.Undecided.Value)
}

func printClasses(p *command.Printer, task screen.Category, s *labelledScores, cuts []float64) {
	predicted := make([]int, len(s.score))
	for i, v := range s.score {
		for _, from := range cuts {
			if v >= from {
				predicted[i]++
			}
		}
	}
	c := evaluate.NewClasses(s.class, predicted, len(task.Severities()))
	p.Printf("on these  accuracy %.3f, mean absolute error %.3f, macro F1 %.3f, quadratic weighted kappa %.3f\n",
		c.Accuracy, c.MAE, c.MacroF1, c.Kappa)
}

// readScores reads the CSV file at path.
func readScores(path string, task screen.Category) (*labelledScores, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, command.Bare(err)
	}
	defer f.Close()
	c, err := manifest.NewTable(f)
	if err != nil {
		return nil, err
	}
	var at [4]int
	for i, name := range []string{"label", "score", "total", "group"} {
		if at[i], err = c.Column(name); err != nil {
			return nil, err
		}
	}
	label, score, total, group := at[0], at[1], at[2], at[3]
	if label < 0 || score < 0 {
		return nil, fmt.Errorf("want the columns label and score; %s", c.Found())
	}
	s := &labelledScores{}
	for {
		record, err := c.Read()
		if err == io.EOF {
			return s, nil
		}
		if err != nil {
			return nil, err
		}
		v, err := strconv.ParseFloat(record[score], 64)
		if err != nil || !(v >= 0 && v <= 1) {
			return nil, fmt.Errorf("line %d: score %.40q, want a probability", c.Line(), record[score])
		}
		positive, err := manifest.ParseLabel(task, record[label])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", c.Line(), err)
		}
		s.score, s.positive, s.group = append(s.score, v), append(s.positive, positive), append(s.group, "")
		if group >= 0 {
			s.group[len(s.group)-1] = strings.Clone(record[group]) // the others of the line go
		}
		if total >= 0 {
			n, err := strconv.Atoi(strings.TrimSpace(record[total]))
			if most := manifest.MaxTotal(task); err != nil || n < 0 || n > most {
				return nil, fmt.Errorf("line %d: total %.40q, want a whole number from 0 to %d", c.Line(), record[total], most)
			}
			s.class = append(s.class, screen.SeverityOf(task, n).Rank()-1)
		}
	}
}

// thresholdsText is the format of a file of thresholds, which holds no secret.
var thresholdsText = durable.Format[screen.AccountThresholds]{
	Parse: func(data []byte) (screen.AccountThresholds, error) {
		return screen.ReadThresholds(bytes.NewReader(data))
	},
	Text: func(a screen.AccountThresholds) ([]byte, error) {
		var b bytes.Buffer
		err := screen.WriteThresholds(&b, a)
		return b.Bytes(), err
	},
	MaxBytes: 2 << 20, // as screen.ReadThresholds
	Mode:     0o644,
}

// writeThresholds puts thresholds into the file at path, which need not exist,
// durably, and leaves those of other accounts and tasks as they are.
func writeThresholds(path, account string, task screen.Category, t screen.Thresholds) error {
	f, err := durable.CreateFile(path, screen.AccountThresholds{}, thresholdsText)
	if err == nil {
		err = f.Change(func(a screen.AccountThresholds) (screen.AccountThresholds, error) {
			a = a.Clone()
			if a[account] == nil {
				a[account] = map[screen.Category]screen.Thresholds{}
			}
			a[account][task] = t
			return a, nil
		})
	}
	if err != nil {
		return fmt.Errorf("thresholds: %w", err)
	}
	return nil
}
