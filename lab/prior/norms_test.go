package prior

import (
	"bytes"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/voicescreen/voicescreen/dsp/wav"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/proof/shared"
	"github.com/voicescreen/voicescreen/lab/manifest"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

var measure = flag.Bool("norms", false, "measure norms.json anew on the shared speech and compare; a minute")

// TestShippedNorms checks the norms, after measuring them anew if asked to.
func TestShippedNorms(t *testing.T) {
	n, err := ShippedNorms()
	if err != nil {
		t.Fatal(err)
	}
	if *measure {
		m, decode, ok := sharedSpeech(t)
		if !ok {
			t.Fatal("-norms needs ../shared/speech beside the repository")
		}
		got, err := MeasureVoices(t.Context(), m.Rows, decode, nil)
		if err != nil {
			t.Fatal(err)
		}
		sameNorms(t, got.Norms)
		t.Logf("of %d speakers whose sex is published, pitch and F3 alone tell %d as published", got.Published, got.Agree)
	}
	sameNorms(t, n)
	for _, name := range Features() {
		i := n.index(name)
		if i < 0 {
			t.Errorf("no norm of %s", name)
			continue
		}
		if f := n.Features[i]; f.N < 2*leastNorm {
			t.Errorf("%s: got %+v, want at least %d recordings of each sex", name, f, leastNorm)
		}
		for _, s := range screen.Speeches() {
			if of := n.Features[i].Norms.Of(s); !(of.Female.Scale > 0) || !(of.Male.Scale > 0) {
				t.Errorf("%s: got %+v for %v, want scales", name, of, s)
			}
		}
		for j := range n.Features {
			r := n.Correlation[i][j]
			if r != n.Correlation[j][i] || math.Abs(r) > 1 || i == j && r != 1 {
				t.Errorf("correlation of features %d and %d is %v, other way round %v", i, j, r, n.Correlation[j][i])
			}
		}
	}
}

// sameNorms compares what Write makes of norms with norms.json, byte for byte.
func sameNorms(t *testing.T, n *Norms) {
	t.Helper()
	var got bytes.Buffer
	if err := n.Write(&got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), normsJSON) {
		t.Errorf("got norms of %d female and %d male voices that differ from norms.json; run voicelab norms", n.Females, n.Males)
	}
}

// TestMeasureNorms draws voices of two sexes of which a quarter say theirs, and
// finds the norms that they were drawn with.
func TestMeasureNorms(t *testing.T) {
	const people = 2000
	shipped, err := ShippedNorms()
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"f0.median_hz", "formant.f3.median_hz", "pause.mean_s", "pause.sd_s"}
	rng := rand.New(rand.NewPCG(1, 2))
	drawn := make([]Person, people)
	for i := range drawn {
		values := map[string]float64{}
		female := i%2 == 0
		spread := func(s models.SexFeature) models.Spread {
			if female {
				return s.Female
			}
			return s.Male
		}
		for _, s := range shipped.Sex {
			values[s.Name] = math.Exp(spread(s).Center + spread(s).Scale*rng.NormFloat64())
		}
		z := rng.NormFloat64()
		w := (z + rng.NormFloat64()) / math.Sqrt2
		p := &drawn[i]
		p.Alone = features.VoiceSchema().Vector(values)
		p.Unique = 30
		for way := range p.Spoken {
			// The pauses are half as long from one way of speaking to the next, and have a
			// sampling error of the variance 0.25 in the logarithm.
			values["pause.mean_s"] = math.Exp(1 - float64(way) + z + 0.5*rng.NormFloat64())
			values["pause.sd_s"] = math.Exp(2 + 0.5*w)
			values["speech.duration_s"] = sampledAt / 2
			if i%10 == 0 {
				delete(values, "pause.sd_s")
			}
			p.Spoken[way] = features.VoiceSchema().Vector(values)
		}
		if i%8 < 2 {
			p.Sex = map[bool]screen.Gender{true: screen.Female, false: screen.Male}[female]
		}
	}
	var terms []models.BayesFeature
	for _, name := range names {
		x, err := termOf(name)
		if err != nil {
			t.Fatal(err)
		}
		terms = append(terms, x)
	}
	wobble := make([]samplingError, len(terms))
	wobble[2] = samplingError{true, [3]float64{0.125, 0.125, 0.125}, 1}
	n, err := MeasureNorms(drawn, terms, wobble, models.Data{Data: "drawn"})
	if err != nil {
		t.Fatal(err)
	}
	if n.Females+n.Males != people || math.Abs(float64(n.Females-n.Males)) > 0.1*people {
		t.Errorf("got %d female and %d male voices of %d, want about half", n.Females, n.Males, people)
	}
	near := func(what string, got, want, tolerance float64) {
		if math.Abs(got-want) > tolerance {
			t.Errorf("%s: got %v, want %v within %v", what, got, want, tolerance)
		}
	}
	// Standard errors over 1,000 voices are 0.04 of a median and of a scale of 1.
	for way, speech := range screen.Speeches() {
		of := n.Features[2].Norms.Of(speech)
		for _, s := range []models.Spread{of.Female, of.Male} {
			near("centre of the pauses", s.Center, 1-float64(way), 0.15)
			near("scale of the pauses", s.Scale, 1, 0.15)
		}
	}
	near("sampling error", n.Features[2].Sampling.Variance, 0.125, 0.03)
	if n.Features[3].N != people*9/10 {
		t.Errorf("got %d measured, want %d", n.Features[3].N, people*9/10)
	}
	// Of the logarithms the correlation is √½/√1.25; Spearman's of it, shrunk to 0 by 30 %.
	near("correlation", n.Correlation[2][3], 0.7*6/math.Pi*math.Asin(math.Sqrt(0.5/1.25)/2), 0.04)
	for i, s := range n.Sex {
		near(s.Name+" of women", s.Female.Center, shipped.Sex[i].Female.Center, 0.03)
		near(s.Name+" of men", s.Male.Center, shipped.Sex[i].Male.Center, 0.03)
	}
	if _, err := MeasureNorms(drawn[:40], terms, wobble, models.Data{}); err == nil {
		t.Error("of 40 recordings: got norms, want an error")
	}
}

// sharedSpeech returns the manifest of the shared speech, and a function that reads its
// recordings. ok is false if it is not beside the repository.
func sharedSpeech(t *testing.T) (m *manifest.File, decode Decoder, ok bool) {
	t.Helper()
	path, ok := shared.Find(t, "speech/manifest.csv")
	if !ok {
		return nil, nil, false
	}
	m, err := manifest.Open(path, screen.Deepfake)
	if err != nil {
		t.Fatal(err)
	}
	return m, func(path string) ([]float64, int, error) {
		f, err := os.Open(m.Path(path))
		if err != nil {
			return nil, 0, err
		}
		defer f.Close()
		a, err := wav.Decode(f, nil)
		if err != nil {
			return nil, 0, err
		}
		return a.Samples, a.SampleRate, nil
	}, true
}
