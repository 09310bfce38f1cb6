package prior

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/lab/manifest"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// leastVoice is how many seconds of a speaker a recording is put together
// from, at least, and normLength how long it is made. Chosen: with 6 s there
// are some 40 speakers, too few for norms by sex; with 3 s 146.
const (
	leastVoice = 3
	normLength = 40
)

// manyVoices are the entries of column speaker that stand for several people,
// or for no particular person.
var manyVoices = []string{
	"VCTK-unknown", "LibriTTS-unknown", "LibriTTS-seen", "unknown", "VCTK-multi", "internal-ja", "internal-zh", "internal-emo", "M-AILABS",
	"kor_seen", "kor_ood", "eng_seen", "eng_ood", "VCC", "CMU-bdl/slt", "wake-word", "en", "en-us", "es",
}

// corpusVoice matches speakers of corpora that many sources draw on, whose code
// means one person wherever it stands: LJSpeech, VCTK, LibriTTS, CMU Arctic,
// AISHELL-3.
var corpusVoice = regexp.MustCompile(`^(LJ|p[0-9]{3}|[0-9]{3,5}|slt|bdl|clb|rms|SSB[0-9]{4})$`)

// speakerOf identifies the speaker of a row over all sources, "" for no
// particular person.
func speakerOf(r *manifest.Row) string {
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

// isSpeech distinguishes running speech from single words, digits, vowels and song: at
// least 1.2 syllables per second and a median F0 from 60 to 350 Hz. Chosen: a
// third of the usual rate, and the voices of adults.
func isSpeech(v features.Vector) bool {
	f0 := v.Get("f0.median_hz")
	return v.Get("speech.rate_syl_s") >= 1.2 && f0 >= 60 && f0 <= 350
}

// A Voice is one speaker of a manifest.
type Voice struct {
	Speaker string
	Paths   []string      // of the clips, in the order of the manifest
	Sex     screen.Gender // as published, 0 if it is not
}

// Voices are the speakers of the bona fide rows with a use, by name.
func Voices(rows []manifest.Row, use string) []Voice {
	paths := map[string][]string{}
	for i := range rows {
		if key := speakerOf(&rows[i]); key != "" && !rows[i].Positive && rows[i].Use == use {
			paths[key] = append(paths[key], rows[i].Path)
		}
	}
	var out []Voice
	for _, key := range slices.Sorted(maps.Keys(paths)) {
		out = append(out, Voice{key, paths[key], publishedSex[key]})
	}
	return out
}

// A Decoder returns the mono samples and the rate in Hz of the recording of a
// row.
type Decoder func(path string) (samples []float64, rate int, err error)

// Speech puts the clips of a speaker in a row, over and over, with pauses of
// published length between them: 40 s at dsp.SampleRate. It is nil if they are
// shorter than 3 s altogether.
func (v *Voice) Speech(decode Decoder, rng *rand.Rand) ([]float64, error) {
	var clips [][]float64
	for _, path := range v.Paths {
		x, rate, err := decode(path)
		if err != nil {
			return nil, fmt.Errorf("prior: read %s: %w", path, err)
		}
		clips = append(clips, dsp.NewResampler(rate, dsp.SampleRate).Resample(nil, x))
	}
	return assemble(clips, rng), nil
}

// A Measurement is norms, and how well they distinguish the sexes.
type Measurement struct {
	Norms     *Norms
	Published int // speakers whose sex is published
	Agree     int // of these, those whom pitch and F3 alone classify as published
}

// MeasureVoices measures the norms of the features of the shipped priors on
// the bona fide rows with the use "train". The clips of such a manifest last at
// most 4 s, and people are scored on 30 s and more of free speech: see
// [Voice.Speech]. Progress is called after each speaker and may be nil. Equal
// rows and recordings give equal norms.
func MeasureVoices(ctx context.Context, rows []manifest.Row, decode Decoder, progress func(done, total int)) (*Measurement, error) {
	rng := rand.New(rand.NewPCG(1, 1))
	analyzer := dsp.NewAnalyzer()
	var vectors []features.Vector
	var sexes []screen.Gender
	m := &Measurement{}
	voices := Voices(rows, "train")
	for i := range voices {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x, err := voices[i].Speech(decode, rng)
		if err != nil {
			return nil, err
		}
		if progress != nil {
			progress(i+1, len(voices))
		}
		if x == nil {
			continue
		}
		v := features.Extract(analyzer.Analyze(x))
		if !isSpeech(v) {
			continue
		}
		vectors, sexes = append(vectors, v), append(sexes, voices[i].Sex)
		m.Published += stats.Indicator(voices[i].Sex != 0)
	}
	blind, _, err := splitSexes(vectors, nil)
	if err != nil {
		return nil, err
	}
	for i, s := range sexes {
		m.Agree += stats.Indicator(s != 0 && blind[i] == (s == screen.Female))
	}
	m.Norms, err = MeasureNorms(vectors, sexes, Features(), models.Data{
		Data: "bona fide clips of public demonstration pages and corpora, those of one speaker put in a row to 40 s with pauses of published length " +
			fmt.Sprintf("(lognormal; medians of speakers with quartiles 0.31 and 0.61 s, Larsen et al. 2024, n = 19,615); sex as published for %d speakers, ", m.Published) +
			"of the others by a mixture of two normal distributions of the logarithms of median F0 and F3",
		Rows: len(vectors), Licence: "facts measured on recordings of various licences",
	})
	return m, err
}

// Features lists the features of all shipped priors.
func Features() []string {
	var names []string
	for _, p := range []*Prior{Depression(), Anxiety()} {
		for _, e := range p.Effects {
			if !slices.Contains(names, e.Feature) {
				names = append(names, e.Feature)
			}
		}
	}
	return names
}

// Write writes the file of norms.
func (n *Norms) Write(w io.Writer) error {
	b, err := json.MarshalIndent(n, "", " ")
	if err != nil {
		return fmt.Errorf("prior: write norms: %w", err)
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// assemble puts clips at dsp.SampleRate in a row, nil if they are too short
// altogether.
func assemble(clips [][]float64, rng *rand.Rand) []float64 {
	var total int
	for _, x := range clips {
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
