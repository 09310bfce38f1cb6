// Command voicelab makes and measures the models behind voicescreen: it trains
// them on labelled recordings, evaluates them, chooses thresholds, simulates what
// labels give, and writes the models that are shipped. "voicelab help" lists its
// commands, "voicelab help COMMAND" shows one with an example.
//
// Results go to standard output, everything else to standard error. The exit
// code is 0, 1 after an error, 2 for a usage error, 130 after an interrupt and 143
// after SIGTERM.
package main

import (
	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/screen"
)

func main() { command.Main(newRoot()) }

func newRoot() *cobra.Command {
	root := command.Group(&cobra.Command{
		Use:   "voicelab",
		Short: "Train and measure the models behind voicescreen",
		Long: "voicelab makes and measures the models behind voicescreen: depression, anxiety and\n" +
			"synthetic speech.\n\n" + screen.Disclaimer,
		Example: "  voicelab evaluate --task deepfake --manifest speech/manifest.csv",
	})
	root.AddCommand(
		newTrain(), newEvaluate(), newThresholds(), newSimulate(),
		newPriors(), newNorms(), newModel(), command.NewVersion("voicelab"),
	)
	return root
}
