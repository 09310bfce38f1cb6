package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/lab/manifest"
	"github.com/voicescreen/voicescreen/lab/report"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// evaluateOptions are the flags of "evaluate".
type evaluateOptions struct {
	task, manifest, model, share, against, scores, use, report, through string
	json, gate, nested                                                  bool
	threshold                                                           float64
	corpus                                                              corpusOptions
	prior                                                               float64
	scoring                                                             command.ScoringFlags
	program                                                             command.ScorerFlags
}

// evaluateHelp is the long help of "evaluate".
const evaluateHelp = `Score every recording of a manifest and print how well the scores agree with the
labels: equal error rate, area under the ROC curve, calibration, decisions with and
without the indeterminate band, classes, and figures by kind, system, source and
group of people. Each figure has its 95 % interval. For depression and anxiety, no
figure is given for a kind, system or source with fewer than 10 recordings.

A second interval draws whole groups, since recordings of one group resemble each
other. A group is a speaker for depression and anxiety, and otherwise one source and
one system. It needs the column speaker, source_repo or system.

` + manifestHelp + `

` + corpusHelp + ` --use takes one part of
it: train, dev or test.

Every recording is scored, however short or poor. --gate leaves out the recordings
that the quality gate of the service refuses, and counts them.

--against compares the model with a second one on the same recordings, such as
the shipped one with one of yours: the differences of AUC, Brier score and expected
calibration error with the interval of a paired bootstrap, by group where groups are
known, and DeLong's test of the AUC (DeLong, DeLong and Clarke-Pearson 1988).

--scorer-command measures a program of yours in the place of --model: see
docs/SCORERS.md.

--model-share measures a cascade: the shipped model scores every recording, and
--model or the program those about which that is least sure. The last line says how many they were,
and how long each took.

--nested, for deepfake, measures no model but how the design of the shipped one does
on systems that it never heard: it trains many models on the rows with use train,
each without the source, the speaker and the decoder of what it is tested on.
Besides, it holds out whole kinds of synthesis, and systems from 2023 on. With
--through it also scores the recordings of another folder, with the same paths as in
the manifest, each after a channel that another program made: a telephone, a codec.
The paths must be relative. eer_lost is by how much the equal error rate rises
through a channel, with an interval of the difference.

--scores writes the scores as CSV, in the order of the manifest. The columns are
path, label and score, the probability of the positive class from 0 to 1. Where
known, the columns total, the sum of the questionnaire, and group, the speaker or
the source and system, follow; with --against the column against, the score of the
second model, is last. --base-rate, --deepfake-prior and --fixed-gain are
those of "voicescreen serve". To choose thresholds for a service that has these
flags, score with the same flags.`

func newEvaluate() *cobra.Command {
	var o evaluateOptions
	cmd := &cobra.Command{
		Use:   "evaluate --task TASK --manifest FILE.csv",
		Short: "Measure a model on labelled recordings",
		Long:  evaluateHelp,
		Example: "  voicelab evaluate --task deepfake --manifest speech/manifest.csv --scores scores.csv\n" +
			"  voicelab evaluate --task depression --manifest clinic.csv --model mine.json\n" +
			"  voicelab evaluate --task depression --manifest clinic.csv --model dam3.1.model --against shipped",
		Args: command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			task, err := o.check(cmd)
			if err != nil {
				return err
			}
			if o.nested {
				return evaluateNested(cmd, o)
			}
			return runEvaluate(cmd, task, o)
		},
	}
	addTask(cmd, &o.task, &o.manifest)
	o.corpus.add(cmd)
	cmd.Flags().StringVar(&o.use, "use", "", "take only the rows with this value in the column use")
	cmd.Flags().StringVar(&o.model, "model", "", "the model file (default the shipped model)")
	command.AddModelShare(cmd, &o.share)
	o.program.Add(cmd)
	cmd.Flags().StringVar(&o.against, "against", "", "compare with the model in this file, or with \"shipped\"")
	cmd.Flags().StringVar(&o.scores, "scores", "", "write the scores to this file")
	cmd.Flags().StringVar(&o.report, "report", "", "write a page with plots to this file")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the figures as JSON")
	cmd.Flags().BoolVar(&o.gate, "gate", false, "leave out recordings that the quality gate refuses")
	cmd.Flags().BoolVar(&o.nested, "nested", false, "deepfake: measure the design by nested cross-validation")
	cmd.Flags().StringVar(&o.through, "through", "", "with --nested: a folder of the same recordings, each through a channel")
	command.AddPrior(cmd, &o.prior)
	o.scoring.Add(cmd)
	cmd.Flags().Float64Var(&o.threshold, "threshold", 0, "probability from which a recording counts as positive without the band (default: the class of the model, or 0.5 if it has none)")
	command.NoValues(cmd, "use")
	return cmd
}

