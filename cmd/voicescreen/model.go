package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/dam"
	"github.com/voicescreen/voicescreen/screen"
)

// newModel groups what is done to model files.
func newModel() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:     "model",
		Short:   "Look at model files, and convert them",
		Example: "  voicescreen model convert dam3.1.ckpt dam3.1.model",
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
into the weights, and write them as --model of analyze, serve and evaluate reads
them fastest. Nothing in the checkpoint is executed. --model takes the checkpoint
itself too.`,
		Example: "  voicescreen model convert dam3.1.ckpt dam3.1.model\n" +
			"  voicescreen serve --model dam3.1.model --db clinic.db --keys keys.json",
		Args: usageArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := newOutput(args[1])
			if err != nil {
				return err
			}
			defer out.discard()
			return out.finish(func(w io.Writer) error { return dam.Convert(w, args[0], checksum) })
		},
	}
	cmd.Flags().StringVar(&checksum, "sha256", "", "refuse a checkpoint with another checksum than this")
	return cmd
}

func newModelInfo() *cobra.Command {
	return &cobra.Command{
		Use:     "info FILE…",
		Short:   "Say what model files hold, and their checksums",
		Example: "  voicescreen model info dam3.1.ckpt",
		Args:    usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			p := &printer{w: cmd.OutOrStdout()}
			for _, path := range args {
				s, err := loadModel(path, nil)
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
				p.printf("%s: %s %s, %v, %s\n  sha256 %s\n", path, info.Name, info.Version, info.Categories, calibrated, sum)
			}
			return p.err
		},
	}
}

// loadModels loads model files, for people of whom the shares of rates have a
// score of 10 or more.
func loadModels(paths []string, rates map[screen.Category]float64) ([]models.Scorer, error) {
	var scorers []models.Scorer
	for _, path := range paths {
		s, err := loadModel(path, rates)
		if err != nil {
			return nil, err
		}
		scorers = append(scorers, s)
	}
	return scorers, nil
}

// loadModel loads a model file of any kind, which its first bytes tell. The
// rates are for DAM alone: the engine tells others.
func loadModel(path string, rates map[screen.Category]float64) (models.Scorer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", path, bare(err))
	}
	head := make([]byte, 16)
	n, err := io.ReadFull(f, head)
	f.Close()
	if err == nil && dam.Is(head[:n]) {
		return dam.Open(path, damOptions(rates))
	}
	return models.LoadFile(path) // which says what is wrong with it
}

func damOptions(rates map[screen.Category]float64) *dam.ScorerOptions {
	return &dam.ScorerOptions{Depression: rates[screen.Depression], Anxiety: rates[screen.Anxiety]}
}
