package report

import (
	"fmt"
	"math"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
)

// A Quality says how good a recording is. A number that is NaN, and a rate of 0, is not
// known.
type Quality struct {
	Duration, SpeechSeconds float64 // seconds that were analysed, and of speech in them
	SampleRate              int     // Hz
	Level                   float64 // of speech, dBFS
	SNR                     float64 // of speech above noise, dB
	Clipped                 float64 // share of samples, 0 to 1
	Bandwidth               float64 // Hz
	Truncated               bool    // whether the file ends before what its header announces
	Partial                 bool    // whether the recording goes on, and the rest was not analysed
}

// AnalysisQuality returns the quality of the recording of an analysis.
func AnalysisQuality(a *voicescreen.Analysis) *Quality {
	q := &Quality{Duration: a.Duration, SpeechSeconds: a.SpeechSeconds, SampleRate: a.SampleRate, Level: math.NaN(), SNR: a.Quality.SNR,
		Clipped: a.Quality.Clipped, Bandwidth: a.Quality.Bandwidth, Truncated: a.Truncated, Partial: a.Partial}
	if a.Features.Schema != nil {
		q.Level = a.Features.Get("level.mean_dbfs")
	}
	return q
}

// ResultQuality returns the quality of the recording of a session, nil where that was not
// analysed. The sample rate is not kept.
func ResultQuality(r *voicescreen.Result) *Quality {
	if len(r.Features) == 0 {
		return nil
	}
	of := func(name string) float64 {
		if v, ok := r.Features[name]; ok {
			return v
		}
		return math.NaN()
	}
	q := &Quality{Duration: r.Duration, SpeechSeconds: of("speech.duration_s"), Level: of("level.mean_dbfs"), SNR: of("quality.snr_db"),
		Clipped: of("quality.clipped_ratio"), Bandwidth: of("quality.bandwidth_hz")}
	if r.Analysed > 0 && r.Analysed < r.Duration {
		q.Duration, q.Partial = r.Analysed, true
	}
	return q
}

// Facts says how good the recording is, and what that means.
func (q *Quality) Facts() []Fact {
	length := fmt.Sprintf("%.1f s, %.1f s of it speech", q.Duration, q.SpeechSeconds)
	switch {
	case q.Truncated:
		length += "; the file ends before what it announces"
	case q.Partial:
		length += "; the recording goes on, and the rest was not analysed"
	}
	speech := fmt.Sprintf("Longer speech makes the scores of depression and anxiety more certain: %.0f to %.0f s are recommended.",
		screen.RecommendedSpeech[0], screen.RecommendedSpeech[1])
	if q.SpeechSeconds >= screen.RecommendedSpeech[0] {
		speech = "As long as recommended."
	}
	facts := []Fact{{"Length", length, speech}}
	if q.SampleRate > 0 {
		facts = append(facts, Fact{"Sample rate", fmt.Sprintf("%d Hz", q.SampleRate), ""})
	}
	return append(facts,
		Fact{"Level of speech", unit(q.Level, "%.0f dBFS"), "0 dBFS is the loudest that a file can hold."},
		Fact{"Speech above noise", unit(q.SNR, "%.0f dB"), noise(q.SNR)},
		Fact{"Clipped", unit(100*q.Clipped, "%.2f %%"), clipping(q.Clipped)},
		Fact{"Bandwidth", unit(q.Bandwidth, "%.0f Hz"), band(q.Bandwidth)},
	)
}

// What is said of the quality. The bounds of noise and band are those of the cautions
// of package features; 30 dB is chosen, a quiet room.
func noise(snr float64) string {
	switch {
	case math.IsNaN(snr):
		return "Not known: there is no pause to measure the noise in."
	case snr < 18:
		return "Noisy: the measures describe the noise too."
	case snr < 30:
		return "Some noise."
	}
	return "Quiet."
}

func clipping(share float64) string {
	switch {
	case math.IsNaN(share):
		return ""
	case share == 0:
		return "Nowhere too loud for the recorder."
	case share < 0.005:
		return "Too loud for the recorder in a few places."
	}
	return "Too loud for the recorder: the voice is distorted."
}

func band(hz float64) string {
	switch {
	case math.IsNaN(hz):
		return ""
	case hz < 5000:
		return "Narrow, as through a telephone."
	}
	return "All that the models use of a voice."
}

// unit writes a value, or that it is not known.
func unit(v float64, format string) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "not known"
	}
	return fmt.Sprintf(format, v)
}
