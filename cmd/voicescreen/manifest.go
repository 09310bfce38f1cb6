package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models/fit"
	"github.com/voicescreen/voicescreen/screen"
)

// manifestHelp describes manifests in the help of the commands that read them.
const manifestHelp = `The manifest is a CSV file with the columns path and label; paths are relative to
it. Labels are bonafide or 0 and spoof or 1 for deepfake; negative, false or 0 and
positive, true or 1 for depression and anxiety, where the sum of the questionnaire
in a column phq_9 or gad_7 may stand in their place. Of other columns source_repo,
system, speaker, licence and use are taken notice of, and by evaluate kind, language,
gender, age, race and ethnicity. Recordings are mono WAV files at 8 to 192 kHz.`

// addTask adds the flags of the commands that read a manifest.
func addTask(cmd *cobra.Command, task, manifest *string) {
	cmd.Flags().StringVar(task, "task", "", "depression, anxiety or deepfake (required)")
	cmd.Flags().StringVar(manifest, "manifest", "", "the manifest (required without --corpus)")
}

// parseTask returns the category of the flag --task.
func parseTask(s string) (screen.Category, error) {
	var c screen.Category
	if s == "" {
		return c, usagef("--task is missing, want depression, anxiety or deepfake")
	}
	if err := c.UnmarshalText([]byte(s)); err != nil {
		return c, usagef("--task is %q, want depression, anxiety or deepfake", s)
	}
	return c, nil
}

// manifest is a table of labelled recordings.
type manifest struct {
	dir  string // of the file: paths are relative to it
	rows []fit.Row
}

// readManifest reads the CSV file at path.
func readManifest(path string, task screen.Category) (*manifest, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("manifest %s: %w", path, bare(err))
	}
	defer f.Close()
	rows, err := fit.ReadManifest(f, task)
	if err != nil {
		return nil, fmt.Errorf("manifest %s: %w", path, err)
	}
	return &manifest{filepath.Dir(path), rows}, nil
}

// file is where the recording lies that a row calls path.
func (m *manifest) file(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(m.dir, filepath.FromSlash(path))
}

// maxReported is how many bad files of a manifest are named. Chosen: enough to
// see what is wrong with all of them.
const maxReported = 10

// each computes something of the recording of every row, in order. If one
// cannot be read there is no result: a figure on the others would not be one
// on the manifest.
func each[T any](m *manifest, cmd *cobra.Command, what string, work func(ctx context.Context, row *fit.Row, in *features.Recording) (T, error)) ([]T, error) {
	type result struct {
		v        T
		warnings []string
		err      error
	}
	newWork := func() func(i int) result {
		measurer := features.NewMeasurer()
		return func(i int) (r result) {
			c, err := readFile(cmd.Context(), m.file(m.rows[i].Path), nil, 0)
			if err != nil {
				return result{err: err}
			}
			r.warnings = warnings(c)
			r.v, r.err = work(cmd.Context(), &m.rows[i], measurer.Measure(c))
			return r
		}
	}
	bar := newProgress(cmd.ErrOrStderr(), len(m.rows), what)
	defer bar.finish()
	values := make([]T, len(m.rows))
	bad := 0
	err := inOrder(cmd.Context(), len(m.rows), newWork, func(i int, r result) error {
		report := func(what string) {
			bar.hide()
			fmt.Fprintf(cmd.ErrOrStderr(), "voicescreen: %s%s\n", m.file(m.rows[i].Path), what)
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
		bar.step()
		return nil
	})
	if err == nil && bad > 0 {
		err = fmt.Errorf("%d of %d recordings cannot be used", bad, len(m.rows))
	}
	if err != nil {
		return nil, err
	}
	return values, nil
}
