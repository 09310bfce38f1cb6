package main

import (
	"fmt"
	"io"
	"sync"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/lab/train"
	"github.com/voicescreen/voicescreen/models"

	"github.com/voicescreen/voicescreen/screen"
)

// trainOptions are the flags of "train".
type trainOptions struct {
	task, manifest, out          string
	name, version, licence, data string
	seed                         uint64
	corpus                       corpusOptions
}

func newTrain() *cobra.Command {
	var o trainOptions
	cmd := &cobra.Command{
		Use:   "train --task TASK --manifest FILE.csv --out MODEL.json",
		Short: "Fit a model to labelled recordings",
		Long: `Fit a model to the recordings of a manifest and write its file: a logistic
regression and, for deepfake, a kernel machine. The figures are from
cross-validation in which no source, system or speaker is on both sides. Equal
manifests, recordings and seeds give equal files.

` + manifestHelp + `
Rows whose use is train or empty are trained on. All others are only measured.

` + corpusHelp + `
The published protocol is run, next to models of sex and age alone and of the
interviewer alone. The model that is written is the shipped model updated with all
labels of the corpus.`,
		Example: "  voicelab train --task deepfake --manifest speech/manifest.csv --out deepfake.json\n" +
			"  voicelab train --task depression --corpus daic-woz --root DAIC --cache measured --out daic.json\n" +
			"  voicescreen analyze --model deepfake.json testdata/short_en.wav",
		Args: command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			task, err := command.ParseTask(o.task)
			switch {
			case err != nil:
				return err
			case o.out == "":
				return command.Usagef("--out is missing, want the path of the model file to write")
			}
			if err := o.corpus.check(o.manifest); err != nil {
				return err
			}
			if o.corpus.name != "" {
				return trainCorpus(cmd, task, o)
			}
			return runTrain(cmd, task, o)
		},
	}
	addTask(cmd, &o.task, &o.manifest)
	o.corpus.add(cmd)
	o.corpus.addCache(cmd)
	cmd.Flags().StringVar(&o.out, "out", "", "the model file to write (required)")
	cmd.Flags().StringVar(&o.name, "name", "", "name of the model (default \"voicescreen-TASK\")")
	cmd.Flags().StringVar(&o.version, "version", "", "version of the model (default \"1.0.0\", or with --corpus that of the shipped model with \"+\" and the number of sessions)")
	cmd.Flags().StringVar(&o.licence, "licence", "", "licence of the model (default \"MIT\", or with --corpus \"that of the corpus\")")
	cmd.Flags().StringVar(&o.data, "data", "", "what the recordings are, in words (default \"the manifest\", or the name of the corpus)")
	cmd.Flags().Uint64Var(&o.seed, "seed", 0, "seed of the folds and of all other random numbers")
	command.NoValues(cmd, "name", "version", "licence", "data")
	return cmd
}

func runTrain(cmd *cobra.Command, task screen.Category, o trainOptions) error {
	m, err := openManifest(cmd, o.manifest, task)
	if err != nil {
		return err
	}
	out, err := command.NewOutput(o.out)
	if err != nil {
		return err
	}
	defer out.Discard()

	var bar *command.Progress // of the first step on: only then is it known how many there are
	defer func() { bar.Finish() }()
	var mu sync.Mutex // protects the bar and what is written above it
	file, err := train.Fit(cmd.Context(), task, m.Rows, &train.Options{
		Decode: func(path string) ([]float64, int, error) {
			c, err := command.ReadFile(cmd.Context(), m.Path(path), nil, 0)
			if err != nil {
				return nil, 0, err
			}
			for _, w := range command.Warnings(c) {
				mu.Lock()
				bar.Hide()
				fmt.Fprintf(cmd.ErrOrStderr(), "%s: warning: %s: %s\n", cmd.Root().Name(), path, w)
				mu.Unlock()
			}
			return c.Samples, c.Rate, nil
		},
		Progress: func(done, total int) {
			mu.Lock()
			defer mu.Unlock()
			if done == 1 {
				bar = command.NewProgress(cmd.ErrOrStderr(), total, "training")
			}
			bar.Step()
		},
		Name: o.name, Version: o.version, Licence: o.licence, Data: o.data, Seed: o.seed,
	})
	bar.Finish()
	if err != nil {
		return err
	}
	if err := out.Finish(file.Write); err != nil {
		return err
	}
	return printModel(cmd.OutOrStdout(), o.out, file)
}

// printModel prints what a model was made of and how well it did.
func printModel(w io.Writer, path string, f *models.File) error {
	p := &command.Printer{W: w}
	rows := 0
	for _, d := range f.TrainedOn {
		rows += d.Rows
	}
	p.Printf("%s: %s %s, %v, %d features of %s, trained on %d recordings\n",
		path, f.Name, f.Version, f.Category, len(f.Features), f.Schema, rows)
	split := ""
	for _, m := range f.Metrics {
		if m.Split != split {
			split = m.Split
			p.Printf("%s (%d recordings):\n", split, m.N)
		}
		p.Printf("  %-18s %.4f (%.4f to %.4f; %s)\n", m.Name, m.Value, m.Low, m.High, m.Interval)
	}
	return p.Err
}
