package spoof

import (
	"fmt"
	"slices"

	"github.com/voicescreen/voicescreen/features"
)

// Schema returns "spoof/10", the schema of [Extractor]. Names, units and order are
// fixed; a change of any of them, or of the definition of a feature, is a new
// schema. It is safe for concurrent use.
func Schema() *features.Schema { return schema }

var schema = features.NewSchema("spoof/10", slices.Concat(
	pitchFeatures, periodicityFeatures(), residualFeatures(), perturbationFeatures, quefrencyFeatures(),
	envelopeFeatures(), predictorFeatures(), wholeFeatures(), excitationFeatures, fundamentalFeatures, cycleFeatures(), jointFeatures, voiceFeatures,
))

// Differences are from one frame to the next, 10 ms on, within voiced
// stretches.
var pitchFeatures = [][2]string{
	{"pitch.sd_oct", "oct"},
	{"pitch.range_oct", "oct"},             // 95th minus 5th percentile
	{"pitch.step_mean_oct", "oct"},         // of |difference|
	{"pitch.step_median_oct", "oct"},       //
	{"pitch.step_p90_oct", "oct"},          //
	{"pitch.bend_mean_oct", "oct"},         // of |second difference|
	{"pitch.bend_median_oct", "oct"},       //
	{"pitch.bend_p90_oct", "oct"},          //
	{"amplitude.step_mean_db", "dB"},       //
	{"amplitude.step_sd_db", "dB"},         //
	{"periodicity.mean_db", "dB"},          // 10·log10(r/(1−r))
	{"periodicity.sd_db", "dB"},            //
	{"periodicity.p10_db", "dB"},           //
	{"periodicity.p90_db", "dB"},           //
	{"periodicity.voiced_ratio", ""},       // of the active frames
	{"periodicity.turns_frame", "1/frame"}, // changes between voiced and unvoiced
}

// periodBands are the edges in Hz of the bands whose periodicity is measured.
var periodBands = [...]float64{60, 1000, 2000, 3500, 5500, 7400}

func periodicityFeatures() [][2]string {
	var f [][2]string
	const bands = len(periodBands) - 1
	for b := range bands {
		for _, stat := range []string{"mean", "sd"} {
			f = append(f, [2]string{fmt.Sprintf("periodicity.band%d.%s", b+1, stat), ""})
		}
	}
	for _, of := range []string{"level", "step"} { // correlations of two bands
		for a := range bands {
			for b := a + 1; b < bands; b++ {
				f = append(f, [2]string{fmt.Sprintf("periodicity.bands.%d_%d.%s", a+1, b+1, of), ""})
			}
		}
	}
	for b := range bands { // correlation of its changes with those of the level
		f = append(f, [2]string{fmt.Sprintf("periodicity.band%d.loudness", b+1), ""})
	}
	return f
}

// residualMeasures are measured per frame. The features are mean and standard
// deviation of two of them over the unvoiced frames, and the shape of the
// distribution of each over the voiced ones. Means and deviations over all active
// frames told systems that were in the training from people, and others less.
// Of the predictor see predictorFeatures.
var residualMeasures = []string{"gain_log", "kurtosis_log", "skew_abs", "peak_log"}

func residualFeatures() [][2]string {
	var f [][2]string
	for _, m := range []string{"kurtosis_log", "peak_log"} {
		for _, stat := range []string{"mean", "sd"} {
			f = append(f, [2]string{"lpc.unvoiced." + m + "." + stat, ""})
		}
	}
	for _, m := range residualMeasures {
		f = append(f, [2]string{"lpc.voiced." + m + ".skew", ""}, [2]string{"lpc.voiced." + m + ".kurtosis_log", ""})
	}
	return f
}

// fineBands are the edges in Hz of the bands of the long-term spectrum.
var fineBands = [...]float64{200, 1500, 3500, 5500, 7300}

// Logarithms of dsp.Jitter and dsp.Shimmer and of ratios within them.
var perturbationFeatures = [][2]string{
	{"perturbation.jitter_local_log", ""},
	{"perturbation.jitter_rap_log", ""},
	{"perturbation.jitter_ppq5_log", ""},
	{"perturbation.jitter_rap_local_log", ""},    // RAP over local
	{"perturbation.jitter_ppq5_rap_log", ""},     // PPQ5 over RAP
	{"perturbation.shimmer_local_db_log", ""},    //
	{"perturbation.shimmer_apq3_log", ""},        //
	{"perturbation.shimmer_apq5_log", ""},        //
	{"perturbation.shimmer_apq11_log", ""},       //
	{"perturbation.shimmer_apq3_local_log", ""},  // APQ3 over local
	{"perturbation.shimmer_apq11_local_log", ""}, // APQ11 over local

	// Of the changes of period and amplitude from pulse to pulse.
	{"perturbation.change_correlation", ""},         // of period and amplitude
	{"perturbation.size_correlation", ""},           // of how large the two are
	{"perturbation.period_persistence", ""},         // correlation with itself one pulse before
	{"perturbation.amplitude_persistence", ""},      //
	{"perturbation.period_size_persistence", ""},    // of how large it is
	{"perturbation.amplitude_size_persistence", ""}, //
}

// quefrencyBands are the edges in ms of the bands of quefrency: ripples of the
// spectrum from 4 kHz wide to 40 Hz, with the pitch from 2.5 ms on.
var quefrencyBands = [...]float64{0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 4, 5, 7, 10, 15, 25}

