package main

import (
	"math"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/screen"
)

func printed(s screen.Score, verbose bool) string {
	var b strings.Builder
	printScore(&command.Printer{W: &b}, &s, verbose)
	return b.String()
}

// A score is worded by its probability, beside that of the population.
func TestScoreInSentences(t *testing.T) {
	band := screen.Band{Low: 0.0847, High: 0.109}
	for name, c := range map[string]struct {
		score screen.Score
		want  []string
		not   []string
	}{
		"below the average": {
			screen.Score{Category: screen.Depression, Probability: 0.048, Prior: 0.08, Low: 0.01, High: 0.2, Decision: screen.Negative, Severity: screen.NoToMild, Coverage: 1, Band: band},
			[]string{"5 of 100 people who sound like this would score 10 or more on the PHQ-9; in this population 8 of 100 do",
				"below the average person in this population", "between 1 and 20 of 100 (90 % interval)", "no to mild (PHQ-9 up to 9)", "decision     no signs", "not calibrated"},
			[]string{"above", "0.048", "measured"},
		},
		"above the average": {
			screen.Score{Category: screen.Depression, Probability: 0.879, Prior: 0.8, Low: math.NaN(), High: math.NaN(), Decision: screen.Positive, Severity: screen.MildToModerate, Calibrated: true},
			[]string{"88 of 100", "in this population 80 of 100 do", "above the average person", "decision     signs\n", "0 % of what it weighs could be measured"},
			[]string{"below", "interval", "not calibrated"},
		},
		"slightly below": {
			screen.Score{Category: screen.Anxiety, Probability: 0.060, Prior: 0.061, Decision: screen.Indeterminate, Severity: screen.NoOrMinimal, Coverage: 1, Band: screen.Open},
			[]string{"6 of 100 people who sound like this would score 10 or more on the GAD-7; in this population 6 of 100 do", "slightly below", "nothing shows that this model does better than the base rate"},
			nil,
		},
		"no population known": {
			screen.Score{Category: screen.Depression, Probability: 0.2, Decision: screen.Negative, Severity: screen.NoToMild, Coverage: 1},
			[]string{"20 of 100 people who sound like this would score 10 or more on the PHQ-9\n"},
			[]string{"population", "average"},
		},
		"in the band": {
			screen.Score{Category: screen.Depression, Probability: 0.1, Prior: 0.08, Decision: screen.Indeterminate, Severity: screen.MildToModerate, Coverage: 1, Band: band},
			[]string{"left open: the model does not decide from 8.5 to 10.9 of 100"}, nil,
		},
		"doubtful": {
			screen.Score{Category: screen.Depression, Probability: 0.3, Prior: 0.08, Decision: screen.Indeterminate, Severity: screen.MildToModerate, Coverage: 1, Band: band, Cautions: []screen.Caution{screen.Unfamiliar}},
			[]string{"left open: see the caution", "caution      unlike every recording"}, nil,
		},
		"short": {
			screen.Score{Category: screen.Depression, Probability: 0.3, Prior: 0.08, Decision: screen.Positive, Severity: screen.MildToModerate, Coverage: 1, Band: band, Cautions: []screen.Caution{screen.ShortSpeech}},
			[]string{"decision     signs\n", "caution      less speech than the 60 to 90 s that are recommended"}, nil,
		},
		"just below one half": {
			screen.Score{Category: screen.Depression, Probability: 0.4996, Prior: 0.3, Decision: screen.Positive, Severity: screen.MildToModerate, Coverage: 1},
			[]string{"49.96 of 100"}, []string{"50 of 100"},
		},
		"a deepfake": {
			screen.Score{Category: screen.Deepfake, Probability: 0.027, Prior: 0.01, Decision: screen.Negative, Coverage: 1, Calibrated: true},
			[]string{"3 of 100 recordings that sound like this would be synthetic, if 1 of any 100 recordings are", "no signs of synthesis"}, []string{"average", "class"},
		},
		"a detector that is not calibrated": {
			screen.Score{Category: screen.Deepfake, Probability: 0.12, Decision: screen.Negative, Coverage: 1},
			[]string{"The model gives 12 of 100 for a synthetic voice; it is not calibrated"}, []string{"of 100 recordings"},
		},
	} {
		got := printed(c.score, false)
		for _, w := range c.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: got\n%s\nwant %q in it", name, got, w)
			}
		}
		for _, w := range c.not {
			if strings.Contains(got, w) {
				t.Errorf("%s: got\n%s\nwant no %q in it", name, got, w)
			}
		}
	}
}

// Measures with equal words stand there once, and their numbers with --verbose.
func TestMeasuresAndTheirNumbers(t *testing.T) {
	s := screen.Score{Category: screen.Depression, Model: "m", Version: "2", Probability: 0.048, Prior: 0.08, Decision: screen.Negative, Severity: screen.NoToMild, Coverage: 1,
		Band: screen.Band{Low: 0.0847, High: 0.109}, Contributions: []screen.Contribution{
			{Feature: "pause.sd_s", Value: 0.9, Unit: "s", Logits: 0.2, Deviation: 1.4},
			{Feature: "mfcc.2.delta_sd", Value: 5, Logits: -0.1, Deviation: 1},
			{Feature: "mfcc.4.delta_sd", Value: 6, Logits: -0.1, Deviation: 1},
		}}
	got := printed(s, false)
	if !strings.Contains(got, "weighs most  pauses vary more than usual (raises the score)\n") || strings.Count(got, "the sound of the voice changes more from moment to moment than usual (lowers the score)") != 1 {
		t.Errorf("got\n%s\nwant each measure once, in words", got)
	}
	numbers := []string{"pause.sd_s", "0.9 s", "+1.4 SD", "(+0.20)", "m 2", "0.0480", "negative below 0.0847, positive from 0.1090 on", "mfcc.4.delta_sd"}
	all := printed(s, true)
	for _, n := range numbers {
		if strings.Contains(got, n) || !strings.Contains(all, n) {
			t.Errorf("got\n%s\nwant %q with --verbose alone", all, n)
		}
	}
}
