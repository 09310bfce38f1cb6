// Command voicescreen scores recordings of voices from the command line and
// serves the scores over HTTP. It is what a clinic runs; the models are made and
// measured by voicelab. "voicescreen help" lists its commands, "voicescreen help COMMAND"
// shows one with an example.
//
// Results go to standard output, everything else to standard error. The exit
// code is 0, 1 after an error, 2 for a usage error, 130 after an interrupt and 143
// after SIGTERM. "serve" ends with 0 after both.
package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/screen"
)

func main() { command.Main(newRoot()) }

func newRoot() *cobra.Command {
	root := command.Group(&cobra.Command{
		Use:   "voicescreen",
		Short: "Screening scores from recordings of a voice",
		Long: "voicescreen listens to recordings of a person speaking and gives scores for signs of\n" +
			"depression, signs of anxiety, and the risk that the voice is synthetic.\n\n" + screen.Disclaimer,
		Example: "  voicescreen analyze testdata/interview_en.wav",
	})
	root.AddCommand(
		newAnalyze(), newFeatures(), newReport(),
		newServe(), newWork(), newHealth(), newKeys(), newDB(), newWebhooks(), newThresholds(), newAudit(),
		newCalibrate(),
		newAdapt(),
		command.NewVersion("voicescreen"),
	)
	return root
}

// usageIfInvalid makes a usage error of one about an argument.
func usageIfInvalid(err error) error {
	if errors.Is(err, voicescreen.ErrInvalid) {
		return command.Usage(err)
	}
	return err
}
