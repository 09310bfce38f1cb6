package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/lab/manifest"
	"github.com/voicescreen/voicescreen/lab/train"
	"github.com/voicescreen/voicescreen/screen"
)

// checkNested refuses --nested where it has no meaning.
func checkNested(nested bool, task screen.Category, corpus string) error {
	if nested && (task != screen.Deepfake || corpus != "") {
		return command.Usagef("--nested is for --task deepfake with --manifest")
	}
	return nil
}

// evaluateNested prints the figures of a nested cross-validation.
func evaluateNested(cmd *cobra.Command, o evaluateOptions) error {
	for _, name := range []string{"model", "against", "scores", "report", "use", "gate", "threshold", command.FlagPrior} {
		if command.Given(cmd, name) != "" {
			return command.Usagef("--%s does not go with --nested, which scores by models of its own", name)
		}
	}
	m, err := openManifest(cmd, o.manifest, screen.Deepfake)
	if err != nil {
		return err
	}
	bar := &trainingBar{cmd: cmd}
	defer bar.finish()
	opts := bar.options(m)
	if o.through != "" {
		for _, r := range m.Rows {
			if filepath.IsAbs(r.Path) { // it would be the recording without the channel
				return command.Usagef("--through: the manifest has the absolute path %s, want paths relative to it", r.Path)
			}
		}
		opts.Through = bar.decode(&manifest.File{Dir: o.through})
	}
	metrics, err := train.Nested(cmd.Context(), m.Rows, opts)
	bar.finish()
	if err != nil {
		return err
	}
	if o.json {
		e := json.NewEncoder(cmd.OutOrStdout())
		e.SetIndent("", "  ")
		return e.Encode(metrics)
	}
	p := &command.Printer{W: cmd.OutOrStdout()}
	printMetrics(p, metrics)
	return p.Err
}

// A trainingBar shows how far a training is.
type trainingBar struct {
	cmd *cobra.Command
	mu  sync.Mutex        // protects the bar and what is written above it
	bar *command.Progress // of the first step on: only then is it known how many there are
}

func (b *trainingBar) finish() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bar.Finish()
}

// decode reads the recordings of a manifest; warnings go above the bar.
func (b *trainingBar) decode(m *manifest.File) func(path string) ([]float64, int, error) {
	return func(path string) ([]float64, int, error) {
		c, err := command.ReadFile(b.cmd.Context(), m.Path(path), nil, 0)
		if err != nil {
			return nil, 0, err
		}
		for _, w := range command.Warnings(c) {
			b.mu.Lock()
			b.bar.Hide()
			fmt.Fprintf(b.cmd.ErrOrStderr(), "%s: warning: %s: %s\n", b.cmd.Root().Name(), path, w)
			b.mu.Unlock()
		}
		return c.Samples, c.Rate, nil
	}
}

// options read the recordings of a manifest and report to the bar.
func (b *trainingBar) options(m *manifest.File) *train.Options {
	return &train.Options{
		Decode: b.decode(m),
		Progress: func(done, total int) {
			b.mu.Lock()
			defer b.mu.Unlock()
			if done == 1 {
				b.bar = command.NewProgress(b.cmd.ErrOrStderr(), total, "training")
			}
			b.bar.Step()
		},
	}
}
