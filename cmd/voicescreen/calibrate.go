package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/models/learn"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// calibrateOptions are the flags of "calibrate" and of "adapt".
type calibrateOptions struct {
	db, task, out, since string
	storeKey             storeKeyFlag
	accounts             []string
	dryRun, revert       bool
	seed                 uint64
	scoring              command.ScoringFlags
}

func newCalibrate() *cobra.Command {
	var o calibrateOptions
	cmd := &cobra.Command{
		Use:   "calibrate --db PATH [--task TASK]",
		Short: "Learn from the labels that feedback brought",
		Long: `Learn the depression and anxiety models from all labels in the database: PHQ-9,
interviews and PHQ-2 for depression, GAD-7 for anxiety. The learned model replaces the
model in use if two figures on held-out users allow it: its log score is not lower, and
its AUC not lower by more than 0.01. Calibration error and Brier score are printed and
do not decide. The database keeps it and the former models; --revert goes back by one.

Learning needs at least 20 users, and 5 labels on either side of a score of 10. Of a
database file stop the server first, or let it learn while it runs with "serve
--calibrate". With PostgreSQL the servers go on, and use the learned model within a
second. A model of "serve --model" stays in use in place of the learned one. Without
labels, "adapt" brings the norms towards your recordings; calibrate begins with the norms
that adapt left.`,
		Example: "  voicescreen calibrate --db clinic.db\n" +
			"  voicescreen calibrate --db clinic.db --task depression --dry-run --out learned.json\n" +
			"  voicescreen calibrate --db clinic.db --task depression --revert",
		Args: command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd, (*voicescreen.Engine).Revert, learnFrom, "learned")
		},
	}
	o.addTo(cmd, "labels", "learned model")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "leave the model in use as it is")
	cmd.Flags().BoolVar(&o.revert, "revert", false, "with --task: go back to the former model, and learn nothing")
	return cmd
}

// A fitter makes models of what a database holds and prints what came of it. It returns
// what writes the model of the first category, or the reason why there is none.
type fitter func(*cobra.Command, *voicescreen.Engine, *voicescreen.CalibrateOptions) (write func(io.Writer) error, reason string, err error)

// run calls fit, or revert if the flags ask for it. If the flags name a file, it writes the
// one model that was made to it. Done is what fit does, in a word.
func (o *calibrateOptions) run(cmd *cobra.Command, revert func(*voicescreen.Engine, screen.Category) error, fit fitter, done string) (err error) {
	opts, err := o.check(cmd)
	if err != nil {
		return err
	}
	engine, end, err := o.open(cmd)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	if o.revert {
		return revert(engine, opts.Categories[0])
	}
	var out *command.Output
	if o.out != "" {
		if out, err = command.NewOutput(o.out); err != nil {
			return err
		}
		defer out.Discard()
	}
	write, reason, err := fit(cmd, engine, opts)
	switch {
	case err != nil || out == nil:
		return err
	case write == nil:
		return fmt.Errorf("nothing was %s: %s", done, reason)
	}
	return out.Finish(write)
}

// addTo adds the flags that calibrate and adapt share. What is what they take of the
// accounts, in a word, and made what they make.
func (o *calibrateOptions) addTo(cmd *cobra.Command, what, made string) {
	cmd.Flags().StringVar(&o.db, "db", "", "the database file, or postgres://… (required)")
	cmd.Flags().StringVar(&o.task, "task", "", "depression or anxiety (default both)")
	cmd.Flags().StringVar(&o.out, "out", "", "with --task: a file to write the "+made+" to as well")
	cmd.Flags().StringVar(&o.since, "since", "", "leave out what was submitted before this day, as 2026-01-31")
	cmd.Flags().StringArrayVar(&o.accounts, "account", nil, "take the "+what+" of this account only (repeatable)")
	o.storeKey.add(cmd)
	cmd.Flags().Uint64Var(&o.seed, "seed", 0, "seed of the folds by which users are held out")
	command.Values(cmd, "task", "depression", "anxiety")
	command.NoValues(cmd, "since", "account")
	o.scoring.Add(cmd)
}

