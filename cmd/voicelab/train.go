package main

import (
	"io"

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
	nested                       bool
	corpus                       corpusOptions
}

func newTrain() *cobra.Command {
	var o trainOptions
	cmd := &cobra.Command{
		Use:   "train --task TASK --manifest FILE.csv --out MODEL.json",
		Short: "Fit a model to labelled recordings",
		Long: `Fit a model to the recordings of a manifest and write its file: a logistic
regression. The figures are from cross-validation in which no source, system or
speaker is on both sides. Equal manifests, recordings and seeds give equal files.

` + manifestHelp + `
Rows whose use is train or empty are trained on. All others are only measured.

--nested, for deepfake, measures the model as new systems will: with source,
speaker and decoder of each recording held out, and measures, penalty and
calibration chosen within the rest. The model is then designed and calibrated so,
with at most 10 % false alarms at one half among the held-out scores. The columns
bandwidth_hz and duration_s are read for its figures. It takes some minutes more.

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
			if err := checkNested(o.nested, task, o.corpus.name); err != nil {
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
	cmd.Flags().BoolVar(&o.nested, "nested", false, "deepfake: measure, design and calibrate by nested cross-validation")
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

	bar := &trainingBar{cmd: cmd}
	defer bar.finish()
	opts := bar.options(m)
	opts.Name, opts.Version, opts.Licence, opts.Data = o.name, o.version, o.licence, o.data
	opts.Seed, opts.Nested = o.seed, o.nested
	file, err := train.Fit(cmd.Context(), task, m.Rows, opts)
	bar.finish()
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
	printMetrics(p, f.Metrics)
	return p.Err
}

// printMetrics prints figures, those of one split together.
func printMetrics(p *command.Printer, metrics []models.Metric) {
	split := ""
	for _, m := range metrics {
		if m.Split != split {
			split = m.Split
			p.Printf("%s (%d recordings):\n", split, m.N)
		}
		p.Printf("  %-20s %.4f (%.4f to %.4f; %s)\n", m.Name, m.Value, m.Low, m.High, m.Interval)
	}
}
