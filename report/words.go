package report

import (
	"math"
	"regexp"

	"github.com/voicescreen/voicescreen/screen"
)

// measureWords say in words how a measure is above or below what is usual: lead, then
// more or less, then "than usual".
type measureWords struct{ lead, more, less string }

// wordsOf has the words of every feature that a shipped model uses. # stands for any
// number; a name without one comes first. Features that differ in how they are
// computed, and not in what a listener would hear, have the same words.
var wordsOf = map[string]measureWords{
	// Depression and anxiety: schema voice/1.
	"speech.rate_syl_s":       {"the person speaks", "faster", "slower"},
	"articulation.rate_syl_s": {"the syllables follow each other", "faster", "slower"},
	"pause.mean_s":            {"pauses are", "longer", "shorter"},
	"pause.sd_s":              {"pauses vary", "more", "less"},
	"pause.ratio":             {"pauses take", "more of the time", "less of the time"},
	"loudness.peak_gap_sd_s":  {"the rhythm of loud syllables varies", "more", "less"},
	"f0.median_hz":            {"the voice is", "higher", "lower"},
	"f0.sd_st":                {"the pitch varies", "more", "less"},
	"f0.range_st":             {"the pitch covers", "a wider range", "a narrower range"},
	"level.mean_dbfs":         {"the voice is", "louder", "quieter"},
	"level.sd_db":             {"the loudness varies", "more", "less"},
	"level.range_db":          {"the loudness covers", "a wider range", "a narrower range"},
	"jitter.local":            {"the pitch trembles", "more from cycle to cycle", "less from cycle to cycle"},
	"shimmer.local_db":        {"the loudness trembles", "more from cycle to cycle", "less from cycle to cycle"},
	"hnr.mean_db":             {"the voice is", "clearer, with less breath in it", "breathier or hoarser"},
	"formant.f1.median_hz":    {"the vowels are", "more open", "more closed"},
	"formant.f2.median_hz":    {"the vowels are", "formed further forward", "formed further back"},
	"vowel.space":             {"the vowels differ", "more from each other", "less from each other"},
	"spectral.alpha_db":       {"the voice is", "darker, with more of its energy in the low tones", "brighter, with more of its energy in the high tones"},
	"mfcc.delta_spread":       {"the sound of the voice changes", "more from moment to moment", "less from moment to moment"},
	"mfcc.#.delta_sd":         {"the sound of the voice changes", "more from moment to moment", "less from moment to moment"},

	// Deepfake: schema spoof/10.
	"pitch.sd_oct":           {"the pitch varies", "more", "less"},
	"pitch.range_oct":        {"the pitch covers", "a wider range", "a narrower range"},
	"pitch.step_mean_oct":    {"the pitch moves", "more from moment to moment", "less from moment to moment"},
	"pitch.step_median_oct":  {"the pitch moves", "more from moment to moment", "less from moment to moment"},
	"pitch.step_p90_oct":     {"the pitch makes", "larger jumps", "smaller jumps"},
	"pitch.bend_mean_oct":    {"the pitch bends", "more sharply", "less sharply"},
	"pitch.bend_median_oct":  {"the pitch bends", "more sharply", "less sharply"},
	"pitch.bend_p90_oct":     {"the sharpest bends of the pitch are", "sharper", "less sharp"},
	"amplitude.step_mean_db": {"the loudness moves", "more from moment to moment", "less from moment to moment"},
	"amplitude.step_sd_db":   {"the steps of the loudness vary", "more", "less"},
	"periodicity.mean_db":    {"the voice repeats itself", "more exactly from cycle to cycle", "less exactly from cycle to cycle"},
	"periodicity.sd_db":      {"the regularity of the voice varies", "more", "less"},
	"periodicity.p10_db":     {"the least regular parts of the voice are", "more regular", "less regular"},
	"periodicity.p90_db":     {"the most regular parts of the voice are", "more regular", "less regular"},

	"periodicity.voiced_ratio":    {"voiced sounds take", "more of the speech", "less of the speech"},
	"periodicity.turns_frame":     {"voiced and unvoiced sounds change places", "more often", "less often"},
	"periodicity.band#.mean":      {"a band of the voice repeats itself", "more exactly", "less exactly"},
	"periodicity.band#.sd":        {"the regularity of a band of the voice varies", "more", "less"},
	"periodicity.band#.loudness":  {"a band of the voice grows more regular as the voice grows louder", "more often", "less often"},
	"periodicity.bands.#_#.level": {"the regularity of two bands of the voice goes together", "more closely", "less closely"},
	"periodicity.bands.#_#.step":  {"changes in the regularity of two bands go together", "more closely", "less closely"},

	"lpc.voiced.gain_log.skew":             {"moments that are easy to predict are", "rarer and further off", "more common"},
	"lpc.voiced.gain_log.kurtosis_log":     {"the predictability of the voice has", "more exceptions", "fewer exceptions"},
	"lpc.voiced.kurtosis_log.skew":         {"moments with sharp pulses are", "rarer and further off", "more common"},
	"lpc.voiced.kurtosis_log.kurtosis_log": {"the sharpness of the pulses has", "more exceptions", "fewer exceptions"},
	"lpc.voiced.skew_abs.skew":             {"moments with one-sided pulses are", "rarer and further off", "more common"},
	"lpc.voiced.skew_abs.kurtosis_log":     {"the one-sidedness of the pulses has", "more exceptions", "fewer exceptions"},
	"lpc.voiced.peak_log.skew":             {"moments with high pulses are", "rarer and further off", "more common"},
	"lpc.voiced.peak_log.kurtosis_log":     {"the height of the pulses has", "more exceptions", "fewer exceptions"},
	"lpc.unvoiced.kurtosis_log.mean":       {"unvoiced sounds are", "rougher", "smoother"},
	"lpc.unvoiced.kurtosis_log.sd":         {"the roughness of unvoiced sounds varies", "more", "less"},
	"lpc.unvoiced.peak_log.mean":           {"unvoiced sounds have", "higher peaks", "lower peaks"},
	"lpc.unvoiced.peak_log.sd":             {"the peaks of unvoiced sounds vary", "more", "less"},

	"lpc.a#.mean": {"the colour of the voice is", "higher in one of its coefficients", "lower in one of its coefficients"},
	"lpc.a#.sd":   {"the colour of the voice varies", "more", "less"},

	"pulse.polarity":        {"the pulses of the voice point one way", "more often", "less often"},
	"pulse.step_mean_log":   {"the height of the pulses moves", "more from cycle to cycle", "less from cycle to cycle"},
	"pulse.step_median_log": {"the height of the pulses moves", "more from cycle to cycle", "less from cycle to cycle"},

	"fine.whole.band#.sd":   {"the average spectrum is", "more uneven", "more even"},
	"fine.whole.band#.max":  {"the average spectrum has", "a higher peak", "a lower peak"},
	"fine.whole.band#.top#": {"the average spectrum has", "higher peaks", "lower peaks"},
	"fine.whole.band#.skew": {"the peaks of the average spectrum stand out", "more", "less"},
	"fine.floor.band#.sd":   {"the spectrum between the sounds is", "more uneven", "more even"},
	"fine.floor.band#.max":  {"the spectrum between the sounds has", "a higher peak", "a lower peak"},
	"fine.floor.band#.top#": {"the spectrum between the sounds has", "higher peaks", "lower peaks"},
	"fine.floor.band#.skew": {"the peaks of the spectrum between the sounds stand out", "more", "less"},

	"perturbation.jitter_local_log":        {"the pitch trembles", "more from cycle to cycle", "less from cycle to cycle"},
	"perturbation.jitter_rap_log":          {"the pitch trembles", "more over three cycles", "less over three cycles"},
	"perturbation.jitter_ppq5_log":         {"the pitch trembles", "more over five cycles", "less over five cycles"},
	"perturbation.jitter_rap_local_log":    {"the trembling of the pitch is", "rougher", "smoother"},
	"perturbation.jitter_ppq5_rap_log":     {"the trembling of the pitch lasts", "longer", "shorter"},
	"perturbation.shimmer_local_db_log":    {"the loudness trembles", "more from cycle to cycle", "less from cycle to cycle"},
	"perturbation.shimmer_apq3_log":        {"the loudness trembles", "more over three cycles", "less over three cycles"},
	"perturbation.shimmer_apq5_log":        {"the loudness trembles", "more over five cycles", "less over five cycles"},
	"perturbation.shimmer_apq11_log":       {"the loudness trembles", "more over eleven cycles", "less over eleven cycles"},
	"perturbation.shimmer_apq3_local_log":  {"the trembling of the loudness is", "rougher", "smoother"},
	"perturbation.shimmer_apq11_local_log": {"the trembling of the loudness lasts", "longer", "shorter"},

	"perturbation.change_correlation":         {"pitch and loudness change together from cycle to cycle", "more often", "less often"},
	"perturbation.size_correlation":           {"cycles that change much in pitch change much in loudness", "more often", "less often"},
	"perturbation.period_persistence":         {"a change of the pitch goes on in the next cycle", "more often", "less often"},
	"perturbation.amplitude_persistence":      {"a change of the loudness goes on in the next cycle", "more often", "less often"},
	"perturbation.period_size_persistence":    {"unsteady cycles of the pitch come in groups", "more often", "less often"},
	"perturbation.amplitude_size_persistence": {"unsteady cycles of the loudness come in groups", "more often", "less often"},

	"fundamental.step_log":                     {"the fundamental moves", "more from cycle to cycle", "less from cycle to cycle"},
	"fundamental.kurtosis_log":                 {"the fundamental jumps from cycle to cycle", "more often", "less often"},
	"fundamental.frequency_persistence":        {"a change of the fundamental's frequency goes on in the next cycle", "more often", "less often"},
	"fundamental.frequency_second_persistence": {"a change of the fundamental's frequency goes on in the cycle after the next", "more often", "less often"},
	"fundamental.amplitude_persistence":        {"a change of the fundamental's loudness goes on in the next cycle", "more often", "less often"},
	"fundamental.amplitude_second_persistence": {"a change of the fundamental's loudness goes on in the cycle after the next", "more often", "less often"},
	"fundamental.change_correlation":           {"frequency and loudness of the fundamental change together from cycle to cycle", "more often", "less often"},
	"fundamental.size_correlation":             {"cycles that change much in the fundamental's frequency change much in its loudness", "more often", "less often"},

	"cycle.band#.wave_log":        {"the waveform of a band changes", "more from cycle to cycle", "less from cycle to cycle"},
	"cycle.band#.wave_drift_log":  {"the waveform of a band drifts over five cycles", "more", "less"},
	"cycle.band#.wave_growth":     {"changes in the waveform of a band add up over ten cycles", "more", "less"},
	"cycle.band#.shape_log":       {"the shape of the cycles of a band changes", "more from one to the next", "less from one to the next"},
	"cycle.band#.shape_drift_log": {"the shape of the cycles of a band drifts over five cycles", "more", "less"},
	"cycle.band#.shape_growth":    {"changes in the shape of the cycles of a band add up over ten cycles", "more", "less"},
	"cycle.half#.decay#":          {"cycles of a band that lie further apart are", "more alike", "less alike"},

	"joint.repeat_median": {"unvoiced sounds repeat themselves", "more", "less"},
	"joint.repeat_p90":    {"some unvoiced sounds repeat themselves", "more exactly", "less exactly"},
	"joint.repeat_excess": {"how exactly unvoiced sounds repeat themselves varies", "more", "less"},
	"joint.line1_log":     {"the voice flutters some forty times a second", "more", "less"},
	"joint.line2_log":     {"the voice flutters some eighty times a second", "more", "less"},

	"quefrency.band#.mean_log": {"the spectrum has", "stronger ripples", "weaker ripples"},
	"quefrency.band#.sd_log":   {"the ripples of the spectrum vary", "more", "less"},

	"envelope.unvoiced.band#.step_skew": {"unvoiced sounds begin", "more abruptly", "less abruptly"},
	"envelope.voiced.band#.bend_skew":   {"the peaks of the loudness of a band are", "sharper", "less sharp"},
	"envelope.voiced.band#.correlation": {"the loudness of a band moves", "more steadily", "less steadily"},
	"envelope.voiced.band#.step_sd_log": {"the steps in the loudness of a band vary", "more", "less"},
	"envelope.voiced.band#.loudness":    {"a band follows the loudness of the whole voice", "more steeply", "less steeply"},
	"envelope.voiced.band#.next":        {"the loudness of neighbouring bands changes together", "more closely", "less closely"},
	"envelope.voiced.band#.second":      {"the loudness of bands near each other changes together", "more closely", "less closely"},
	"envelope.voiced.band#.tetrad_#ms":  {"a band follows its neighbours rather than bands further off", "more often", "less often"},
}

