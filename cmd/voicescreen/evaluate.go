package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/evaluate"
	"github.com/voicescreen/voicescreen/models/fit"
)

// evaluateOptions are the flags of "evaluate".
type evaluateOptions struct {
	task, manifest, model, scores, use string
}

func newEvaluate() *cobra.Command {
	var o evaluateOptions
	cmd := &cobra.Command{
		Use:   "evaluate --task TASK --manifest FILE.csv",
		Short: "Measure a model on labelled recordings",
		Long: `Score every recording of a manifest and print how well the scores tell the
classes apart: equal error rate and area under the ROC curve, with 95 % bootstrap
intervals. Where the manifest has the columns source_repo or system, the bootstrap
draws whole groups of one source and one system: recordings of one group resemble
each other.

` + manifestHelp + `

With --scores the scores are written as CSV, path,label,score, in the order of the
manifest: the probability of the positive class, 0 to 1.`,
		Example: "  voicescreen evaluate --task deepfake --manifest speech/manifest.csv --scores scores.csv\n" +
			"  voicescreen evaluate --task depression --manifest clinic.csv --model mine.json",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			task, err := parseTask(o.task)
			if err != nil {
				return err
			}
			if o.manifest == "" {
				return usagef("--manifest is missing")
			}
			return runEvaluate(cmd, task, o)
		},
	}
	addTask(cmd, &o.task, &o.manifest)
	cmd.Flags().StringVar(&o.use, "use", "", "take only the rows with this value in the column use")
	cmd.Flags().StringVar(&o.model, "model", "", "the model file (default the shipped model)")
	cmd.Flags().StringVar(&o.scores, "scores", "", "write the scores to this file")
	return cmd
}

func runEvaluate(cmd *cobra.Command, task models.Category, o evaluateOptions) error {
	scorer, err := taskScorer(task, o.model)
	if err != nil {
		return err
	}
	m, err := readManifest(o.manifest, task)
	if err != nil {
		return err
	}
	if o.use != "" {
		m.rows = slices.DeleteFunc(m.rows, func(r fit.Row) bool { return r.Use != o.use })
	}
	if len(m.rows) == 0 {
		return fmt.Errorf("manifest %s: no row has the use %q", o.manifest, o.use)
	}
	if o.use == "" && slices.ContainsFunc(m.rows, func(r fit.Row) bool { return r.Use == "train" }) {
		fmt.Fprintln(cmd.ErrOrStderr(), "voicescreen: warning: the manifest holds rows whose use is train; figures on what a model was trained on are too good")
	}
	var out *output
	if o.scores != "" {
		if out, err = newOutput(o.scores); err != nil {
			return err
		}
		defer out.discard()
	}
	scores, err := each(m, cmd, "scoring", func(ctx context.Context, in *models.Recording) (float64, error) {
		return scoreOf(ctx, scorer, task, in)
	})
	if err != nil {
		return err
	}
	if out != nil {
		if err := out.finish(func(w io.Writer) error { return writeScores(w, m.rows, scores) }); err != nil {
			return err
		}
	}
	return printMetrics(cmd.OutOrStdout(), task, scorer.Info(), m.rows, scores)
}

// taskScorer loads the model at path, or takes the shipped one of the task.
func taskScorer(task models.Category, path string) (models.Scorer, error) {
	if path != "" {
		s, err := models.LoadFile(path)
		if err != nil {
			return nil, err
		}
		if categoryIndex(s.Info(), task) < 0 {
			return nil, fmt.Errorf("model %s is for %v, not for %v", path, s.Info().Categories, task)
		}
		return s, nil
	}
	shipped, err := models.Shipped()
	if err != nil {
		return nil, err
	}
	for _, s := range shipped {
		if categoryIndex(s.Info(), task) >= 0 {
			return s, nil
		}
	}
	return nil, fmt.Errorf("no model for %v is shipped, want --model", task)
}

// categoryIndex is the place of a category among the scores of a model, -1 if
// it has none.
func categoryIndex(info models.Info, c models.Category) int {
	for i, have := range info.Categories {
		if have == c {
			return i
		}
	}
	return -1
}

// scoreOf scores one recording.
func scoreOf(ctx context.Context, s models.Scorer, task models.Category, in *models.Recording) (float64, error) {
	i := categoryIndex(s.Info(), task)
	scores, err := s.Score(ctx, in)
	if err != nil {
		return 0, err
	}
	if i >= len(scores) {
		return 0, errors.New("the model gives no score")
	}
	return scores[i].Probability, nil
}

func writeScores(w io.Writer, rows []fit.Row, scores []float64) error {
	cw := csv.NewWriter(w)
	if err := cw.Write([]string{"path", "label", "score"}); err != nil {
		return err
	}
	for i, r := range rows {
		if err := cw.Write([]string{r.Path, r.Label, strconv.FormatFloat(scores[i], 'g', -1, 64)}); err != nil {
			return err
		}
	}
	cw.Flush()
	return cw.Error()
}

const (
	level         = 0.95 // of the intervals
	bootstrapSeed = 1    // fixed, so that the same scores give the same intervals
)

// printMetrics prints how well scores tell the classes apart.
func printMetrics(w io.Writer, task models.Category, info models.Info, rows []fit.Row, scores []float64) error {
	positive := make([]bool, len(rows))
	clusters := make([]string, len(rows))
	sources := make([]string, len(rows))
	n, grouped := 0, false
	for i := range rows {
		r := &rows[i]
		positive[i] = r.Positive
		clusters[i] = r.Source + "\x00" + r.System + "\x00" + strconv.FormatBool(r.Positive)
		sources[i] = r.Source
		grouped = grouped || r.Source != "" || r.System != ""
		if r.Positive {
			n++
		}
	}
	p := &printer{w: w}
	p.printf("task      %v\nmodel     %s %s\nrows      %d, %d of them positive\n", task, info.Name, info.Version, len(rows), n)
	if n == 0 || n == len(rows) {
		p.printf("EER, AUC  undefined: all rows are of one class\n")
		return p.err
	}
	interval := func(stat evaluate.Statistic) evaluate.Interval {
		if grouped {
			return evaluate.BootstrapClusters(positive, clusters, level, evaluate.Resamples, bootstrapSeed, stat)
		}
		return evaluate.Bootstrap(positive, level, evaluate.Resamples, bootstrapSeed, stat)
	}
	rate, threshold := evaluate.EER(scores, positive)
	eer := interval(evaluate.EEROf(scores, positive))
	auc := interval(evaluate.AUCOf(scores, positive))
	p.printf("EER       %.2f %% (95 %% interval %.2f to %.2f), at a score of %.4f\n", 100*rate, 100*eer.Low, 100*eer.High, threshold)
	p.printf("AUC       %.4f (95 %% interval %.4f to %.4f)\n", evaluate.AUC(scores, positive), auc.Low, auc.High)
	if within := evaluate.WithinAUC(scores, positive, sources); grouped && within == within { // a number
		p.printf("          %.4f within sources\n", within)
	}
	by := "recordings"
	if grouped {
		by = "groups of one source and one system"
	}
	p.printf("          intervals from %d bootstrap resamples of %s\n", evaluate.Resamples, by)
	return p.err
}
