package features

import (
	"fmt"
	"math"
	"time"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/screen"
)

// Limits say which recordings are good enough for a score. Zero fields mean
// the default.
type Limits struct {
	// MinSpeech is the least speech, without the pauses, for a score of
	// depression or anxiety. Default: 30 s, which is part of the service's
	// interface.
	MinSpeech time.Duration

	// MinSpeechDeepfake is the least speech for a deepfake score. Default: 2 s,
	// which is part of the service's interface.
	MinSpeechDeepfake time.Duration

	// MinSNR is the least level of speech over noise, in dB, as
	// dsp.Quality.SNR. Default: 0, speech no louder than the noise: the
	// features of such a recording describe the noise. Negative infinity
	// accepts every recording.
	MinSNR float64

	// MaxClipped is the largest share of clipped samples, as
	// dsp.Quality.Clipped. Default: 0.1, chosen far above the few per mille of
	// a recording that is set a little too loud. 1 accepts every recording.
	MaxClipped float64

	// MinBandwidth is the least bandwidth in Hz, as dsp.Quality.Bandwidth.
	// Default: 2000, chosen well below the 3400 of a telephone and above what
	// leaves no second formant. A negative value accepts every recording.
	MinBandwidth float64
}

const (
	defaultMinSpeech         = 30 * time.Second
	defaultMinSpeechDeepfake = 2 * time.Second
	defaultMaxClipped        = 0.1
	defaultMinBandwidth      = 2000.0 // Hz
)

// withDefaults returns l without zero fields.
func (l Limits) withDefaults() Limits {
	if l.MinSpeech <= 0 {
		l.MinSpeech = defaultMinSpeech
	}
	if l.MinSpeechDeepfake <= 0 {
		l.MinSpeechDeepfake = defaultMinSpeechDeepfake
	}
	if l.MaxClipped == 0 {
		l.MaxClipped = defaultMaxClipped
	}
	if l.MinBandwidth == 0 {
		l.MinBandwidth = defaultMinBandwidth
	}
	if math.IsNaN(l.MinSNR) {
		l.MinSNR = 0
	}
	return l
}

// minSpeech is the least speech for a score of the category.
func (l *Limits) minSpeech(c screen.Category) time.Duration {
	if c == screen.Deepfake {
		return l.MinSpeechDeepfake
	}
	return l.MinSpeech
}

// Missing is the time in seconds that a recording with so many seconds of speech lacks
// for a score of the category, and 0 if it has enough.
func (l Limits) Missing(c screen.Category, speech float64) float64 {
	l = l.withDefaults()
	return max(0, l.minSpeech(c).Seconds()-speech)
}

// RefuseLength returns why a recording of so many seconds in all cannot have a
// score of the category, or nil. It needs no analysis.
func (l Limits) RefuseLength(c screen.Category, seconds float64) *screen.Failure {
	l = l.withDefaults()
	return l.refuseLength(c, seconds)
}

func (l *Limits) refuseLength(c screen.Category, seconds float64) *screen.Failure {
	least := l.minSpeech(c).Seconds()
	if seconds >= least {
		return nil
	}
	return &screen.Failure{
		Code:    screen.CodeAudioLength,
		Message: fmt.Sprintf("Audio file is less than the minimum audio length of %.1f seconds", least),
		Data:    map[string]float64{"minimum_length": least, "actual_length": seconds},
	}
}

// Refuse returns why a recording is not good enough for a score of the
// category, or nil.
//
// A recording that is too short as a whole is audio_length_error, and its length
// is the actual_length. A longer one without speech is no_speech_error. One with
// too little speech is audio_length_error, and the length of the speech is the
// actual_length. The rest is audio_quality_error: noise, clipping or bandwidth,
// in this order. A measure of quality that is undefined refuses nothing.
func (l Limits) Refuse(c screen.Category, a *dsp.Analysis) *screen.Failure {
	l = l.withDefaults()
	if f := l.refuseLength(c, a.Duration); f != nil {
		return f
	}
	speech := a.SpeechDuration()
	if speech <= 0 {
		return &screen.Failure{Code: screen.CodeNoSpeech, Message: "Audio file contains no speech"}
	}
	if f := l.refuseLength(c, speech); f != nil {
		return f
	}
	q := a.Quality
	switch {
	case q.SNR < l.MinSNR:
		return &screen.Failure{
			Code:    screen.CodeAudioQuality,
			Message: fmt.Sprintf("Audio file is too noisy: the signal-to-noise ratio is less than %.1f dB", l.MinSNR),
			Data:    map[string]float64{"minimum_snr_db": l.MinSNR, "actual_snr_db": q.SNR},
		}
	case q.Clipped > l.MaxClipped:
		return &screen.Failure{
			Code:    screen.CodeAudioQuality,
			Message: fmt.Sprintf("Audio file is clipped: more than %.1f %% of its samples are at full scale", 100*l.MaxClipped),
			Data:    map[string]float64{"maximum_clipped_ratio": l.MaxClipped, "actual_clipped_ratio": q.Clipped},
		}
	case q.Bandwidth < l.MinBandwidth:
		return &screen.Failure{
			Code:    screen.CodeAudioQuality,
			Message: fmt.Sprintf("Audio file is too narrow in bandwidth: there is nothing above %.0f Hz", l.MinBandwidth),
			Data:    map[string]float64{"minimum_bandwidth_hz": l.MinBandwidth, "actual_bandwidth_hz": q.Bandwidth},
		}
	}
	return nil
}
