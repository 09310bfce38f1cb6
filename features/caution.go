package features

import "github.com/voicescreen/voicescreen/screen"

const (
	cautionSpeech = 2.0 // seconds: the least that the service accepts

	// cautionSNR is in dB. 5 % of the 1,337 clips on which the deepfake model was
	// trained and measured lie below it, and 31 % of those clips with noise added
	// 12 to 35 dB below them.
	cautionSNR = 18.0

	// cautionBandwidth is in Hz: what a rate of 8 kHz can carry, and what
	// resamplers leave above that. 2 % of those clips lie below it.
	cautionBandwidth = 5000.0
)

// Cautions lists what reduces the confidence in any score of the recording, in
// ascending order. It is nil if Analysis is nil.
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
	if in.Lossy {
		c = append(c, screen.Lossy)
	}
	return c
}
