package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen"

	"github.com/voicescreen/voicescreen/internal/command"
)

func newAdapt() *cobra.Command {
	var o calibrateOptions
	cmd := &cobra.Command{
		Use:   "adapt --db PATH [--task TASK] [--base-rate TASK=SHARE]",
		Short: "Adapt the norms to the recordings, without labels",
		Long: `Bring the norms of the depression and anxiety models, which say how people speak,
towards the recordings in the database: your microphone, language and prompt. Labels are
not needed. The adapted norms replace the shipped ones if the features of held-out people
are more probable under them. The database keeps them and the former norms; --revert goes
back by one.

Adapting needs recordings of at least 30 users, each of whom has one vote. It cannot see
how many of them are ill: give --base-rate here and to "serve", or the intervals become
wider. Of a database file stop the server first, or let it adapt while it runs with
"serve --calibrate". With PostgreSQL the servers go on, and use the norms within a second.
A model that was learned from labels stays in use with the norms that it was learned on;
the next "calibrate" begins with the adapted norms.`,
		Example: "  voicescreen adapt --db clinic.db --base-rate depression=0.3\n" +
			"  voicescreen adapt --db clinic.db --task depression --dry-run --out adapted.json\n" +
			"  voicescreen adapt --db clinic.db --task depression --revert",
		Args: command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd, (*voicescreen.Engine).RevertNorms, adaptTo, "adapted")
		},
	}
	o.addTo(cmd, "recordings", "model with the adapted norms")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "leave the norms in use as they are")
	cmd.Flags().BoolVar(&o.revert, "revert", false, "with --task: go back to the former norms, and adapt nothing")
	return cmd
}

// adaptTo adapts the norms and prints what came of it. It is a [fitter].
func adaptTo(cmd *cobra.Command, engine *voicescreen.Engine, opts *voicescreen.CalibrateOptions) (write func(io.Writer) error, reason string, err error) {
	found, err := engine.Adapt(cmd.Context(), (*voicescreen.AdaptOptions)(opts))
	for _, a := range found { // also beside an error
		err = errors.Join(err, printAdaptation(cmd.OutOrStdout(), a))
	}
	switch {
	case err != nil:
		return nil, "", err
	case found[0].Adapted == nil:
		return nil, found[0].Reason, nil
	}
	return found[0].Adapted.File.Write, "", nil
}

// printAdaptation prints what came of the recordings for one category.
func printAdaptation(w io.Writer, a *voicescreen.Adaptation) error {
	p := &command.Printer{W: w}
	what := "the norms in use stay"
	switch {
	case a.Activated && a.Waits:
		what = "adapted norms wait for the next calibration; the model in use was learned from labels and stays"
	case a.Activated:
		what = "adapted norms are in use"
	}
	p.Printf("%v: %s\n  %s\n", a.Category, what, a.Reason)
	if a.Skipped > 0 {
		p.Printf("  %s had no features\n", command.Count(a.Skipped, "session"))
	}
	if a.Damaged > 0 {
		p.Printf("  left out, as the database is damaged there: %s (see \"voicescreen db check\")\n", command.Count(a.Damaged, "session"))
	}
	if a.Adapted == nil {
		return p.Err
	}
	f := a.Adapted.File
	p.Printf("  %s %s, from %s of %d users in %s, %s to %s\n", f.Name, f.Version, command.Count(f.Adapted.Sessions, "recording"),
		f.Adapted.People, command.Count(f.Adapted.Accounts, "account"), f.Adapted.From, f.Adapted.To)
	rate := "the base rate is not stated: intervals become wider; see --base-rate"
	if f.Adapted.BaseRate > 0 {
		rate = fmt.Sprintf("a base rate of %g is allowed for; \"serve\" needs it too, or its intervals become wider", f.Adapted.BaseRate)
	}
	correlation := "their correlation was adapted too"
	if !a.Adapted.Correlated {
		correlation = "their correlation stays: it takes 100 users"
	}
	p.Printf("  the means of the features are %.2f standard deviations from the shipped ones; %s\n  %s\n", a.Adapted.Moved, correlation, rate)
	for _, g := range []struct {
		name string
		gain float64
		se   float64
		n    int
	}{{"shipped norms", a.Adapted.Gain.Mean, a.Adapted.Gain.SE, a.Adapted.Gain.People}, {"norms in use before", a.Adapted.OverFormer.Mean, a.Adapted.OverFormer.SE, a.Adapted.OverFormer.People}} {
		p.Printf("  held out, against the %-19s  log density %+.3f a person, standard error %.3f, %d people\n", g.name, g.gain, g.se, g.n)
	}
	return p.Err
}