// check returns the task, or what is wrong with the flags.
func (o *evaluateOptions) check(cmd *cobra.Command) (screen.Category, error) {
	task, err := command.ParseTask(o.task)
	if err != nil {
		return 0, err
	}
	if err := o.corpus.check(o.manifest); err != nil {
		return 0, err
	}
	if !(o.threshold >= 0 && o.threshold <= 1) {
		return 0, command.Usagef("--threshold is %v, want 0 to 1", o.threshold)
	}
	if task != screen.Deepfake && command.Given(cmd, command.FlagPrior) != "" {
		return 0, command.Usagef("--%s is for --task deepfake", command.FlagPrior)
	}
	if err := command.CheckPrior(cmd, o.prior); err != nil {
		return 0, err
	}
	if err := checkNested(o.nested, task, o.corpus.name); err != nil {
		return 0, err
	}
	if o.through != "" && !o.nested {
		return 0, command.Usagef("--through is for --nested")
	}
	if o.against == shippedModel && o.model == "" && !o.program.Given() && !o.nested {
		return 0, command.Usagef("--against shipped compares the shipped model with itself, want --model or another file")
	}
	if o.model != "" && o.program.Given() {
		return 0, command.Usagef("--model and --scorer-command are both what is measured: want one of them")
	}
	return task, nil
}

func runEvaluate(cmd *cobra.Command, task screen.Category, o evaluateOptions) (err error) {
	scorer, err := newRowScorer(cmd.Context(), task, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, command.CloseModels([]models.Scorer{scorer.Scorer})) }()
	command.PrintOrigins(cmd, scorer.Scorer)
	if scorer.against != nil {
		command.PrintOrigins(cmd, scorer.against)
	}
	scores, page, err := outputs(o.scores, o.report)
	if err != nil {
		return err
	}
	defer scores.Discard()
	defer page.Discard()
	rows, scored, err := scoreRows(cmd, scorer, o)
	if err != nil {
		return err
	}
	if err := scores.Finish(func(w io.Writer) error { return writeScores(w, rows, scored, scorer.against != nil) }); err != nil {
		return err
	}
	options := report.Options{Gated: o.gate, Threshold: o.threshold, Seed: bootstrapSeed}
	r := report.New(task, scorer.Info(), scored, options)
	if scorer.against != nil {
		if err := r.Compare(scorer.against.Info(), scored, options); err != nil {
			return fmt.Errorf("--against: %w", err)
		}
	}
	if err := page.Finish(r.WriteHTML); err != nil {
		return err
	}
	if o.json {
		e := json.NewEncoder(cmd.OutOrStdout())
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	if err := r.WriteText(cmd.OutOrStdout()); err != nil {
		return err
	}
	return writeCascade(cmd, scorer)
}

// scoreRows scores the recordings of the manifest or the corpus.
func scoreRows(cmd *cobra.Command, scorer *rowScorer, o evaluateOptions) ([]manifest.Row, []report.Row, error) {
	if o.corpus.name != "" {
		return scoreCorpus(cmd, scorer, o.corpus, o.use)
	}
	m, err := openManifest(cmd, o.manifest, scorer.task)
	if err != nil {
		return nil, nil, err
	}
	if o.use != "" {
		m.Rows = slices.DeleteFunc(m.Rows, func(r manifest.Row) bool { return r.Use != o.use })
	}
	if len(m.Rows) == 0 {
		return nil, nil, fmt.Errorf("manifest %s: no row has the use %q", o.manifest, o.use)
	}
	if slices.ContainsFunc(m.Rows, func(r manifest.Row) bool { return r.Use == "train" }) {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: warning: the manifest holds rows whose use is train; figures on what a model was trained on are too good\n", cmd.Root().Name())
	}
	if scorer.against != nil && !slices.ContainsFunc(m.Rows, func(r manifest.Row) bool { return r.Positive != m.Rows[0].Positive }) {
		return nil, nil, fmt.Errorf("manifest %s: all rows are of one class, want both for --against", o.manifest)
	}
	scored, err := each(m, cmd, "scoring", scorer.row)
	return m.Rows, scored, err
}

// outputs opens the files to write; nil where there is no path.
func outputs(scores, page string) (s, p *command.Output, err error) {
	if scores != "" {
		if s, err = command.NewOutput(scores); err != nil {
			return nil, nil, err
		}
	}
	if page != "" {
		if p, err = command.NewOutput(page); err != nil {
			s.Discard()
			return nil, nil, err
		}
	}
	return s, p, nil
}

// writeScores writes path, label and score of each row, the total of the
// questionnaire where every row has one, the group where any has one, and the score of
// the second model if there is one.
func writeScores(w io.Writer, rows []manifest.Row, scored []report.Row, against bool) error {
	totals := !slices.ContainsFunc(rows, func(r manifest.Row) bool { return !r.HasTotal })
	groups := slices.ContainsFunc(scored, func(r report.Row) bool { return r.Cluster != "" })
	head := []string{"path", "label", "score"}
	if totals {
		head = append(head, "total")
	}
	if groups {
		head = append(head, "group")
	}
	if against {
		head = append(head, "against")
	}
	cw := csv.NewWriter(w)
	if err := cw.Write(head); err != nil {
		return err
	}
	for i, r := range rows {
		record := []string{r.Path, r.Label, strconv.FormatFloat(scored[i].Score.Probability, 'g', -1, 64)}
		if totals {
			record = append(record, strconv.Itoa(r.Total))
		}
		if groups {
			record = append(record, strings.Trim(strings.ReplaceAll(scored[i].Cluster, "\x00", " "), " "))
		}
		if against {
			record = append(record, strconv.FormatFloat(scored[i].Other.Probability, 'g', -1, 64))
		}
		if err := cw.Write(record); err != nil {
			return err
		}
	}
	cw.Flush()
	return cw.Error()
}

// bootstrapSeed is fixed, so that the same scores give the same intervals.
const bootstrapSeed = 1
