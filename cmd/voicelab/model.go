package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/models/dam"
)

// newModel groups the commands on model files.
func newModel() *cobra.Command {
	cmd := command.Group(&cobra.Command{
		Use:     "model",
		Short:   "Inspect and convert model files",
		Example: "  voicelab model convert dam3.1.ckpt dam3.1.model",
	})
	cmd.AddCommand(newConvert(), newModelInfo())
	return cmd
}

func newConvert() *cobra.Command {
	var checksum string
	cmd := &cobra.Command{
		Use:   "convert dam3.1.ckpt FILE",
		Short: "Convert the published checkpoint of DAM 3.1 to a file that opens faster",
		Long: `Read the PyTorch checkpoint of the Depression–Anxiety Model 3.1, fold its adapters
into the weights, and write a file that opens faster as --model of analyze, serve
and evaluate. Nothing in the checkpoint is executed. --model also takes the
checkpoint itself.`,
		Example: "  voicelab model convert dam3.1.ckpt dam3.1.model\n" +
			"  voicescreen serve --model dam3.1.model --db clinic.db --keys keys.json",
		Args: command.Args(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := command.NewOutput(args[1])
			if err != nil {
				return err
			}
			defer out.Discard()
			return out.Finish(func(w io.Writer) error { return dam.Convert(w, args[0], checksum) })
		},
	}
	cmd.Flags().StringVar(&checksum, "sha256", "", "the checksum that the checkpoint must have")
	command.NoValues(cmd, "sha256")
	return cmd
}

func newModelInfo() *cobra.Command {
	return &cobra.Command{
		Use:     "info FILE…",
		Short:   "Print what model files hold, and their checksums",
		Example: "  voicelab model info dam3.1.ckpt",
		Args:    command.Args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			p := &command.Printer{W: cmd.OutOrStdout()}
			for _, path := range args {
				s, err := command.LoadModel(path, nil)
				if err != nil {
					return err
				}
				sum, err := dam.Checksum(path)
				if err != nil {
					return err
				}
				info := s.Info()
				calibrated := "not calibrated on labelled recordings"
				if info.Calibrated {
					calibrated = "calibrated on " + info.CalibratedOn
				}
				p.Printf("%s: %s %s, %v, %s\n  sha256 %s\n", path, info.Name, info.Version, info.Categories, calibrated, sum)
			}
			return p.Err
		},
	}
}
