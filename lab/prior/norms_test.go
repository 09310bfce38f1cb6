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

// normRows is how many rows the manifest of the shared speech had when the norms
// were measured: those from the 1,338th on are of later.
const normRows = 1337

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
		got, err := MeasureVoices(t.Context(), m.Rows[:normRows], decode, nil)
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
		if f := n.Features[i]; f.N < 2*leastNorm || !(f.Female.Scale > 0) || !(f.Male.Scale > 0) {
			t.Errorf("%s: got %+v, want at least %d recordings of each sex and scales", name, f, leastNorm)
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
	vectors, sex := make([]features.Vector, people), make([]screen.Gender, people)
	for i := range vectors {
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
		values["pause.mean_s"] = 5 + z
		values["pause.sd_s"] = 3 + 0.5*(z+rng.NormFloat64())
		if i%10 == 0 {
			delete(values, "pause.sd_s")
		}
		vectors[i] = features.VoiceSchema().Vector(values)
		if i%8 < 2 {
			sex[i] = map[bool]screen.Gender{true: screen.Female, false: screen.Male}[female]
		}
	}
	n, err := MeasureNorms(vectors, sex, names, models.Data{Data: "drawn"})
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
	for _, s := range []models.Spread{n.Features[2].Female, n.Features[2].Male} {
		near("centre of the pauses", s.Center, 5, 0.15)
		near("scale of the pauses", s.Scale, 1, 0.15)
	}
	if n.Features[3].N != people*9/10 {
		t.Errorf("got %d measured, want %d", n.Features[3].N, people*9/10)
	}
	// Spearman's of a correlation of √½ is 0.69; drawn to 0 by 30 %.
	near("correlation", n.Correlation[2][3], 0.7*0.69, 0.04)
	for i, s := range n.Sex {
		near(s.Name+" of women", s.Female.Center, shipped.Sex[i].Female.Center, 0.03)
		near(s.Name+" of men", s.Male.Center, shipped.Sex[i].Male.Center, 0.03)
	}
	if _, err := MeasureNorms(vectors[:40], sex, names, models.Data{}); err == nil {
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
