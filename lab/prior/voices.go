package prior

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/lab/manifest"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// leastVoice is how many seconds of clips of a speaker there are, at least, and
// normLength the seconds of the recordings that they are put together to: as long as
// the windows in which their pauses were counted; see voiceome. Chosen: with 6 s there
// are some 40 speakers, too few for norms by sex; with 3 s 146.
const (
	leastVoice = 3
	normLength = 60
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

// heard is the speech of a Voice.
type heard struct {
	sex     screen.Gender
	female  bool
	clips   [][]piece
	seconds float64         // of speech
	alone   features.Vector // of the speech without its pauses
}

// side is 0 for a female and 1 for a male voice.
func (v *heard) side() int { return stats.Indicator(!v.female) }

// pieces returns the pieces of all clips.
func (v *heard) pieces() []piece { return slices.Concat(v.clips...) }

// hear reads the clips of a speaker. It is nil if they are shorter than 3 s
// altogether or no running speech.
func (v *Voice) hear(decode Decoder, analyzer *dsp.Analyzer) (*heard, error) {
	h := &heard{sex: v.Sex}
	var seconds float64
	var all []float64
	for _, path := range v.Paths {
		x, rate, err := decode(path)
		if err != nil {
			return nil, fmt.Errorf("prior: read %s: %w", path, err)
		}
		seconds += float64(len(x)) / float64(rate)
		clip := pieces(analyzer, dsp.NewResampler(rate, dsp.SampleRate).Resample(nil, x))
		h.clips = append(h.clips, clip)
		for _, p := range clip {
			h.seconds += float64(len(p.samples)) / dsp.SampleRate
			if len(all) < aloneLength*dsp.SampleRate {
				all = append(all, p.samples...)
			}
		}
	}
	if seconds < leastVoice || len(all) == 0 {
		return nil, nil
	}
	h.alone = features.Extract(analyzer.Analyze(all))
	if !isSpeech(h.alone) {
		return nil, nil
	}
	return h, nil
}

// aloneLength is the seconds of speech that the sex is classified by, at most. Chosen.
const aloneLength = 30

// A Measurement is norms, and how well they distinguish the sexes.
type Measurement struct {
	Norms     *Norms
	Published int // speakers whose sex is published
	Agree     int // of these, those whom pitch and F3 alone classify as published
}

// hearVoices reads the voices of rows with a use that have enough running speech, and
// classifies their sex where it is not published. It returns too of how many the sex
// is published, and with how many of these pitch and third formant alone agree.
func hearVoices(ctx context.Context, rows []manifest.Row, use string, decode Decoder) (voices []*heard, published, agree int, err error) {
	list := Voices(rows, use)
	all, errs := make([]*heard, len(list)), make([]error, len(list))
	inParallel(len(list), func(i int, a *dsp.Analyzer) {
		if errs[i] = ctx.Err(); errs[i] == nil {
			all[i], errs[i] = list[i].hear(decode, a)
		}
	})
	if err := errors.Join(errs...); err != nil {
		return nil, 0, 0, err
	}
	voices = slices.DeleteFunc(all, func(v *heard) bool { return v == nil })
	alone, sexes := make([]features.Vector, len(voices)), make([]screen.Gender, len(voices))
	for i, v := range voices {
		alone[i], sexes[i] = v.alone, v.sex
		published += stats.Indicator(v.sex != 0)
	}
	blind, _, err := splitSexes(alone, nil)
	if err != nil {
		return nil, 0, 0, err
	}
	female, _, err := splitSexes(alone, sexes)
	if err != nil {
		return nil, 0, 0, err
	}
	for i, v := range voices {
		v.female = female[i]
		agree += stats.Indicator(v.sex != 0 && blind[i] == female[i])
	}
	return voices, published, agree, nil
}

// inParallel calls do for 0 to n − 1 on all processors, each call with an analyzer
// that no other uses meanwhile.
func inParallel(n int, do func(i int, a *dsp.Analyzer)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			a := dsp.NewAnalyzer()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i, a)
			}
		})
	}
	wait.Wait()
}

// speak returns the features of one recording of each voice in each way of speaking,
// with pauses drawn by seed. The voices are one sample of the people of each way: see
// strata. Done is called after each and may be nil.
func speak(voices []*heard, seed uint64, done func()) [][3]features.Vector {
	out := make([][3]features.Vector, len(voices))
	var pause, stretch [3][]float64
	for way := range pause {
		rng := rand.New(rand.NewPCG(seed, uint64(1000+way)))
		pause[way], stretch[way] = strata(len(voices), rng), strata(len(voices), rng)
	}
	var mu sync.Mutex // protects the calls of done
	inParallel(len(voices), func(i int, a *dsp.Analyzer) {
		for way, s := range screen.Speeches() {
			rng := rand.New(rand.NewPCG(seed, uint64(10_000+3*i+way)))
			sp := newSpeaker(s, voices[i].side(), pause[way][i], stretch[way][i])
			x := assemble(voices[i].pieces(), sp, normLength, rng)
			out[i][way] = features.Extract(a.Analyze(x))
		}
		if done != nil {
			mu.Lock()
			done()
			mu.Unlock()
		}
	})
	return out
}

// MeasureVoices measures the norms of the features of the shipped priors on
// the bona fide rows with the use "train". The clips of such a manifest last at
// most 4 s, and people are scored on 30 s and more with pauses: the speech of the
// clips of a speaker is put in a row to 60 s in each way of speaking, with pauses
// drawn as its people have them. Progress is called after each speaker and may be nil.
// Equal rows and recordings give equal norms.
func MeasureVoices(ctx context.Context, rows []manifest.Row, decode Decoder, progress func(done, total int)) (*Measurement, error) {
	voices, published, agree, err := hearVoices(ctx, rows, "train", decode)
	if err != nil {
		return nil, err
	}
	terms, err := allTerms()
	if err != nil {
		return nil, err
	}
	noise := measureNoise(voices, terms)
	for i, x := range terms {
		if slices.Contains(noiseTerms, x.Name) {
			terms[i].Noise = noise[x.Name]
		}
	}
	splits := splitVoices(voices)
	wobble := make([]samplingError, len(terms))
	for i := range terms {
		wobble[i] = measureError(&terms[i], splits)
	}
	step := 0
	spoken := speak(voices, 100, func() {
		if step++; progress != nil {
			progress(step, len(voices))
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	people := make([]Person, len(voices))
	for i, v := range voices {
		people[i] = Person{v.sex, v.alone, v.seconds, spoken[i]}
	}
	m := &Measurement{Published: published, Agree: agree}
	m.Norms, err = MeasureNorms(people, terms, wobble, models.Data{
		Data: "speech of bona fide clips of public demonstration pages and corpora, that of one speaker put in a row to 60 s in each way of speaking, " +
			"with pauses drawn as in Voiceome (free speech, picture description, reading; about 2,430 adults each) and measured with this engine; " +
			fmt.Sprintf("sex as published for %d speakers, ", published) +
			"of the others by a mixture of two normal distributions of the logarithms of median F0 and F3",
		Rows: len(voices), Licence: "facts measured on recordings of various licences",
	})
	return m, err
}

// allTerms returns the features of all shipped priors.
func allTerms() ([]models.BayesFeature, error) {
	var terms []models.BayesFeature
	for _, name := range Features() {
		x, err := termOf(name)
		if err != nil {
			return nil, err
		}
		terms = append(terms, x)
	}
	return terms, nil
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
