package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/models/dam"
	"github.com/voicescreen/voicescreen/models/ssl"
)

// newModel groups the commands on model files.
func newModel() *cobra.Command {
	cmd := command.Group(&cobra.Command{
		Use:     "model",
		Short:   "Inspect, convert and calibrate model files",
		Example: "  voicelab model convert mms_300m.ckpt mms_300m.model",
	})
	cmd.AddCommand(newConvert(), newCalibrateModel(), newModelInfo())
	return cmd
}

// convertOptions are the flags of "model convert".
type convertOptions struct {
	checksum              string
	synthetic             []string
	heads                 int
	int8                  bool
	name, licence, source string
}

func newConvert() *cobra.Command {
	var o convertOptions
	cmd := &cobra.Command{
		Use:   "convert SOURCE FILE",
		Short: "Convert a published model to a file that opens faster",
		Long: `Read a published model and write a file that opens faster as --model of analyze,
serve, work and evaluate. Nothing in the model is executed. SOURCE is one of:

- dam3.1.ckpt, the Depression–Anxiety Model 3.1
- a checkpoint of AntiDeepfake, such as mms_300m.ckpt
- a directory of Hugging Face with config.json and model.safetensors, of
  Wav2Vec2ForSequenceClassification or HubertForSequenceClassification

--model also takes SOURCE itself, but for a detector of synthetic voices that needs
--synthetic or --heads. Which classes of a detector mean a synthetic voice is read
from their names, such as fake and real, or stated by --synthetic. A converted
detector is not read into memory but mapped: replace it by renaming another file, and
never write to it while it is in use.

--int8 writes the weights as integers of eight bits: a quarter of the size, and on
processors with AVX-512 VNNI less than half of the processor time. The file is mapped,
too. It changes scores, on weights from a seed by less than 0.01; what it does to the
errors of a published model was not measured: compare the two with "evaluate --against".`,
		Example: "  voicelab model convert mms_300m.ckpt mms_300m.model\n" +
			"  voicelab model convert --int8 mms_300m.ckpt mms_300m-int8.model\n" +
			"  voicelab model convert --synthetic LABEL_1 ./detector detector.model\n" +
			"  voicescreen serve --model mms_300m.model --db clinic.db --keys keys.json",
		Args: command.Args(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error { return runConvert(cmd, args[0], args[1], &o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.checksum, "sha256", "", "the checksum that the checkpoint must have; of a directory, model.safetensors")
	f.StringArrayVar(&o.synthetic, "synthetic", nil, "a detector: the name of a class that means a synthetic voice (repeatable)")
	f.IntVar(&o.heads, "heads", 0, "a checkpoint of AntiDeepfake: the number of attention heads (default that of the published network of its width)")
	f.BoolVar(&o.int8, "int8", false, "write the weights as integers of eight bits")
	f.StringVar(&o.name, "name", "", "a detector: its name in the scores (default that of the file or directory)")
	f.StringVar(&o.licence, "licence", "", "a detector: the licence of its weights (default what is known of it)")
	f.StringVar(&o.source, "source", "", "a detector: where its weights are from, in words (default what is known of it)")
	command.NoValues(cmd, "sha256", "synthetic", "name", "licence", "source")
	return cmd
}

func runConvert(cmd *cobra.Command, source, file string, o *convertOptions) error {
	detector, err := ssl.Is(source)
	if err != nil {
		return fmt.Errorf("model %s: %w", source, command.Bare(err))
	}
	if name := command.Given(cmd, "synthetic", "heads", "name", "licence", "source"); name != "" && !detector {
		return command.Usagef("--%s is for a detector of synthetic voices", name)
	}
	if o.heads < 0 {
		return command.Usagef("--heads is %d, want 1 or more", o.heads)
	}
	out, err := command.NewOutput(file)
	if err != nil {
		return err
	}
	defer out.Discard()
	if !detector {
		convert := dam.Convert
		if o.int8 {
			convert = dam.ConvertInt8
		}
		return out.Finish(func(w io.Writer) error { return convert(w, source, o.checksum) })
	}
	m, err := ssl.Open(source, &ssl.Options{
		SHA256: o.checksum, Synthetic: o.synthetic, Heads: o.heads, Name: o.name, Licence: o.licence, Source: o.source,
		Int8: o.int8,
	})
	if err != nil {
		return err
	}
	if o.int8 && !m.Int8() {
		return fmt.Errorf("%s is converted already: --int8 needs the published file", source)
	}
	command.PrintOrigins(cmd, m)
	return out.Finish(m.Write)
}

func newModelInfo() *cobra.Command {
	return &cobra.Command{
		Use:     "info FILE…",
		Short:   "Print what model files hold, and their checksums",
		Example: "  voicelab model info dam3.1.ckpt mms_300m.model",
		Args:    command.Args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			p := &command.Printer{W: cmd.OutOrStdout()}
			for _, path := range args {
				s, err := command.LoadModel(path, nil)
				if err != nil {
					return err
				}
				info := s.Info()
				calibrated := "not calibrated on labelled recordings"
				if info.Calibrated {
					calibrated = "calibrated on " + info.CalibratedOn
				}
				p.Printf("%s: %s %s, %v, %s\n", path, info.Name, info.Version, info.Categories, calibrated)
				if m, ok := s.(interface{ Int8() bool }); ok && m.Int8() {
					p.Printf("  int8: weights are rounded to eight bits\n")
				}
				if m, ok := s.(*ssl.Model); ok {
					printDetector(p, m)
					continue
				}
				sum, err := dam.Checksum(path)
				if err != nil {
					return err
				}
				p.Printf("  sha256 %s\n", sum)
			}
			return p.Err
		},
	}
}

// printDetector prints where a detector is from, and which of its classes are synthetic.
func printDetector(p *command.Printer, m *ssl.Model) {
	card := m.Card()
	for i, label := range card.Labels {
		is := "genuine"
		if card.Synthetic[i] {
			is = "synthetic"
		}
		p.Printf("  class %d, %s: %s\n", i, label, is)
	}
	p.Printf("  %s\n", command.Origin(m.Info()))
	if w := command.LicenceWarning(m.Info()); w != "" {
		p.Printf("  warning: %s\n", w)
	}
}
