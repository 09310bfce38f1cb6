package prior

import (
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/learn"
	"github.com/voicescreen/voicescreen/screen"
)

// shareSD is the standard deviation, in logits, of seven published shares
// of people with PHQ-9 or PHQ-8 ≥ 10: 0.076 (NHANES 2009–2012), 0.080 (NHANES
// 2013–2016), 0.108 (general population, n = 1,240), 0.143 (major depression
// in primary care, Mitchell et al. 2016), 0.203 (MMPsy, pupils), 0.316
// (E-DAIC), 0.39 (recruited, n = 7,034): 0.80.
const shareSD = 0.8

// gapSD is the standard deviation of the logarithm of the distance of two
// thresholds. The distances between 5, 10 and 15 of PHQ-9 are 1.27 and 1.07
// logits in NHANES 2013–2016, 2.02 and 1.53 in MMPsy (n = 1,275): a difference
// of the logarithms of 0.46 and 0.36, so a standard deviation of about 0.3.
const gapSD = 0.3

// Stability of a feature from one recording of a person to the next: the share
// of the variance within sex that is between people, from the tables of
// Kappen et al. 2023 (13 men, 53 women, picture descriptions in one session)
// and of NSC (31 men, 44 women, dialogues), both measured with openSMILE, mean
// over the four groups weighted by their size. A share of variance is taken to
// carry over between programs where the variances do not. Where a measure has
// no counterpart there the nearest one is named.
const (
	stableRate     = 0.38 // loudness peaks 0.36 and voiced segments 0.39 per second
	stablePause    = 0.43 // length of unvoiced segments
	stablePauseSD  = 0.49 // its standard deviation
	stableF0       = 0.78
	stableF0SD     = 0.53
	stableF0Range  = 0.42 // between the 20th and 80th percentile
	stableLevel    = 0.92 // equivalent sound level; NSC only
	stableLevelSD  = 0.50 // variation of loudness
	stableJitter   = 0.48
	stableShimmer  = 0.60
	stableHNR      = 0.70
	stableF1       = 0.73
	stableF2       = 0.70
	stableVowels   = 0.63 // variation of F1
	stableSpectrum = 0.52 // variation of MFCC 1 in voiced frames; NSC only
	stableAlpha    = 0.74
)

// evidence says where the effects come from.
var evidence = models.Data{
	Data: "published effect sizes, weighed by judgement: Mundt et al. 2007, RADAR-MDD, Yamamoto et al. 2020, Low et al. 2020 (review), " +
		"Teferra et al. 2022, Laukka et al. 2008, Kappen et al. 2023 and others; see the model card",
	Licence: "facts",
}

// sampled says where the effects of samples.csv come from.
var sampled = models.Data{
	Data: "group differences in samples outside those: EMU (Tlachac et al. 2021), Kappen et al. 2023, Hansen et al. 2022, EATD-Corpus, DAIC-WOZ; " +
		"lab/prior/samples.csv has a row each",
	Licence: "facts",
}

// depressionUndecided is the share of people in the indeterminate band of the depression
// model. Chosen: half of learn.Undecided. The band lies half on either side of the cut,
// and 0.26 of the people are to be above it: with a band of 0.20 only 0.16 were positive.
const depressionUndecided = 0.1