var digits = regexp.MustCompile(`[0-9]+`)

// wordsFor returns the words of a feature; ok is false if there are none.
func wordsFor(feature string) (w measureWords, ok bool) {
	if w, ok = wordsOf[feature]; !ok {
		w, ok = wordsOf[digits.ReplaceAllString(feature, "#")]
	}
	return w, ok
}

// Deviations below little, and from far on, are said to be so. Chosen: of people as the
// norms have them, two in five are below and one in twenty is beyond.
const (
	little = 0.5 // standard deviations
	far    = 2.0
)

// stretch matches the features of a model that weighs parts of the recording (package
// models/ssl), in seconds.
var stretch = regexp.MustCompile(`^time\.([0-9.]+)-([0-9.]+)_s$`)

// InWords says in words how a measure differs from what is usual, such as "pauses vary
// more than usual, by little", or which part of the recording it is. It returns the name
// of a feature that has no words, or whose deviation is 0 or NaN, which means that it is
// not known.
func InWords(c screen.Contribution) string {
	if m := stretch.FindStringSubmatch(c.Feature); m != nil {
		return "the part from " + m[1] + " to " + m[2] + " s"
	}
	w, ok := wordsFor(c.Feature)
	if !ok || c.Deviation == 0 || math.IsNaN(float64(c.Deviation)) {
		return c.Feature
	}
	text := w.lead + " " + w.more + " than usual"
	if c.Deviation < 0 {
		text = w.lead + " " + w.less + " than usual"
	}
	switch size := math.Abs(float64(c.Deviation)); {
	case size < little:
		return text + ", by little"
	case size >= far:
		return text + ", by far"
	}
	return text
}
