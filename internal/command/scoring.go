package command

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
)

// ScoringFlags are the flags --base-rate and --fixed-gain.
type ScoringFlags struct {
	rates     []string
	fixedGain bool
}

// Add adds the flags to a command.
func (f *ScoringFlags) Add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.rates, "base-rate", nil, "share of people with a score of 10 or more, as depression=0.2 or anxiety=0.1 (repeatable; default US adults, 0.080 and 0.061; a model that was calibrated on labels has its own). Cuts move with it, but not above one half")
	cmd.Flags().BoolVar(&f.fixedGain, "fixed-gain", false, "all recordings were made at the same gain, so that the level of the voice counts")
	Values(cmd, "base-rate", "depression=", "anxiety=")
}

// Set sets the options of an engine from the flags.
func (f *ScoringFlags) Set(o *voicescreen.ScoringOptions) error {
	o.FixedGain = f.fixedGain
	for _, text := range f.rates {
		name, value, _ := strings.Cut(text, "=")
		var c screen.Category
		rate, err := strconv.ParseFloat(value, 64)
		if c.UnmarshalText([]byte(name)) != nil || c == screen.Deepfake || err != nil || !(rate > 0 && rate < 1) {
			return Usagef("--base-rate is %q, want depression=SHARE or anxiety=SHARE with a share between 0 and 1", text)
		}
		if o.BaseRates == nil {
			o.BaseRates = map[screen.Category]float64{}
		}
		o.BaseRates[c] = rate
	}
	return nil
}

// FlagPrior is the flag for the share of synthetic recordings.
const FlagPrior = "deepfake-prior"

// AddPrior adds the flag FlagPrior to a command.
func AddPrior(cmd *cobra.Command, prior *float64) {
	cmd.Flags().Float64Var(prior, FlagPrior, 0, "share of synthetic recordings, above 0 and below 1, that the deepfake score assumes (default that of the model, 0.5 of the shipped one). The answer is true from a score of 50 on, whatever it is")
}

// CheckPrior returns an error in the command line if the flag FlagPrior is set to a value
// that is not above 0 and below 1.
func CheckPrior(cmd *cobra.Command, prior float64) error {
	if Given(cmd, FlagPrior) != "" && !(prior > 0 && prior < 1) {
		return Usagef("--%s is %v, want above 0 and below 1", FlagPrior, prior)
	}
	return nil
}
