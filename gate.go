package voicescreen

import (
	"fmt"
	"time"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/models"
)

// The codes of Failure.
const (
	CodeAudioLength  = "audio_length_error"  // less speech than a score needs
	CodeNoSpeech     = "no_speech_error"     // long enough, and nobody speaks
	CodeAudioQuality = "audio_quality_error" // too much noise or clipping, or too narrow a band
	CodeAudioDecode  = "audio_decode_error"  // the stored file could not be decoded
	CodeInternal     = "internal_error"      // the analysis failed more often than it is tried
)

func internalFailure() *Failure {
	return &Failure{Code: CodeInternal, Message: "The analysis failed; please submit the recording in a new session"}
}

func decodeFailure(err error) *Failure {
	return &Failure{Code: CodeAudioDecode, Message: "Audio file could not be decoded: " + err.Error()}
}

// minSpeech is the least speech for a score of the category.
func (o *AudioOptions) minSpeech(c models.Category) time.Duration {
	if c == models.Deepfake {
		return o.MinSpeechDeepfake
	}
	return o.MinSpeech
}

// lengthFailure returns why a recording of so many seconds in all cannot have
// a score of the category, or nil.
func (o *AudioOptions) lengthFailure(c models.Category, seconds float64) *Failure {
	least := o.minSpeech(c).Seconds()
	if seconds >= least {
		return nil
	}
	return &Failure{
		Code:    CodeAudioLength,
		Message: fmt.Sprintf("Audio file is less than the minimum audio length of %.1f seconds", least),
		Data:    map[string]float64{"minimum_length": least, "actual_length": seconds},
	}
}

// Refusal returns why a recording is not good enough for a score of the
// category by the limits of o, whose zero fields mean their defaults; nil if it
// is.
func (o AudioOptions) Refusal(c models.Category, a *dsp.Analysis) *Failure {
	filled := (&Options{Audio: o}).withDefaults().Audio
	return filled.gate(c, a)
}

// gate returns why the recording is not good enough for a score of the
// category, or nil. A recording that is too short as a whole is
// audio_length_error, whatever is in it, and its length is the actual_length.
// A longer one is no_speech_error if nobody speaks, and audio_length_error if
// somebody speaks for too short a time, which is then the actual_length.
// A measure of quality that is undefined refuses nothing.
func (o *AudioOptions) gate(c models.Category, a *dsp.Analysis) *Failure {
	if f := o.lengthFailure(c, a.Duration); f != nil {
		return f
	}
	speech := a.SpeechDuration()
	if speech <= 0 {
		return &Failure{Code: CodeNoSpeech, Message: "Audio file contains no speech"}
	}
	if f := o.lengthFailure(c, speech); f != nil {
		return f
	}
	q := a.Quality
	switch {
	case q.SNR < o.MinSNR:
		return &Failure{
			Code:    CodeAudioQuality,
			Message: fmt.Sprintf("Audio file is too noisy: the signal-to-noise ratio is less than %.1f dB", o.MinSNR),
			Data:    map[string]float64{"minimum_snr_db": o.MinSNR, "actual_snr_db": q.SNR},
		}
	case q.Clipped > o.MaxClipped:
		return &Failure{
			Code:    CodeAudioQuality,
			Message: fmt.Sprintf("Audio file is clipped: more than %.1f %% of its samples are at full scale", 100*o.MaxClipped),
			Data:    map[string]float64{"maximum_clipped_ratio": o.MaxClipped, "actual_clipped_ratio": q.Clipped},
		}
	case q.Bandwidth < o.MinBandwidth:
		return &Failure{
			Code:    CodeAudioQuality,
			Message: fmt.Sprintf("Audio file is too narrow in bandwidth: there is nothing above %.0f Hz", o.MinBandwidth),
			Data:    map[string]float64{"minimum_bandwidth_hz": o.MinBandwidth, "actual_bandwidth_hz": q.Bandwidth},
		}
	}
	return nil
}