// Depression is the prior of the shipped depression scorer: signs of
// PHQ-9 ≥ 10. Base rates: US adults, NHANES 2013–2016 (MMWR 67:287): 15.6 %
// with PHQ-9 of 5 to 9, 5.1 % with 10 to 14, 2.9 % with 15 or more. The AUC is
// the middle of the 0.60 to 0.65 that features of this kind can be expected to
// reach at best where people are not chosen for being ill or well.
func Depression() *Prior {
	return &Prior{
		Category: screen.Depression, Name: "voicescreen-depression", Version: "2.2.0",
		Text: "Prior from the literature, not calibrated on any labelled recording." + learn.Disclaimer,
		AUC:  0.625, AtLeast: [3]float64{0.236, 0.080, 0.029}, OperatingPoint: learn.OperatingPoint{Specificity: learn.Specificity, Undecided: depressionUndecided},
		ShareSD: shareSD, GapSD: gapSD, Sources: []models.Data{evidence, sampled}, Samples: mustSamples(samplesCSV),
		Effects: []Effect{
			{"speech.rate_syl_s", "speech_rate", -0.35, 0.15, "Mundt 2007 r = −.23; RADAR-MDD; Yamamoto 2020; Low 2020 4 of 4; Koenig 2022 null", stableRate, false},
			{"articulation.rate_syl_s", "articulation_rate", -0.20, 0.15, "RADAR-MDD; Low 2020 2 of 4", stableRate, false},
			{"pause.mean_s", "pause_duration_mean", +0.25, 0.15, "Mundt 2007 total pause r = .29; Yamamoto 2020; Albuquerque 2021; Low 2020 mixed", stablePause, false},
			{"pause.sd_s", "pause_duration_sd", +0.35, 0.20, "Mundt 2007 r = .38", stablePauseSD, false},
			{"loudness.peak_gap_sd_s", "pause_duration_sd", +0.35, 0.20, "PKU 2026 spread of the distance of loudness peaks, d = .67 to .78", stablePauseSD, false},
			{"pause.ratio", "pause_proportion", +0.20, 0.15, "Mundt 2007 r = .18, of low reliability", stablePause, false},
			{"f0.median_hz", "f0_mean_within_sex", -0.10, 0.10, "meta-analysis −1.82 Hz, not significant; Low 2020 4 lower, 4 null", stableF0, false},
			{"f0.sd_st", "f0_sd_or_range_st", -0.15, 0.20, "Low 2020 variability 3 higher, 4 null; Mundt 2007 r = −.01", stableF0SD, false},
			{"f0.range_st", "f0_sd_or_range_st", -0.15, 0.20, "Low 2020 range 4 of 5 lower", stableF0Range, false},
			{"level.mean_dbfs", "intensity_mean", -0.25, 0.20, "Low 2020 3 of 3; RADAR-MDD; Wang 2019; Menne 2024", stableLevel, true},
			{"level.sd_db", "intensity_variability", -0.20, 0.20, "Low 2020 8 of 10 lower", stableLevelSD, false},
			{"level.range_db", "intensity_variability", -0.20, 0.20, "Low 2020 8 of 10 lower", stableLevelSD, false},
			{"jitter.local", "jitter", +0.10, 0.15, "Low 2020 5 higher, 3 null, 1 lower", stableJitter, false},
			{"shimmer.local_db", "shimmer", +0.15, 0.20, "Low 2020 9 of 9 higher, few independent samples; EMU 0; Kappen 2023 −.26", stableShimmer, false},
			{"hnr.mean_db", "hnr", 0, 0.20, "Zhao 2022 +.48; Calic 2018 the other way; Low 2020 mixed", stableHNR, false},
			{"formant.f1.median_hz", "f1_mean", -0.10, 0.15, "Low 2020 4 lower, 2 null", stableF1, false},
			{"formant.f2.median_hz", "f2_mean", -0.05, 0.15, "Low 2020 1 lower, 3 null", stableF2, false},
			{"vowel.space", "vowel_space", -0.15, 0.15, "Scherer 2016, by Low 2020", stableVowels, false},
			{spreadMFCC, "mfcc_delta_spread", -0.25, 0.20, "PKU 2026, d of .57 to .63 either way", stableSpectrum, false},
		},
		Unused: []Unused{
			{"response_latency", +0.30, 0.20, "Yamamoto 2020; Nilsonne 1988", "needs a dialogue"},
			{"mfcc2", -0.10, 0.25, "EMU r = −.17, −.22; Taguchi 2018, sign unseen", "a mean of an MFCC follows the microphone"},
			{"mfcc_other", 0, 0.25, "signs conflict between studies", "a mean of an MFCC follows the microphone"},
		},
	}
}

// Anxiety is the prior of the shipped anxiety scorer: signs of
// GAD-7 ≥ 10. Base rates: US adults, National Health Interview Survey 2019
// (NCHS Data Brief 378): 9.5 % with GAD-7 of 5 to 9, 3.4 % with 10 to 14,
// 2.7 % with 15 or more. The AUC is the middle of 0.55 to 0.57, what these
// effects imply and what was measured in 2,000 people (Teferra et al. 2022).
//
// The samples with labels of anxiety do not bring the effects up to date: two rows of
// one sample would make nearly all of the change, weights that have not seen a sample
// rank it no better than chance, and the weights would be held for known that are not.
// The card shows what the update would be; with Samples in place of Against it is made.
func Anxiety() *Prior {
	return &Prior{
		Category: screen.Anxiety, Name: "voicescreen-anxiety", Version: "2.2.0",
		Text: "Prior from the literature, not calibrated on any labelled recording. Hardly better than chance for one recording." + learn.Disclaimer,
		AUC:  0.56, AtLeast: [3]float64{0.156, 0.061, 0.027}, OperatingPoint: learn.OperatingPoint{Specificity: learn.Specificity, Undecided: learn.Undecided},
		ShareSD: shareSD, GapSD: gapSD, Sources: []models.Data{evidence}, Against: mustSamples(anxietyCSV),
		Effects: []Effect{
			{"f0.median_hz", "f0_mean_within_sex", +0.10, 0.15, "Low 2020 6 higher, 2 null, mostly men under threat; stress .17 after trim and fill; EMU −.06", stableF0, false},
			{"f0.sd_st", "f0_sd", +0.05, 0.15, "Özseven 2018", stableF0SD, false},
			{"jitter.local", "jitter", 0, 0.20, "signs conflict: Özseven 2018, Silber-Varod, Kappen 2023; Teferra 2022 null", stableJitter, false},
			{"shimmer.local_db", "shimmer", 0, 0.15, "Low 2020 2 of 5; Kappen 2023 −.31, not significant", stableShimmer, false},
			{"hnr.mean_db", "hnr", +0.05, 0.15, "Kappen 2023 +.44, not significant", stableHNR, false},
			{"pause.ratio", "silent_pause_proportion", +0.10, 0.15, "Laukka 2008", stablePause, false},
			{"speech.rate_syl_s", "speech_rate", 0, 0.20, "Low 2020 null; Kappen 2023 confounded with content", stableRate, false},
			{"spectral.alpha_db", "alpha_ratio_high_freq_energy", -0.10, 0.15, "Laukka 2008; Kappen 2023. The feature is low over high: its sign is the other way round", stableAlpha, false},
			{"formant.f1.median_hz", "f1_mean", -0.05, 0.15, "Özseven 2018; Teferra 2022", stableF1, false},
			{"level.mean_dbfs", "intensity_mean", 0, 0.15, "Low 2020 null or lower", stableLevel, true},
		},
		Unused: []Unused{
			{"speaking_duration_in_fixed_task", -0.24, 0.08, "Teferra 2022, n = 2,000, r = −.12", "needs a fixed prompt"},
		},
	}
}
