package voicescreen

import (
	"fmt"
	"time"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/screen"
)

func internalFailure() *screen.Failure {
	return &screen.Failure{Code: screen.CodeInternal, Message: "The analysis failed; please submit the recording in a new session"}
}

func decodeFailure(err error) *screen.Failure {
	return &screen.Failure{Code: screen.CodeAudioDecode, Message: "Audio file could not be decoded: " + err.Error()}
}

// minSpeech is the least speech for a score of the category.
func (o *AudioOptions) minSpeech(c screen.Category) time.Duration {
	if c == screen.Deepfake {
		return o.MinSpeechDeepfake
	}
	return o.MinSpeech
}

// lengthFailure returns why a recording of so many seconds in all cannot have
// a score of the category, or nil.
func (o *AudioOptions) lengthFailure(c screen.Category, seconds float64) *screen.Failure {
	least := o.minSpeech(c).Seconds()
	if seconds >= least {
		return nil
	}
	return &screen.Failure{
		Code:    screen.CodeAudioLength,
		Message: fmt.Sprintf("Audio file is less than the minimum audio length of %.1f seconds", least),
		Data:    map[string]float64{"minimum_length": least, "actual_length": seconds},
	}
}

// Refusal returns why a recording is not good enough for a score of the
// category by the limits of o, whose zero fields mean their defaults; nil if it
// is.
func (o AudioOptions) Refusal(c screen.Category, a *dsp.Analysis) *screen.Failure {
	filled := (&Options{Audio: o}).withDefaults().Audio
	return filled.gate(c, a)
}

// gate returns why the recording is not good enough for a score of the
// category, or nil. A recording that is too short as a whole is
// audio_length_error, whatever is in it, and its length is the actual_length.
// A longer one is no_speech_error if nobody speaks, and audio_length_error if
// somebody speaks for too short a time, which is then the actual_length.
// A measure of quality that is undefined refuses nothing.
func (o *AudioOptions) gate(c screen.Category, a *dsp.Analysis) *screen.Failure {
	if f := o.lengthFailure(c, a.Duration); f != nil {
		return f
	}
	speech := a.SpeechDuration()
	if speech <= 0 {
		return &screen.Failure{Code: screen.CodeNoSpeech, Message: "Audio file contains no speech"}
	}
	if f := o.lengthFailure(c, speech); f != nil {
		return f
	}
	q := a.Quality
	switch {
	case q.SNR < o.MinSNR:
		return &screen.Failure{
			Code:    screen.CodeAudioQuality,
			Message: fmt.Sprintf("Audio file is too noisy: the signal-to-noise ratio is less than %.1f dB", o.MinSNR),
			Data:    map[string]float64{"minimum_snr_db": o.MinSNR, "actual_snr_db": q.SNR},
		}
	case q.Clipped > o.MaxClipped:
		return &screen.Failure{
			Code:    screen.CodeAudioQuality,
			Message: fmt.Sprintf("Audio file is clipped: more than %.1f %% of its samples are at full scale", 100*o.MaxClipped),
			Data:    map[string]float64{"maximum_clipped_ratio": o.MaxClipped, "actual_clipped_ratio": q.Clipped},
		}
	case q.Bandwidth < o.MinBandwidth:
		return &screen.Failure{
			Code:    screen.CodeAudioQuality,
			Message: fmt.Sprintf("Audio file is too narrow in bandwidth: there is nothing above %.0f Hz", o.MinBandwidth),
			Data:    map[string]float64{"minimum_bandwidth_hz": o.MinBandwidth, "actual_bandwidth_hz": q.Bandwidth},
		}
	}
	return nil
}
