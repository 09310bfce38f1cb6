package features

import "github.com/voicescreen/voicescreen/screen"

const (
	cautionSpeech = 2.0 // seconds: the least that the service asks of a recording

	// cautionSNR in dB is not reached by 5 % of the 1,337 clips that the model
	// was made with and measured on, and by 31 % of those to which noise was
	// added 12 to 35 dB below them.
	cautionSNR = 18.0

	// cautionBandwidth in Hz is what a rate of 8 kHz can carry and what
	// resamplers leave above; 2 % of those clips do not reach it.
	cautionBandwidth = 5000.0
)

// Cautions lists the reasons to doubt any score of the recording, in ascending
// order. It is nil where Analysis is nil.
func (in *Recording) Cautions() []screen.Caution {
	a := in.Analysis
	if a == nil {
		return nil
	}
	var c []screen.Caution
	if a.SpeechDuration() < cautionSpeech {
		c = append(c, screen.LittleSpeech)
	}
	if a.Quality.SNR < cautionSNR {
		c = append(c, screen.Noisy)
	}
	if a.Quality.Bandwidth < cautionBandwidth {
		c = append(c, screen.NarrowBand)
	}
	if severalVoices(a) {
		c = append(c, screen.SeveralVoices)
	}
	return c
}