// quefrencyFeatures lists, of voiced frames, the power cepstrum of 64 ms by
// bands of quefrency.
func quefrencyFeatures() [][2]string {
	var f [][2]string
	for b := range len(quefrencyBands) - 1 {
		for _, stat := range []string{"mean_log", "sd_log"} {
			f = append(f, [2]string{fmt.Sprintf("quefrency.band%d.%s", b+1, stat), ""})
		}
	}
	return f
}

// envelopeBands are the edges of the bands whose envelopes are taken, in bins of
// 125 Hz: 125 to 7375 Hz.
var envelopeBands = [...]int{1, 5, 8, 12, 16, 20, 24, 30, 36, 42, 48, 54, 59}

func envelopeFeatures() [][2]string {
	var f [][2]string
	for _, stat := range []string{"unvoiced.band%d.step_skew", "voiced.band%d.bend_skew", "voiced.band%d.correlation", "voiced.band%d.step_sd_log"} {
		for b := range len(envelopeBands) - 1 {
			f = append(f, [2]string{fmt.Sprintf("envelope."+stat, b+1), ""})
		}
	}
	for distance, of := range []string{"loudness", "next", "second"} { // all bands, or the band so many further
		for b := range len(envelopeBands) - 1 - distance {
			f = append(f, [2]string{fmt.Sprintf("envelope.voiced.band%d.%s", b+1, of), ""})
		}
	}
	for _, lag := range tetradLags { // of the band and the three after it
		for b := range len(envelopeBands) - 1 - 3 {
			f = append(f, [2]string{fmt.Sprintf("envelope.voiced.band%d.tetrad_%dms", b+1, lag*envelopeHop*1000/rateHz), ""})
		}
	}
	return f
}

// predictorTaps are the coefficients of the predictor that are features.
var predictorTaps = [...]int{1, 2, 3, 4, 6, 9, 13, 18}

// predictorFeatures lists coefficients of the predictor. On the first 1,128 clips
// they were of no use; on all clips, with the decoder of each held out, AUC and AUC
// within sources are higher with them.
func predictorFeatures() [][2]string {
	var f [][2]string
	for _, k := range predictorTaps {
		f = append(f, [2]string{fmt.Sprintf("lpc.a%d.mean", k), ""}, [2]string{fmt.Sprintf("lpc.a%d.sd", k), ""})
	}
	return f
}

// wholeFeatures lists, of the mean log spectrum of all frames and of that between the
// sounds, both less their running median, how uneven each band is, its highest bin, the
// mean of the eight highest and the skewness.
func wholeFeatures() [][2]string {
	var f [][2]string
	for _, part := range []string{"whole", "floor"} {
		for b := range len(fineBands) - 1 {
			for _, stat := range []string{"sd", "max", "top8", "skew"} {
				f = append(f, [2]string{fmt.Sprintf("fine.%s.band%d.%s", part, b+1, stat), ""})
			}
		}
	}
	return f
}

// excitationFeatures are of the peaks of the residual at the pulses.
var excitationFeatures = [][2]string{
	{"pulse.polarity", ""},                                     // |mean| of the signs
	{"pulse.step_mean_log", ""}, {"pulse.step_median_log", ""}, // of the level
}

// fundamentalFeatures are of the first harmonic at each pulse.
var fundamentalFeatures = [][2]string{
	{"fundamental.step_log", ""},                     // of the mean |change| of ln frequency
	{"fundamental.kurtosis_log", ""},                 // of these changes
	{"fundamental.frequency_persistence", ""},        // correlation with themselves one pulse before
	{"fundamental.frequency_second_persistence", ""}, // two pulses before
	{"fundamental.amplitude_persistence", ""},        //
	{"fundamental.amplitude_second_persistence", ""}, //
	{"fundamental.change_correlation", ""},           // of the changes of the two
	{"fundamental.size_correlation", ""},             // of how large the two are
}

// cycleFeatures are of the waveform round each pulse and of its shape, in bands, and of the
// waveform in their halves.
func cycleFeatures() [][2]string {
	var f [][2]string
	for b := range len(cycleBands) - 1 {
		for _, kind := range []string{"wave", "shape"} {
			for _, of := range []string{"log", "drift_log", "growth"} { // over one, five and ten pulses
				f = append(f, [2]string{fmt.Sprintf("cycle.band%d.%s_%s", b+1, kind, of), ""})
			}
		}
	}
	for h := range len(cycleHalves) - 1 {
		f = append(f, [2]string{fmt.Sprintf("cycle.half%d.decay10", h+1), ""}, [2]string{fmt.Sprintf("cycle.half%d.decay20", h+1), ""})
	}
	return f
}

// jointFeatures are of what is left where segments of a recording were joined.
var jointFeatures = [][2]string{
	{"joint.repeat_median", ""}, // Fisher's z
	{"joint.repeat_p90", ""},    //
	{"joint.repeat_excess", ""}, // p90 less median
	{"joint.line1_log", ""},     // the highest from 30 to 55 Hz
	{"joint.line2_log", ""},     // from 55 to 110 Hz
}

// voiceFeatures say nothing of whether a voice is synthetic. They are covariates: what
// other measures are of a person depends on them.
var voiceFeatures = [][2]string{
	{"voice.pitch_oct", "oct"}, // log2 of the median F0 in Hz
	{"voice.length_log", ""},   // ln of the length in s
}
