package prior

import (
	"fmt"
	"slices"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
)

// spreadMFCC is the mean of the logarithms of the spread of the deltas of the 12
// MFCC.
const spreadMFCC = "mfcc.delta_spread"

// logarithms are the features whose logarithm is nearer to normal: durations, rates
// and spreads, which are above 0 and skewed.
var logarithms = []string{
	"speech.rate_syl_s", "articulation.rate_syl_s", "pause.mean_s", "pause.sd_s", "loudness.peak_gap_sd_s",
	"f0.median_hz", "f0.sd_st", "f0.range_st", "level.sd_db", "level.range_db", "jitter.local", "shimmer.local_db",
	"formant.f1.median_hz", "formant.f2.median_hz", "vowel.space", spreadMFCC,
}

// termOf returns a feature of a model by its name, without norms and weight.
func termOf(name string) (models.BayesFeature, error) {
	x := models.BayesFeature{Name: name, Transform: models.Identity}
	switch {
	case slices.Contains(logarithms, name):
		x.Transform = models.Log
	case name == "pause.ratio":
		x.Transform = models.LogOdds
	}
	if name == spreadMFCC {
		for k := range 12 {
			x.Of = append(x.Of, fmt.Sprintf("mfcc.%d.delta_sd", k+1))
		}
		return x, nil
	}
	at := features.VoiceSchema().Index(name)
	if at < 0 {
		return x, fmt.Errorf("prior: no feature %q", name)
	}
	_, x.Unit = features.VoiceSchema().Feature(at)
	return x, nil
}

// timed reports whether a feature measures pauses, so that its sampling error depends
// on the recording and not on how much of the speech is repeated.
func timed(name string) bool {
	switch name {
	case "speech.rate_syl_s", "pause.mean_s", "pause.sd_s", "pause.ratio", "loudness.peak_gap_sd_s":
		return true
	}
	return false
}