// check returns what the flags ask for, or a usage error.
func (o *calibrateOptions) check(cmd *cobra.Command) (*voicescreen.CalibrateOptions, error) {
	opts := &voicescreen.CalibrateOptions{Accounts: o.accounts, DryRun: o.dryRun, Seed: o.seed}
	switch {
	case o.db == "":
		return nil, command.Usagef("--db is missing")
	case o.task == "" && (o.out != "" || o.revert):
		return nil, command.Usagef("--out and --revert want --task")
	}
	if name := command.Given(cmd, "dry-run", "out", "since", "account", "seed"); o.revert && name != "" {
		return nil, command.Usagef("--revert does not go with --%s", name)
	}
	if o.task != "" {
		c, err := command.ParseTask(o.task)
		if err != nil {
			return nil, err
		}
		if _, err := command.ShippedPrior(c); err != nil {
			return nil, err
		}
		opts.Categories = []screen.Category{c}
	}
	if o.since != "" {
		var err error
		if opts.Since, err = time.Parse("2006-01-02", o.since); err != nil {
			return nil, command.Usagef("--since is %q, want a day as 2026-01-31", o.since)
		}
	}
	return opts, nil
}

// open opens the database, which must exist. Done closes it.
func (o *calibrateOptions) open(cmd *cobra.Command) (engine *voicescreen.Engine, done func() error, err error) {
	warnReadable(cmd.ErrOrStderr(), o.storeKey.file)
	key, err := o.storeKey.read()
	if err != nil {
		return nil, nil, err
	}
	opts := &voicescreen.Options{Workers: -1, Store: bolt.Options{Key: key}}
	if err := o.scoring.Set(&opts.Scoring); err != nil {
		return nil, nil, err
	}
	return openEngineOn(cmd.Context(), o.db, opts)
}

// learnFrom learns from the labels and prints what came of it. It is a [fitter].
func learnFrom(cmd *cobra.Command, engine *voicescreen.Engine, opts *voicescreen.CalibrateOptions) (write func(io.Writer) error, reason string, err error) {
	found, err := engine.Calibrate(cmd.Context(), opts)
	for _, c := range found { // also beside an error
		err = errors.Join(err, printCalibration(cmd.OutOrStdout(), c))
	}
	switch {
	case err != nil:
		return nil, "", err
	case found[0].Learned == nil:
		return nil, found[0].Reason, nil
	}
	return found[0].Learned.File.Write, "", nil
}

// printCalibration prints what came of the labels of one category.
func printCalibration(w io.Writer, c *voicescreen.Calibration) error {
	p := &command.Printer{W: w}
	what := "the model in use stays"
	if c.Activated {
		what = "a new model is in use"
	}
	p.Printf("%v: %s\n  %s\n", c.Category, what, c.Reason)
	if c.Skipped > 0 {
		p.Printf("  %s had no features, or no label for it\n", command.Count(c.Skipped, "labelled session"))
	}
	if c.Damaged > 0 {
		p.Printf("  left out, as the database is damaged there: %s (see \"voicescreen db check\")\n", command.Count(c.Damaged, "session"))
	}
	if c.Learned == nil {
		return p.Err
	}
	f := c.Learned.File
	p.Printf("  %s %s, %v, from %d sessions of %d users in %s\n", f.Name, f.Version, c.Learned.Kind,
		f.Labels.Sessions, f.Labels.Users, command.Count(f.Labels.Accounts, "account"))
	p.Printf("  labels: %d PHQ-9, %d PHQ-2, %d GAD-7, %d interviews, %s to %s\n",
		f.Labels.PHQ9, f.Labels.PHQ2, f.Labels.GAD7, f.Labels.Interview, f.Labels.From, f.Labels.To)
	if c.Learned.Fresh {
		p.Printf("  compared on %d sessions that came since the model in use was learned\n", c.Learned.New.Sessions)
	}
	for _, m := range []struct {
		name string
		h    learn.HeldOut
	}{{"new", c.Learned.New}, {"in use before", c.Learned.Former}} {
		p.Printf("  held out, %-13s  log score %.4f, AUC %s (%s to %s), calibration error %s, Brier %s\n", m.name, m.h.LogScore,
			command.Text(m.h.AUC.Value, "%.3f"), command.Text(m.h.AUC.Low, "%.3f"), command.Text(m.h.AUC.High, "%.3f"), command.Text(m.h.ECE, "%.3f"), command.Text(m.h.Brier, "%.3f"))
	}
	return p.Err
}
