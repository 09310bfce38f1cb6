package voicescreen_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/go-audio/audio"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

func readInterview(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/interview_en.wav")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestInterviewIsScored(t *testing.T) {
	t.Parallel()
	e := newEngine(t, newMemory(t), nil)
	a, err := e.Analyze(t.Context(), bytes.NewReader(readInterview(t)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.SpeechSeconds < 30 || a.SpeechSeconds > a.Duration || a.Truncated || a.Partial || len(a.Failures) != 0 {
		t.Errorf("got %+v, want 30 s of speech or more, and no failure", a)
	}
	var got []screen.Category
	for _, s := range a.Scores {
		got = append(got, s.Category)
		if !(s.Probability >= s.Low && s.Probability <= s.High) {
			t.Errorf("%v: got probability %v outside its interval %v to %v", s.Category, s.Probability, s.Low, s.High)
		}
	}
	if !slices.Equal(got, []screen.Category{screen.Depression, screen.Anxiety, screen.Deepfake}) {
		t.Errorf("got scores of %v, want all three", got)
	}
	if d := a.Features.Get("speech.duration_s"); math.Abs(d-a.SpeechSeconds) > 1e-9 {
		t.Errorf("got feature speech.duration_s %v, want %v", d, a.SpeechSeconds)
	}
}

// TestSubmitAndAnalyzeAgree checks that there is one analysis: what a session
// gets is what Analyze says.
func TestSubmitAndAnalyzeAgree(t *testing.T) {
	e := newEngine(t, newMemory(t), testOptions())
	a, err := e.Analyze(t.Context(), bytes.NewReader(speech()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Scores) != 3 {
		t.Fatalf("got %+v, want three scores", a)
	}
	id := initiate(t, e, "u")
	submit(t, e, id, speech())
	r := wait(t, e, id)
	for i, s := range r.Scores {
		if s.Probability != a.Scores[i].Probability {
			t.Errorf("%v: got %v from a session, %v from Analyze", s.Category, s.Probability, a.Scores[i].Probability)
		}
	}
	for i, v := range a.Features.Values {
		name, _ := a.Features.Schema.Feature(i)
		got, ok := r.Features[name]
		if ok == math.IsNaN(v) || ok && got != v {
			t.Errorf("%s: got %v (defined: %v) from a session, %v from Analyze", name, got, ok, v)
		}
	}
}

func TestBufferAgreesWithTheFile(t *testing.T) {
	e := newEngine(t, newMemory(t), testOptions())
	mono := syllables(16000, 1.2)
	ints, stereo := make([]int, len(mono)), make([]float64, 2*len(mono))
	for i, v := range mono {
		ints[i] = int(math.Round(v * 32767))
		stereo[2*i+1] = float64(ints[i]) / 32768
	}
	want, err := e.Analyze(t.Context(), bytes.NewReader(encodeWAV(16000, 1, mono)), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		buf     audio.Buffer
		channel int
	}{
		"integers":               {&audio.IntBuffer{Format: &audio.Format{NumChannels: 1, SampleRate: 16000}, Data: ints, SourceBitDepth: 16}, 0},
		"second channel, floats": {&audio.FloatBuffer{Format: &audio.Format{NumChannels: 2, SampleRate: 16000}, Data: stereo}, 2},
	} {
		ch, err := features.FromBuffer(c.buf, c.channel)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := e.AnalyzeChannel(t.Context(), ch, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, v := range want.Features.Values {
			if g := got.Features.Values[i]; g != v && !(math.IsNaN(g) && math.IsNaN(v)) {
				feature, _ := want.Features.Schema.Feature(i)
				t.Errorf("%s: %s: got %v, want %v", name, feature, g, v)
			}
		}
	}
}

func TestAnalyzeRefuses(t *testing.T) {
	e := newEngine(t, newMemory(t), testOptions())
	broken := errors.New("connection reset")
	for name, c := range map[string]struct {
		r    io.Reader
		want error
	}{
		"no WAV file":  {strings.NewReader("no WAV file"), voicescreen.ErrAudio},
		"empty":        {strings.NewReader(""), voicescreen.ErrAudio},
		"two channels": {bytes.NewReader(encodeWAV(16000, 2, make([]float64, 8))), voicescreen.ErrAudio},
		"rate too low": {bytes.NewReader(encodeWAV(4000, 1, make([]float64, 8))), voicescreen.ErrAudio},
		"broken off":   {io.MultiReader(bytes.NewReader(tiny[:100]), iotest.ErrReader(broken)), voicescreen.ErrUpload},
	} {
		if _, err := e.Analyze(t.Context(), c.r, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Analyze(ctx, bytes.NewReader(tiny), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	panics := testOptions()
	panics.Scoring.Models = []models.Scorer{newFake(func(context.Context, *features.Recording) ([]screen.Score, error) { panic("scorer") })}
	e = newEngine(t, newMemory(t), panics)
	for range 5 { // more often than there is room for analyses
		if _, err := e.Analyze(testContext(t), bytes.NewReader(speech()), nil); err == nil || strings.Contains(err.Error(), "scorer") {
			t.Errorf("got %v, want an error without the text of the panic", err)
		}
	}
}

func TestAnalyzeOfWhatIsCut(t *testing.T) {
	opts := testOptions()
	opts.Audio.MaxDuration = time.Second
	e := newEngine(t, newMemory(t), opts)
	a, err := e.Analyze(t.Context(), bytes.NewReader(speech()), nil)
	if err != nil || a.Truncated || !a.Partial || math.Abs(a.Duration-1) > 0.001 {
		t.Errorf("longer than MaxDuration: got %+v, %v, want a second of it", a, err)
	}
	a, err = e.Analyze(t.Context(), bytes.NewReader(speech()[:44+2*8000]), nil)
	if err != nil || !a.Truncated || a.Partial || math.Abs(a.Duration-0.5) > 0.001 {
		t.Errorf("cut short: got %+v, %v, want the half second that is there", a, err)
	}
	a, err = e.Analyze(t.Context(), bytes.NewReader(encodeWAV(16000, 1, nil)), nil)
	if !errors.Is(err, voicescreen.ErrAudio) || !strings.Contains(err.Error(), "no samples") {
		t.Errorf("no samples: got %+v, %v, want ErrAudio that says so", a, err)
	}
}

func TestGate(t *testing.T) {
	quiet := func(seconds float64) []byte { return encodeWAV(16000, 1, make([]float64, int(16000*seconds))) }
	loud := syllables(16000, 2)
	for i := range loud {
		loud[i] = max(-1, min(1, 50*loud[i]))
	}
	set := func(change func(*voicescreen.AudioOptions)) *voicescreen.Options {
		o := testOptions()
		change(&o.Audio)
		return o
	}
	standard := &voicescreen.Options{Queue: testOptions().Queue}
	for name, c := range map[string]struct {
		opts    *voicescreen.Options
		file    []byte
		product screen.Product
		code    string
		data    map[string][2]float64 // bounds
	}{
		"short":                {standard, speech(), 0, screen.CodeAudioLength, map[string][2]float64{"minimum_length": {30, 30}, "actual_length": {1.5, 1.5}}},
		"short for a deepfake": {standard, speech(), screen.DeepfakeBinary, screen.CodeAudioLength, map[string][2]float64{"minimum_length": {2, 2}, "actual_length": {1.5, 1.5}}},
		"short and silent":     {standard, quiet(3), 0, screen.CodeAudioLength, map[string][2]float64{"minimum_length": {30, 30}, "actual_length": {3, 3}}},
		"long and silent":      {standard, quiet(3), screen.DeepfakeBinary, screen.CodeNoSpeech, nil},
		"little speech": {
			set(func(a *voicescreen.AudioOptions) { a.Limits.MinSpeech = 2 * time.Second }),
			encodeWAV(16000, 1, append(syllables(16000, 1.5), make([]float64, 16000)...)), 0,
			screen.CodeAudioLength, map[string][2]float64{"minimum_length": {2, 2}, "actual_length": {0.5, 1.9}},
		},
		"clipped": {
			set(func(a *voicescreen.AudioOptions) { a.Limits.MaxClipped = 0.05 }), encodeWAV(16000, 1, loud), 0,
			screen.CodeAudioQuality, map[string][2]float64{"maximum_clipped_ratio": {0.05, 0.05}, "actual_clipped_ratio": {0.05, 1}},
		},
		"narrow": {
			set(func(a *voicescreen.AudioOptions) { a.Limits.MinBandwidth = 12000 }), speech(), 0,
			screen.CodeAudioQuality, map[string][2]float64{"minimum_bandwidth_hz": {12000, 12000}, "actual_bandwidth_hz": {1000, 11000}},
		},
		"noisy": {
			set(func(a *voicescreen.AudioOptions) { a.Limits.MinSNR = 150 }), speech(), 0,
			screen.CodeAudioQuality, map[string][2]float64{"minimum_snr_db": {150, 150}, "actual_snr_db": {0, 149}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, newMemory(t), c.opts)
			id := initiate(t, e, "u")
			if _, err := e.Submit(t.Context(), id, bytes.NewReader(c.file), &voicescreen.SubmitOptions{Product: c.product}); err != nil {
				t.Fatal(err)
			}
			f := wait(t, e, id).Failure
			if f == nil || f.Code != c.code || len(f.Data) != len(c.data) {
				t.Fatalf("got %+v, want %s with %v", f, c.code, c.data)
			}
			for key, bounds := range c.data {
				if v, ok := f.Data[key]; !ok || v < bounds[0]-1e-9 || v > bounds[1]+1e-9 {
					t.Errorf("%s: got %v, want %v", key, v, bounds)
				}
			}
			if c.code == screen.CodeAudioLength && c.data["minimum_length"][0] == 30 {
				if want := "Audio file is less than the minimum audio length of 30.0 seconds"; f.Message != want {
					t.Errorf("got message %q, want %q", f.Message, want)
				}
			}
		})
	}
}

// TestAnalysesAreBounded checks that no more recordings are in memory at a
// time than there are workers.
func TestAnalysesAreBounded(t *testing.T) {
	var mu sync.Mutex
	now, most := 0, 0
	opts := testOptions()
	opts.Scoring.Models = []models.Scorer{newFake(func(ctx context.Context, in *features.Recording) ([]screen.Score, error) {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		time.Sleep(2 * time.Millisecond)
		mu.Lock()
		now--
		mu.Unlock()
		return newFake(nil).Score(ctx, in)
	})}
	e := newEngine(t, newMemory(t), opts)
	id := initiate(t, e, "u")
	submit(t, e, id, speech())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := e.Analyze(testContext(t), bytes.NewReader(speech()), nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	wait(t, e, id)
	if most > opts.Workers {
		t.Errorf("got %d analyses at once, want at most %d", most, opts.Workers)
	}
}

// An analysis ends with its context while the recording is measured, whoever opened it.
func TestAnalysesEndWithTheirContext(t *testing.T) {
	e := newEngine(t, newMemory(t), testOptions())
	c := &features.Channel{Samples: syllables(16000, 60), Rate: 16000}
	src, err := features.NewSource(c, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, channel := e.AnalyzeChannel(ctx, c, nil)
	_, source := e.AnalyzeSource(ctx, src, nil)
	for name, err := range map[string]error{"channel": channel, "source": source} {
		if err != context.Canceled {
			t.Errorf("%s: got error %v, want %v", name, err, context.Canceled)
		}
	}
	defer src.Within(ctx)()
	if _, err := features.NewMeasurer().MeasureSource(src); !errors.Is(err, context.Canceled) {
		t.Errorf("measured within a context that ended: got error %v, want %v", err, context.Canceled)
	}
}

func TestEveryProductGivesItsScores(t *testing.T) {
	e := newEngine(t, newMemory(t), testOptions())
	for p := screen.DepressionAnxiety; p <= screen.DeepfakeBinary; p++ {
		id := initiate(t, e, "u")
		if _, err := e.Submit(t.Context(), id, bytes.NewReader(speech()), &voicescreen.SubmitOptions{Product: p}); err != nil {
			t.Fatal(err)
		}
		r := wait(t, e, id)
		var got []screen.Category
		for _, s := range r.Scores {
			got = append(got, s.Category)
		}
		if r.Product != p || !slices.Equal(got, screen.Product(p).Categories()) {
			t.Errorf("%v: got %v of %v, %+v, want %v", p, r.Product, got, r.Failure, p.Categories())
		}
	}
}

// AnalyzeChannel is Analyze in two steps.
func TestAnalyzeChannelAgreesWithTheFile(t *testing.T) {
	opts := testOptions()
	opts.Audio.MaxDuration = time.Second
	e := newEngine(t, newMemory(t), opts)
	for name, file := range map[string][]byte{"whole": speech(), "cut short": speech()[:44+2*8000]} {
		want, err := e.Analyze(t.Context(), bytes.NewReader(file), nil)
		if err != nil {
			t.Fatal(err)
		}
		c, err := features.ReadChannel(t.Context(), bytes.NewReader(file), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		n := len(c.Samples)
		got, err := e.AnalyzeChannel(t.Context(), c, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.Duration != want.Duration || got.Truncated != want.Truncated || got.Partial != want.Partial || got.SampleRate != want.SampleRate {
			t.Errorf("%s: got %v s, truncated %t, partial %t, want %v s, %t, %t", name,
				got.Duration, got.Truncated, got.Partial, want.Duration, want.Truncated, want.Partial)
		}
		for i, v := range got.Features.Values {
			if math.Float64bits(v) != math.Float64bits(want.Features.Values[i]) {
				t.Errorf("%s: feature %d: got %v, want %v", name, i, v, want.Features.Values[i])
			}
		}
		if len(c.Samples) != n || c.Partial {
			t.Errorf("%s: the channel was changed", name)
		}
	}
	if _, err := e.AnalyzeChannel(t.Context(), &features.Channel{Rate: 100, Samples: make([]float64, 100)}, nil); !errors.Is(err, voicescreen.ErrAudio) {
		t.Errorf("100 Hz: got %v, want ErrAudio", err)
	}
}
