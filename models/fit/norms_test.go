package fit

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/dsp/wav"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

var measure = flag.Bool("norms", false, "measure norms.json anew on the shared speech; several minutes")

// priorFeatures lists the features of all shipped priors.
func priorFeatures() []string {
	var names []string
	for _, p := range []*Prior{DepressionPrior(), AnxietyPrior()} {
		for _, e := range p.Effects {
			if !slices.Contains(names, e.Feature) {
				names = append(names, e.Feature)
			}
		}
	}
	return names
}

// TestShippedNorms checks the norms, after measuring them anew if asked to.
func TestShippedNorms(t *testing.T) {
	if *measure {
		writeNorms(t)
	}
	n, err := ShippedNorms()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range priorFeatures() {
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

// sharedSpeech finds the shared speech beside the repository.
func sharedSpeech(t *testing.T) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if path := filepath.Join(dir, "shared", "speech"); exists(filepath.Join(path, "manifest.csv")) {
			return path
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Skip("the shared speech is not beside the repository")
		}
		dir = up
	}
}

// sharedRows returns where the shared speech is, and its manifest.
func sharedRows(t *testing.T) (dir string, rows []Row) {
	t.Helper()
	dir = sharedSpeech(t)
	f, err := os.Open(filepath.Join(dir, "manifest.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if rows, err = ReadManifest(f, screen.Deepfake); err != nil {
		t.Fatal(err)
	}
	return dir, rows
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// leastVoice is how many seconds of a speaker a recording is put together
// from, at least, and normLength how long it is made. Chosen: with 6 s there
// are some 40 speakers, too few for norms by sex; with 3 s 146.
const (
	leastVoice = 3
	normLength = 40
)

// manyVoices are the entries of column speaker that stand for several people,
// or for nobody in particular.
var manyVoices = []string{
	"VCTK-unknown", "LibriTTS-unknown", "LibriTTS-seen", "unknown", "VCTK-multi", "internal-ja", "internal-zh", "internal-emo", "M-AILABS",
	"kor_seen", "kor_ood", "eng_seen", "eng_ood", "VCC", "CMU-bdl/slt", "wake-word", "en", "en-us", "es",
}

// corpusVoice matches speakers of corpora that many sources draw on, whose code
// means one person wherever it stands: LJSpeech, VCTK, LibriTTS, CMU Arctic,
// AISHELL-3.
var corpusVoice = regexp.MustCompile(`^(LJ|p[0-9]{3}|[0-9]{3,5}|slt|bdl|clb|rms|SSB[0-9]{4})$`)

// speakerOf identifies the speaker of a row over all sources, "" for nobody in
// particular.
func speakerOf(r Row) string {
	speaker := strings.TrimPrefix(r.Speaker, "CMU-")
	switch {
	case slices.Contains(manyVoices, r.Speaker):
		return ""
	case corpusVoice.MatchString(speaker):
		return speaker
	}
	return r.Source + " " + speaker
}

// publishedSex is the sex of speakers whose corpus or code says it.
var publishedSex = map[string]screen.Gender{
	"LJ": screen.Female, "slt": screen.Female, "clb": screen.Female, "bdl": screen.Male, "rms": screen.Male,
	"p225": screen.Female, "p226": screen.Male, "p227": screen.Male, "p228": screen.Female, "p233": screen.Female, "p238": screen.Female,
	"p245": screen.Male, "p252": screen.Male, "p256": screen.Male, "p270": screen.Male, "p302": screen.Male, "p326": screen.Male,
	"Edresson/YourTTS EN-F": screen.Female, "Edresson/YourTTS EN-M": screen.Male,
	"Edresson/YourTTS PT-F": screen.Female, "Edresson/YourTTS PT-M": screen.Male,
	"openai/whisper jfk": screen.Male, "IPS-LMU/EMU-webApp msajc": screen.Male, "jim-schwoebel/voicebook jim": screen.Male,
	"bigpon/QuasiPeriodicParallelWaveGAN_demo SF3": screen.Female, "bigpon/QuasiPeriodicParallelWaveGAN_demo SM3": screen.Male,
}

// isSpeech tells running speech from single words, digits, vowels and song: at
// least 1.2 syllables per second and a median F0 from 60 to 350 Hz. Chosen: a
// third of the usual rate, and the voices of adults.
func isSpeech(v features.Vector) bool {
	f0 := v.Get("f0.median_hz")
	return v.Get("speech.rate_syl_s") >= 1.2 && f0 >= 60 && f0 <= 350
}

// writeNorms measures norms.json on the bona fide training clips. They are at
// most 4 s long, and people are to be scored on 30 s and more of free speech:
// the clips of each speaker are put in a row, over and over, with pauses of
// published length between them.
func writeNorms(t *testing.T) {
	dir, rows := sharedRows(t)
	voices := map[string][]string{}
	for _, r := range rows {
		if key := speakerOf(r); key != "" && !r.Positive && r.Use == "train" {
			voices[key] = append(voices[key], filepath.Join(dir, r.Path))
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	analyzer := dsp.NewAnalyzer()
	var vectors []features.Vector
	var known, sexes []screen.Gender
	for _, k := range slices.Sorted(maps.Keys(voices)) {
		if x := assemble(t, voices[k], rng); x != nil {
			v := features.Extract(analyzer.Analyze(x))
			if !isSpeech(v) {
				continue
			}
			vectors = append(vectors, v)
			sexes = append(sexes, publishedSex[k])
			if publishedSex[k] != 0 {
				known = append(known, publishedSex[k])
			}
		}
	}
	features := priorFeatures()
	blind, _, err := splitSexes(vectors, nil)
	if err != nil {
		t.Fatal(err)
	}
	agree := 0
	for i, s := range sexes {
		agree += stats.Indicator(s != 0 && blind[i] == (s == screen.Female))
	}
	t.Logf("of %d speakers whose sex is published, pitch and F3 alone tell %d as published", len(known), agree)
	n, err := MeasureNorms(vectors, sexes, features, models.Data{
		Data: "bona fide clips of public demonstration pages and corpora, those of one speaker put in a row to 40 s with pauses of published length " +
			fmt.Sprintf("(lognormal; medians of speakers with quartiles 0.31 and 0.61 s, Larsen et al. 2024, n = 19,615); sex as published for %d speakers, ", len(known)) +
			"of the others by a mixture of two normal distributions of the logarithms of median F0 and F3",
		Rows: len(vectors), Licence: "facts measured on recordings of various licences",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d female and %d male voices", n.Females, n.Males)
	b, err := json.MarshalIndent(n, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	normsJSON = append(b, '\n')
	if err := os.WriteFile("norms.json", normsJSON, 0o644); err != nil {
		t.Fatal(err)
	}
}

// assemble puts the clips in a row, nil if they are too short altogether.
func assemble(t *testing.T, paths []string, rng *rand.Rand) []float64 {
	var clips [][]float64
	var total int
	for _, p := range paths {
		f, err := os.Open(p)
		if err != nil {
			t.Fatal(err)
		}
		a, err := wav.Decode(f, nil)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		x := dsp.NewResampler(a.SampleRate, dsp.SampleRate).Resample(nil, a.Samples)
		clips = append(clips, x)
		total += len(x)
	}
	if total < leastVoice*dsp.SampleRate {
		return nil
	}
	// The quartiles of Larsen et al. (2024), Table 1, as a lognormal
	// distribution; within a speaker the standard deviation of the logarithm is
	// 0.6 (chosen: long pauses are three times the short ones).
	median := math.Sqrt(0.31*0.61) * math.Exp(rng.NormFloat64()*math.Log(0.61/0.31)/1.349)
	var x []float64
	for i := 0; len(x) < normLength*dsp.SampleRate; i++ {
		clip := clips[i%len(clips)]
		x = append(x, clip...)
		// The clips keep 0.1 s of silence at either end.
		pause := min(max(median*math.Exp(0.6*rng.NormFloat64()), 0.2), 3) - 0.2
		noise := quietest(clip)
		for range int(pause * dsp.SampleRate) {
			x = append(x, noise*rng.NormFloat64())
		}
	}
	return x
}

// quietest is the RMS of the quietest 20 ms of x.
func quietest(x []float64) float64 {
	least := math.Inf(1)
	const n = dsp.SampleRate / 50
	for ; len(x) >= n; x = x[n:] {
		var s float64
		for _, v := range x[:n] {
			s += v * v
		}
		least = min(least, math.Sqrt(s/n))
	}
	return least
}
