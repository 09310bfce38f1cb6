package features

import (
	"fmt"
	"slices"
)

// NewSchema returns the schema of the given name. Its features are the pairs of
// name and unit, in their order. It panics if two features have the same name.
func NewSchema(name string, pairs [][2]string) *Schema {
	s := &Schema{name: name, index: make(map[string]int, len(pairs))}
	for i, p := range pairs {
		if _, dup := s.index[p[0]]; dup {
			panic("features: schema " + name + " has two features " + p[0])
		}
		s.names = append(s.names, p[0])
		s.units = append(s.units, p[1])
		s.index[p[0]] = i
	}
	return s
}

// VoiceSchema returns "voice/1", the schema of [Extract], which is measured of
// every recording. It is safe for concurrent use.
func VoiceSchema() *Schema { return voiceSchema }

var voiceSchema = NewSchema("voice/1", slices.Concat(
	timingFeatures, pitchFeatures, qualityFeatures, formantFeatures, levelFeatures,
	spectralFeatures, mfccFeatures(), recordingFeatures,
))

// A feature without a unit is a ratio or a count.
var (
	timingFeatures = [][2]string{
		{"speech.duration_s", "s"},
		{"speech.ratio", ""},
		{"speech.rate_syl_s", "1/s"},
		{"articulation.rate_syl_s", "1/s"},
		{"pause.count_min", "1/min"},
		{"pause.mean_s", "s"},
		{"pause.sd_s", "s"},
		{"pause.ratio", ""},
		{"loudness.peaks_s", "1/s"},
		{"loudness.peak_gap_mean_s", "s"},
		{"loudness.peak_gap_sd_s", "s"},
	}
	pitchFeatures = [][2]string{
		{"f0.mean_hz", "Hz"},
		{"f0.median_hz", "Hz"},
		{"f0.sd_st", "st"},
		{"f0.range_st", "st"},
		{"f0.slope_st_s", "st/s"},
		{"voiced.ratio", ""},
	}
	qualityFeatures = [][2]string{
		{"jitter.local", ""},
		{"jitter.abs_s", "s"},
		{"jitter.rap", ""},
		{"jitter.ppq5", ""},
		{"jitter.ddp", ""},
		{"shimmer.local", ""},
		{"shimmer.local_db", "dB"},
		{"shimmer.apq3", ""},
		{"shimmer.apq5", ""},
		{"shimmer.apq11", ""},
		{"hnr.mean_db", "dB"},
		{"hnr.sd_db", "dB"},
		{"cpps.db", "dB"},
	}
	formantFeatures = [][2]string{
		{"formant.f1.median_hz", "Hz"},
		{"formant.f1.sd_hz", "Hz"},
		{"formant.f2.median_hz", "Hz"},
		{"formant.f2.sd_hz", "Hz"},
		{"formant.f3.median_hz", "Hz"},
		{"formant.f3.sd_hz", "Hz"},
		{"vowel.space", "kHz2"},
	}
	levelFeatures = [][2]string{
		{"level.mean_dbfs", "dBFS"},
		{"level.sd_db", "dB"},
		{"level.range_db", "dB"},
	}
	spectralFeatures = [][2]string{
		{"spectral.centroid_hz", "Hz"},
		{"spectral.rolloff85_hz", "Hz"},
		{"spectral.flux", ""},
		{"spectral.flatness", ""},
		{"spectral.slope_0_500", "dB/Hz"},
		{"spectral.slope_500_1500", "dB/Hz"},
		{"spectral.alpha_db", "dB"},
		{"spectral.hammarberg_db", "dB"},
	}
	recordingFeatures = [][2]string{
		{"quality.snr_db", "dB"},
		{"quality.clipped_ratio", ""},
		{"quality.bandwidth_hz", "Hz"},
	}
)

// mfccFeatures lists mean, sd and delta_sd of the coefficients 1 to 12, one
// coefficient after the other.
func mfccFeatures() [][2]string {
	var f [][2]string
	for k := 1; k <= 12; k++ {
		for _, stat := range []string{"mean", "sd", "delta_sd"} {
			f = append(f, [2]string{fmt.Sprintf("mfcc.%d.%s", k, stat), ""})
		}
	}
	return f
}
