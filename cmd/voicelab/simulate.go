package main

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/lab/simulate"
	"github.com/voicescreen/voicescreen/models"
)

func newSimulate() *cobra.Command {
	var o simulate.Options
	var recordings []int
	var task string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "simulate [--task TASK]",
		Short: "Show in simulated populations what labels and recordings give the models",
		Long: `Draw populations whose effects, correlations and base rates are known. In each, the
shipped depression or anxiety model learns from labelled people and is measured on
new ones: its AUC beside that of the prior and of the true probabilities, its
calibration, and how often the true probability lies in its 90 % interval. There
are three kinds of populations: as the prior says, with labels that carry no signal,
and drifted.

Besides, the norms of the model are adapted to recordings without labels of ordinary
people, and of people whose features have other means, spreads and correlations, with
and without a stated base rate, in five times as many populations of a quarter of the
people. Equal seeds give equal tables. The default takes a few minutes.`,
		Example: "  voicelab simulate --task depression",
		Args:    command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := command.ParseTask(task)
			if err != nil {
				return err
			}
			if o.Replicates < 1 || o.Test < 1 {
				return command.Usagef("--replicates and --people must be at least 1")
			}
			if slices.Min(append(o.Labels, 0)) < 0 || slices.Min(append(recordings, 0)) < 0 {
				return command.Usagef("--labels and --recordings cannot be less than 0")
			}
			prior, err := command.ShippedPrior(c)
			if err != nil {
				return err
			}
			return runSimulate(cmd, prior, &o, recordings, asJSON)
		},
	}
	cmd.Flags().StringVar(&task, "task", "depression", "depression or anxiety")
	cmd.Flags().IntSliceVar(&o.Labels, "labels", []int{0, 100, 1000, 10000}, "numbers of labelled people")
	cmd.Flags().IntSliceVar(&recordings, "recordings", []int{0, 30, 100, 200, 1000}, "numbers of people with a recording without a label")
	cmd.Flags().IntVar(&o.Replicates, "replicates", 20, "populations for each number of labels; for the intervals up to twenty times as many")
	cmd.Flags().IntVar(&o.Test, "people", 4000, "new people in each population")
	cmd.Flags().Uint64Var(&o.Seed, "seed", 1, "seed of all random numbers")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	command.Values(cmd, "task", "depression", "anxiety")
	return cmd
}

func runSimulate(cmd *cobra.Command, prior *models.BayesFile, o *simulate.Options, recordings []int, asJSON bool) error {
	progress := func(what string) (step func(done, total int), finish func()) {
		var bar *command.Progress
		step = func(_, total int) {
			if bar == nil {
				bar = command.NewProgress(cmd.ErrOrStderr(), total, what)
			}
			bar.Step()
		}
		return step, func() {
			if bar != nil {
				bar.Finish()
			}
		}
	}
	step, finish := progress("simulating labels")
	o.Progress = step
	s, err := simulate.Run(cmd.Context(), prior, o)
	finish()
	if err != nil {
		return err
	}
	step, finish = progress("simulating recordings")
	s.Unlabelled, err = simulate.Adapt(cmd.Context(), prior, &simulate.AdaptOptions{
		Recordings: recordings, Populations: 5 * o.Replicates, Test: max(o.Test/4, 1), Seed: o.Seed, Progress: step,
	})
	finish()
	if err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(s)
	}
	return printSimulation(cmd.OutOrStdout(), s, o)
}

// printSimulation prints tables in Markdown.
func printSimulation(w io.Writer, s *simulate.Result, o *simulate.Options) error {
	p := &command.Printer{W: w}
	p.Printf("%v: means over %d populations, %d new people in each\n", s.Category, o.Replicates, o.Test)
	scenario := ""
	for _, r := range s.Rows {
		if r.Scenario != scenario {
			scenario = r.Scenario
			p.Printf("\n%s\n\n| labels | AUC prior | AUC posterior | AUC in use | AUC oracle | ECE in use | covered | switched |\n|---|---|---|---|---|---|---|---|\n", scenario)
		}
		p.Printf("| %d | %.3f | %.3f | %.3f | %.3f | %.3f | %.0f %% | %.0f %% |\n", r.Labels, r.Prior, r.Posterior, r.Active, r.Oracle, r.ECE, 100*r.Covered, 100*r.Activated)
	}
	p.Printf("\ncoverage: the truth in the 90 %% interval\n\n| labels | populations | posterior | standard error | in use | standard error |\n|---|---|---|---|---|---|\n")
	for _, r := range s.Coverage {
		p.Printf("| %d | %d | %.1f %% | %.3f | %.1f %% | %.3f |\n", r.Labels, r.Populations, 100*r.Share, r.SE, 100*r.ShareInUse, r.SEInUse)
	}
	printUnlabelled(p, s.Unlabelled)
	return p.Err
}

// printUnlabelled prints what recordings without labels give.
func printUnlabelled(p *command.Printer, rows []simulate.Unlabelled) {
	scenario := ""
	for _, r := range rows {
		title := r.Scenario + ", base rate not stated"
		if r.Stated {
			title = r.Scenario + ", base rate stated"
		}
		if title != scenario {
			scenario = title
			p.Printf("\nwithout labels: %s, means over %d populations ± standard error\n\n| recordings | AUC prior | AUC in use | difference | AUC oracle | ECE in use | covered | adapted |\n|---|---|---|---|---|---|---|---|\n", title, r.Populations)
		}
		p.Printf("| %d | %.3f | %.3f | %+.4f ± %.4f | %.3f | %.3f ± %.3f | %.1f ± %.1f %% | %.0f %% |\n", r.Recordings, r.Prior.Value, r.AUC.Value, r.More.Value, r.More.SE,
			r.Oracle.Value, r.ECE.Value, r.ECE.SE, 100*r.Covered.Value, 100*r.Covered.SE, 100*r.Used.Value)
	}
}
