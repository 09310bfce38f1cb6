package egemaps

import (
	"slices"

	"github.com/voicescreen/voicescreen/features"
)

// Schema returns "egemaps/1": the 88 functionals in the order and under the names of
// eGeMAPSv02. It is safe for concurrent use.
func Schema() *features.Schema { return schema }

var schema = features.NewSchema("egemaps/1", slices.Concat(
	distribution("F0semitoneFrom27.5Hz_sma3nz", "st"),
	distribution("loudness_sma3", ""), // a number of no unit
	moments("", "", "_sma3", "spectralFlux", "mfcc1", "mfcc2", "mfcc3", "mfcc4"),
	moments("", "", "_sma3nz", "jitterLocal"),
	moments("", "dB", "_sma3nz", "shimmerLocaldB", "HNRdBACF", "logRelF0-H1-H2", "logRelF0-H1-A3"),
	formant("F1"), formant("F2"), formant("F3"),
	moments("V", "dB", "_sma3nz", "alphaRatio", "hammarbergIndex"),
	moments("V0-500", "dB/Hz", "_sma3nz", "slope"),
	moments("V500-1500", "dB/Hz", "_sma3nz", "slope"),
	moments("V", "", "_sma3nz", "spectralFlux", "mfcc1", "mfcc2", "mfcc3", "mfcc4"),
	[][2]string{
		{"alphaRatioUV_sma3nz_amean", "dB"},
		{"hammarbergIndexUV_sma3nz_amean", "dB"},
		{"slopeUV0-500_sma3nz_amean", "dB/Hz"},
		{"slopeUV500-1500_sma3nz_amean", "dB/Hz"},
		{"spectralFluxUV_sma3nz_amean", ""},
		{"loudnessPeaksPerSec", "1/s"},
		{"VoicedSegmentsPerSec", "1/s"},
		{"MeanVoicedSegmentLengthSec", "s"},
		{"StddevVoicedSegmentLengthSec", "s"},
		{"MeanUnvoicedSegmentLength", "s"},
		{"StddevUnvoicedSegmentLength", "s"},
		{"equivalentSoundLevel_dBp", "dBFS"},
	},
))

// moments lists mean and coefficient of variation of each name, which is followed by
// a suffix of the variant and one of the smoothing.
func moments(variant, unit, smoothing string, names ...string) [][2]string {
	var f [][2]string
	for _, name := range names {
		f = append(f, [2]string{name + variant + smoothing + "_amean", unit}, [2]string{name + variant + smoothing + "_stddevNorm", ""})
	}
	return f
}

// distribution lists the ten functionals of F0 and loudness.
func distribution(name, unit string) [][2]string {
	f := moments("", unit, "", name)
	for _, s := range []string{"percentile20.0", "percentile50.0", "percentile80.0", "pctlrange0-2"} {
		f = append(f, [2]string{name + "_" + s, unit})
	}
	slope := "1/s"
	if unit != "" {
		slope = unit + "/s"
	}
	for _, s := range []string{"meanRisingSlope", "stddevRisingSlope", "meanFallingSlope", "stddevFallingSlope"} {
		f = append(f, [2]string{name + "_" + s, slope})
	}
	return f
}

// formant lists the functionals of one formant.
func formant(name string) [][2]string {
	return slices.Concat(
		moments("frequency", "Hz", "_sma3nz", name),
		moments("bandwidth", "Hz", "_sma3nz", name),
		moments("amplitudeLogRelF0", "dB", "_sma3nz", name),
	)
}
