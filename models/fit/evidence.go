package fit

import "github.com/voicescreen/voicescreen/models"

// Why features that the literature knows are not here:
//
//   - the mean F0, the medians of the formants and the vowel space differ more
//     between the sexes than between anybody else, and the norms are not
//     split by sex: they would make a detector of men
//   - the mean level is the gain of a microphone, which nobody knows
//   - response latency needs a dialogue, speaking time a fixed prompt
//   - the means of the MFCC follow the microphone, and their signs differ
//     between studies

// baseRateSD is the standard deviation, in logits, of seven published shares
// of people with PHQ-9 or PHQ-8 ≥ 10: 0.076 (NHANES 2009–2012), 0.080 (NHANES
// 2013–2016), 0.108 (general population, n = 1,240), 0.143 (major depression
// in primary care, Mitchell et al. 2016), 0.203 (MMPsy, pupils), 0.316
// (E-DAIC), 0.39 (recruited, n = 7,034): 0.80.
const baseRateSD = 0.8

// undecided is the share of people in the indeterminate band, as large as
// that of the best published screening of the kind (about 20 %).
const undecided = 0.2

// specificity is about that of the best published screening of the kind (0.735
// at a sensitivity of 0.713 in 10,442 people; Mazur et al. 2025). What these
// priors lack is then missing in the sensitivity, and does not become alarm.
const specificity = 0.74

// evidence says where the effects come from.
var evidence = models.Data{
	Data: "published effect sizes, weighed by judgement: Mundt et al. 2007, RADAR-MDD, Yamamoto et al. 2020, Low et al. 2020 (review), " +
		"Teferra et al. 2022, Laukka et al. 2008, Kappen et al. 2023 and others; see the model card",
	Licence: "facts",
}

// DepressionPrior is the prior of the shipped depression scorer: signs of
// PHQ-9 ≥ 10. Base rates: US adults, NHANES 2013–2016 (MMWR 67:287): 5.1 %
// with PHQ-9 of 10 to 14, 2.9 % with 15 or more.
func DepressionPrior() *Prior {
	return &Prior{
		Category: models.Depression, Name: "voicescreen-depression", Version: "1.0.0",
		Text: "Prior from the literature, not calibrated on any labelled recording. A screening signal, not a diagnosis.",
		AUC:  0.65, AtLeast: []float64{0.080, 0.029}, Decision: 1, Specificity: specificity, Undecided: undecided, LogitSD: baseRateSD,
		Sources: []models.Data{evidence},
		Effects: []Effect{
			{"speech.rate_syl_s", -0.35, 0.15, "speech rate"},
			{"articulation.rate_syl_s", -0.20, 0.15, "articulation rate"},
			{"pause.mean_s", +0.25, 0.15, "pause duration"},
			{"pause.sd_s", +0.35, 0.20, "irregular timing"},
			{"loudness.peak_gap_sd_s", +0.35, 0.20, "irregular timing"},
			{"pause.ratio", +0.20, 0.15, "pause proportion"},
			{"f0.sd_st", -0.15, 0.20, "pitch variability"},
			{"f0.range_st", -0.15, 0.20, "pitch variability"},
			{"level.sd_db", -0.20, 0.20, "intensity variability"},
			{"level.range_db", -0.20, 0.20, "intensity variability"},
			{"jitter.local", +0.10, 0.15, "jitter"},
			{"shimmer.local_db", +0.15, 0.20, "shimmer"},
			{"hnr.mean_db", 0, 0.20, "harmonicity"},
			{"mfcc.1.delta_sd", -0.25, 0.20, "spectral change"},
			{"mfcc.2.delta_sd", -0.25, 0.20, "spectral change"},
			{"mfcc.3.delta_sd", -0.25, 0.20, "spectral change"},
			{"mfcc.4.delta_sd", -0.25, 0.20, "spectral change"},
		},
	}
}

// AnxietyPrior is the prior of the shipped anxiety scorer: signs of
// GAD-7 ≥ 10. Base rates: US adults, National Health Interview Survey 2019
// (NCHS Data Brief 378): 9.5 % with GAD-7 of 5 to 9, 3.4 % with 10 to 14,
// 2.7 % with 15 or more.
func AnxietyPrior() *Prior {
	return &Prior{
		Category: models.Anxiety, Name: "voicescreen-anxiety", Version: "1.0.0",
		Text: "Prior from the literature, not calibrated on any labelled recording. Hardly better than chance for one recording. A screening signal, not a diagnosis.",
		AUC:  0.56, AtLeast: []float64{0.156, 0.061, 0.027}, Decision: 2, Specificity: specificity, Undecided: undecided, LogitSD: baseRateSD,
		Sources: []models.Data{evidence},
		Effects: []Effect{
			{"pause.ratio", +0.10, 0.15, "pause proportion"},
			{"spectral.alpha_db", -0.10, 0.15, "high-frequency energy"}, // alpha is low over high
			{"f0.sd_st", +0.05, 0.15, "pitch variability"},
			{"hnr.mean_db", +0.05, 0.15, "harmonicity"},
			{"jitter.local", 0, 0.20, "jitter"},
			{"shimmer.local_db", 0, 0.15, "shimmer"},
			{"speech.rate_syl_s", 0, 0.20, "speech rate"},
		},
	}
}
