package prior

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	_ "embed"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/stats"
)

// A Sample is one feature in one sample of people with labels: the difference of its
// mean between people at or above the cut and people below it, in standard deviations
// within sex, and its standard error.
type Sample struct {
	Name    string
	Feature string
	D, SE   float64
	Note    string
}

// samplesCSV holds the samples that bring the effects of Depression up to date, a row
// each: EMU (Tlachac et al. 2021, PHQ-9 of 10 or more, 56 recordings scripted and 49
// unscripted), Kappen et al. 2023 (66 students, picture descriptions), Hansen et al.
// 2022 (40 patients, 42 controls), EATD-Corpus and DAIC-WOZ. Without a row, "voicelab
// priors" makes the model without it.
//
//go:embed samples.csv
var samplesCSV []byte

// anxietyCSV holds those of Anxiety: EMU (GAD-7 of 10 or more) and Kappen et al. 2023
// (DASS-21 anxiety of 10 or more, which is moderate, as 10 of the GAD-7 is). Of the two
// cuts that are known of the second sample only one may stand here: both are the same
// people.
//
//go:embed samples_anxiety.csv
var anxietyCSV []byte

// readSamples reads a table with the columns sample, feature, d, se and note.
func readSamples(r io.Reader) ([]Sample, error) {
	c := csv.NewReader(r)
	c.FieldsPerRecord = 5
	rows, err := c.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("prior: samples: %w", err)
	}
	if len(rows) == 0 || strings.Join(rows[0], ",") != "sample,feature,d,se,note" {
		return nil, fmt.Errorf("prior: samples: want the columns sample, feature, d, se and note")
	}
	var out []Sample
	for i, row := range rows[1:] {
		d, errD := strconv.ParseFloat(row[2], 64)
		se, errSE := strconv.ParseFloat(row[3], 64)
		switch _, err := termOf(row[1]); {
		case err != nil:
			return nil, fmt.Errorf("prior: samples: row %d: %w", i+1, err)
		case row[0] == "":
			return nil, fmt.Errorf("prior: samples: row %d has no sample", i+1)
		case errD != nil || !dsp.Finite(d):
			return nil, fmt.Errorf("prior: samples: row %d: d is %q, want a number", i+1, row[2])
		case errSE != nil || !(se > 0) || !dsp.Finite(se):
			return nil, fmt.Errorf("prior: samples: row %d: se is %q, want a number above 0", i+1, row[3])
		}
		out = append(out, Sample{row[0], row[1], d, se, row[4]})
	}
	return out, nil
}

// betweenSamples is the standard deviation of an effect between samples: of people,
// languages and tasks. Chosen: as large as the standard deviation of most effects
// before the samples; the samples' Q of 15.1 on 19 degrees of freedom neither asks for
// it nor excludes it.
const betweenSamples = 0.15

// leastSure is the least mean of an updated effect, in its standard deviations, that
// gets a weight. Chosen: below it the sign is as good as open.
const leastSure = 1. / 3

// Current returns the effects brought up to date by the samples. With d and sd the
// prior effect, and dⱼ ± seⱼ those of the samples,
//
//	δ ~ N(d, sd²),  dⱼ ~ N(δ, seⱼ² + betweenSamples²),
//
// the posterior of δ is normal (Gelman et al. 2013, section 5.4, with a known standard
// deviation between samples). An effect whose sign the samples turn round, or whose
// mean is below a third of its standard deviation, gets the mean 0.
func (p *Prior) Current() []Effect {
	out := append([]Effect(nil), p.Effects...)
	for i := range out {
		e := &out[i]
		precision := 1 / (e.SD * e.SD)
		sum, any := precision*e.D, false
		for _, s := range p.Samples {
			if s.Feature == e.Feature {
				w := 1 / (s.SE*s.SE + betweenSamples*betweenSamples)
				precision, sum, any = precision+w, sum+w*s.D, true
			}
		}
		if !any {
			continue
		}
		was := e.D
		e.D, e.SD = stats.Decimals(sum/precision, 2), stats.Decimals(1/math.Sqrt(precision), 2)
		if was*e.D < 0 || math.Abs(e.D) < leastSure*e.SD {
			e.D = 0
		}
	}
	return out
}

// mustSamples returns the samples of an embedded table. It panics if that is invalid.
func mustSamples(table []byte) []Sample {
	s, err := readSamples(bytes.NewReader(table))
	if err != nil {
		panic(err)
	}
	return s
}
