package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/lab/manifest"
	"github.com/voicescreen/voicescreen/screen"
)

// manifestHelp describes manifests in the help of the commands that read them.
const manifestHelp = `The manifest is a CSV file with the columns path and label, in upper or lower case,
with commas, semicolons or tabs between them. Paths are relative to its folder. Labels are bonafide or 0 and spoof or 1 for deepfake, and negative,
false or 0 and positive, true or 1 for depression and anxiety. There the sum of the
questionnaire in a column phq_9 or gad_7 can replace the label. The columns
source_repo, system, speaker, licence and use are read if they are there, and by
evaluate also kind, language, gender, age, race and ethnicity. A row that cannot be
read is left out with a warning, with more than a tenth of them the manifest is
refused. Recordings are mono, at 8 to 192 kHz: WAV, FLAC, MP3, or Opus in Ogg or WebM.`

// taskNames are the values of --task.
var taskNames = []string{"depression", "anxiety", "deepfake"}

// addTask adds the flags of the commands that read a manifest.
func addTask(cmd *cobra.Command, task, manifest *string) {
	cmd.Flags().StringVar(task, "task", "", "depression, anxiety or deepfake (required)")
	cmd.Flags().StringVar(manifest, "manifest", "", "the manifest (required without --corpus)")
	command.Values(cmd, "task", taskNames...)
}

// maxReported is how many bad files and rows of a manifest are named. Chosen: enough
// to see what is wrong with all of them.
const maxReported = 10

// openManifest reads a manifest, and warns of the rows that are left out.
func openManifest(cmd *cobra.Command, path string, task screen.Category) (*manifest.File, error) {
	m, err := manifest.Open(path, task)
	if err != nil {
		return nil, err
	}
	n := len(m.Skipped)
	for _, bad := range m.Skipped[:min(n, maxReported)] {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: warning: manifest %s: %v\n", cmd.Root().Name(), path, bad)
	}
	if n > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: warning: manifest %s: %s left out, %d read\n", cmd.Root().Name(), path, command.Count(n, "row"), len(m.Rows))
	}
	return m, nil
}

// each computes something of the recording of every row, in order. If one
// cannot be read there is no result: a figure on the others would not be one
// on the manifest.
func each[T any](m *manifest.File, cmd *cobra.Command, what string, work func(ctx context.Context, row *manifest.Row, in *features.Recording) (T, error)) ([]T, error) {
	type result struct {
		v        T
		warnings []string
		err      error
	}
	newWork := func() func(i int) result {
		measurer := features.NewMeasurer()
		return func(i int) (r result) {
			c, err := command.ReadFile(cmd.Context(), m.Path(m.Rows[i].Path), nil, 0)
			if err != nil {
				return result{err: command.HelpChannel(err, false)}
			}
			r.warnings = command.Warnings(c)
			r.v, r.err = work(cmd.Context(), &m.Rows[i], measurer.Measure(c))
			return r
		}
	}
	bar := command.NewProgress(cmd.ErrOrStderr(), len(m.Rows), what)
	defer bar.Finish()
	values := make([]T, len(m.Rows))
	bad := 0
	err := command.InOrder(cmd.Context(), len(m.Rows), newWork, func(i int, r result) error {
		report := func(what string) {
			bar.Hide()
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s%s\n", cmd.Root().Name(), m.Path(m.Rows[i].Path), what)
		}
		for _, w := range r.warnings {
			report(": warning: " + w)
		}
		if r.err != nil {
			if bad++; bad <= maxReported {
				report(": " + r.err.Error())
			}
		}
		values[i] = r.v
		bar.Step()
		return nil
	})
	if err == nil && bad > 0 {
		err = fmt.Errorf("%d of %d recordings cannot be used", bad, len(m.Rows))
	}
	if err != nil {
		return nil, err
	}
	return values, nil
}
