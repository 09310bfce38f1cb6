package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/lab/prior"
	"github.com/voicescreen/voicescreen/screen"
)

// normsOptions are the flags of "norms".
type normsOptions struct {
	manifest, out string
	rows          int
}

func newNorms() *cobra.Command {
	var o normsOptions
	cmd := &cobra.Command{
		Use:   "norms --manifest FILE.csv --out NORMS.json",
		Short: "Measure the norms behind the shipped depression and anxiety models",
		Long: `Measure how the features of the shipped depression and anxiety models are
distributed in female and in male voices, in free speech, picture descriptions and
reading, their sampling errors on little speech, and what noise takes from them. The
manifest is one of the deepfake task with the columns use, source_repo and speaker. Of
its bona fide rows whose use is train, the speech of each speaker is put in a row to
60 s in each way of speaking, with pauses of published length. Equal manifests and
recordings give equal files.

The norms of the source tree are lab/prior/norms.json; "voicelab priors" makes the
models from them.`,
		Example: "  voicelab norms --manifest speech/manifest.csv --out lab/prior/norms.json",
		Args:    command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.manifest == "":
				return command.Usagef("--manifest is missing")
			case o.out == "":
				return command.Usagef("--out is missing, want the path of the file of norms to write")
			case o.rows < 0:
				return command.Usagef("--rows is %d, want 1 or more", o.rows)
			}
			return runNorms(cmd, &o)
		},
	}
	cmd.Flags().StringVar(&o.manifest, "manifest", "", "the manifest (required)")
	cmd.Flags().StringVar(&o.out, "out", "", "the file of norms to write (required)")
	cmd.Flags().IntVar(&o.rows, "rows", 0, "take this many rows from the beginning of the manifest (default all)")
	return cmd
}

func runNorms(cmd *cobra.Command, o *normsOptions) error {
	m, err := openManifest(cmd, o.manifest, screen.Deepfake)
	if err != nil {
		return err
	}
	if o.rows > len(m.Rows) {
		return fmt.Errorf("manifest %s has %d rows, want the %d of --rows", o.manifest, len(m.Rows), o.rows)
	}
	if o.rows > 0 {
		m.Rows = m.Rows[:o.rows]
	}
	out, err := command.NewOutput(o.out)
	if err != nil {
		return err
	}
	defer out.Discard()
	var bar *command.Progress
	defer func() { bar.Finish() }()
	decode := func(path string) ([]float64, int, error) {
		c, err := command.ReadFile(cmd.Context(), m.Path(path), nil, 0)
		if err != nil {
			return nil, 0, err
		}
		return c.Samples, c.Rate, nil
	}
	found, err := prior.MeasureVoices(cmd.Context(), m.Rows, decode, func(done, total int) {
		if bar == nil {
			bar = command.NewProgress(cmd.ErrOrStderr(), total, "measuring")
		}
		bar.Step()
	})
	bar.Finish()
	if err != nil {
		return err
	}
	if err := out.Finish(found.Norms.Write); err != nil {
		return err
	}
	p := &command.Printer{W: cmd.OutOrStdout()}
	p.Printf("%s: %d features of %d female and %d male voices\n", o.out, len(found.Norms.Features), found.Norms.Females, found.Norms.Males)
	p.Printf("the sex of %s is published; pitch and third formant alone agree with %d of them\n", command.Count(found.Published, "speaker"), found.Agree)
	return p.Err
}
