package voicescreen_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/screen"
)

// exact is an analysis with every bit of its numbers.
func exact(t *testing.T, a *voicescreen.Analysis) string {
	t.Helper()
	b := *a
	b.Failures, b.Features.Schema = nil, nil // pointers
	text := fmt.Sprintf("%#v", b)            // floats with all their digits
	for _, c := range screen.Categories() {
		if f := a.Failures[c]; f != nil {
			text += fmt.Sprintf(" %v %#v", c, *f)
		}
	}
	return text
}

// decoded returns the samples of a file.
func decoded(t testing.TB, file []byte) []float64 {
	t.Helper()
	c, err := features.ReadChannel(t.Context(), bytes.NewReader(file), 0, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return c.Samples
}

func newLive(t testing.TB, e *voicescreen.Engine, opts voicescreen.LiveOptions) *voicescreen.Live {
	t.Helper()
	l, err := e.Live(opts)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestLiveEqualsTheFile writes recordings in blocks of random sizes and wants the bits of
// Analyze of the file, also of a recording that is longer than is analysed. The speech so
// far is that of the analysis to within a gap.
func TestLiveEqualsTheFile(t *testing.T) {
	const gap = 0.25 // s: a gap of 0.2 s that one closes and the other does not, and rounding
	opts := testOptions()
	opts.Audio.MaxDuration = 2 * time.Second
	e := newEngine(t, newMemory(t), opts)
	random := rand.New(rand.NewPCG(3, 4))
	for _, rate := range []int{8000, 16000, 44100, 48000} {
		for _, seconds := range []float64{0.001, 1.93, 2, 2.2} {
			if seconds == 2 && rate != 8000 || cost.Race && (seconds != 2.2 || rate != 16000) {
				continue
			}
			file := encodeWAV(rate, 1, syllables(rate, seconds))
			known := voicescreen.AnalyzeOptions{Metadata: screen.Metadata{Age: 40}, FixedGain: true, Speech: screen.FreeSpeech}
			want, err := e.Analyze(testContext(t), bytes.NewReader(file), &known)
			if err != nil {
				t.Fatal(err)
			}
			l := newLive(t, e, voicescreen.LiveOptions{SampleRate: rate, AnalyzeOptions: known})
			for x := decoded(t, file); len(x) > 0; {
				n := min(len(x), random.IntN(rate/2))
				block := append([]float64(nil), x[:n]...)
				if err := l.Write(block); err != nil {
					t.Fatal(err)
				}
				clear(block) // is not kept
				x = x[n:]
			}
			before := l.Status()
			got, err := l.Finish(testContext(t))
			if err != nil {
				t.Fatal(err)
			}
			if exact(t, got) != exact(t, want) {
				t.Errorf("%d Hz, %g s: got other bits than of the file:\n%+v\n%+v", rate, seconds, got, want)
			}
			if seconds > 1 && len(got.Scores) == 0 || got.Partial != (seconds > 2) {
				t.Errorf("%d Hz, %g s: got %d scores, partial %v", rate, seconds, len(got.Scores), got.Partial)
			}
			if d := before.Speech - got.SpeechSeconds; d < -gap || d > gap || math.Abs(before.Duration-got.Duration) > 1/float64(rate) || before.Partial != got.Partial {
				t.Errorf("%d Hz, %g s: got the status %+v, want %.2f s of speech", rate, seconds, before, got.SpeechSeconds)
			}
			if after := l.Status(); fmt.Sprintf("%#v", after) != fmt.Sprintf("%#v", before) {
				t.Errorf("%d Hz, %g s: got %+v after Finish, want %+v as before", rate, seconds, after, before)
			}
		}
	}
}

// Lossy origin reaches the scores as that of a file does.
func TestLiveIsLossyIfItIsSaid(t *testing.T) {
	var lossy atomic.Bool
	opts := testOptions()
	opts.Scoring.Models = append(opts.Scoring.Models, newFake(func(_ context.Context, in *features.Recording) ([]screen.Score, error) {
		lossy.Store(in.Lossy)
		return nil, errors.New("no score")
	}))
	e := newEngine(t, newMemory(t), opts)
	for _, want := range []bool{true, false} {
		l := newLive(t, e, voicescreen.LiveOptions{SampleRate: 16000, Lossy: want})
		if err := l.Write(decoded(t, speech())); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Finish(testContext(t)); err == nil || lossy.Load() != want {
			t.Errorf("got lossy %v and error %v, want %v and that of the scorer", lossy.Load(), err, want)
		}
	}
}

func TestLiveSaysHowMuchSpeechIsMissing(t *testing.T) {
	opts := testOptions()
	opts.Audio.Limits.MinSpeech = 3 * time.Second
	opts.Audio.Limits.MinSpeechDeepfake = time.Second
	e := newEngine(t, newMemory(t), opts)
	l := newLive(t, e, voicescreen.LiveOptions{SampleRate: 16000})
	if s := l.Status(); s.Missing[screen.Depression] != 3 || s.Missing[screen.Anxiety] != 3 || s.Missing[screen.Deepfake] != 1 {
		t.Errorf("at first: got %v missing, want 3, 3 and 1 s", s.Missing)
	}
	if err := l.Write(syllables(16000, 2)); err != nil {
		t.Fatal(err)
	}
	s := l.Status()
	if s.Missing[screen.Depression] != 3-s.Speech || s.Missing[screen.Deepfake] != 0 || s.Speech < 1 {
		t.Errorf("got %v missing with %g s of speech", s.Missing, s.Speech)
	}
	l.Close()
	clear(s.Missing)
	if len(l.Status().Missing) != 3 {
		t.Error("the status shares its map")
	}
}

func TestLiveRefuses(t *testing.T) {
	e := newEngine(t, newMemory(t), testOptions())
	for _, bad := range []voicescreen.LiveOptions{{}, {SampleRate: 7999}, {SampleRate: 192001}, {SampleRate: 16000, AnalyzeOptions: voicescreen.AnalyzeOptions{Speech: 99}}} {
		if _, err := e.Live(bad); !errors.Is(err, voicescreen.ErrInvalid) {
			t.Errorf("%+v: got %v, want ErrInvalid", bad, err)
		}
	}
	empty := newLive(t, e, voicescreen.LiveOptions{SampleRate: 16000})
	if _, err := empty.Finish(t.Context()); !errors.Is(err, voicescreen.ErrAudio) {
		t.Errorf("without samples: got %v, want ErrAudio", err)
	}
	over := func(what string, l *voicescreen.Live) {
		t.Helper()
		if err := l.Write(make([]float64, 10)); !errors.Is(err, voicescreen.ErrConflict) {
			t.Errorf("%s: Write: got %v, want ErrConflict", what, err)
		}
		if _, err := l.Finish(t.Context()); !errors.Is(err, voicescreen.ErrConflict) {
			t.Errorf("%s: Finish: got %v, want ErrConflict", what, err)
		}
	}
	over("without samples", empty)
	l := newLive(t, e, voicescreen.LiveOptions{SampleRate: 16000})
	for range 2 {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		over("closed", l)
	}
}

// A Finish whose context ends may be repeated, and nothing can be written in between.
func TestLiveFinishesAgain(t *testing.T) {
	e := newEngine(t, newMemory(t), testOptions())
	l := newLive(t, e, voicescreen.LiveOptions{SampleRate: 16000})
	x := decoded(t, speech())
	if err := l.Write(x); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Finish(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the context is done", err)
	}
	if err := l.Write(x); !errors.Is(err, voicescreen.ErrConflict) {
		t.Errorf("got %v, want ErrConflict", err)
	}
	want, err := e.Analyze(testContext(t), bytes.NewReader(speech()), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := l.Finish(testContext(t))
	if err != nil || exact(t, got) != exact(t, want) {
		t.Errorf("got %+v and error %v, want %+v", got, err, want)
	}
}

func TestLiveAfterTheEngine(t *testing.T) {
	e, err := voicescreen.New(newMemory(t), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	l := newLive(t, e, voicescreen.LiveOptions{SampleRate: 16000})
	closeEngine(t, e)
	if err := l.Write(make([]float64, 10)); !errors.Is(err, voicescreen.ErrClosed) {
		t.Errorf("Write: got %v, want ErrClosed", err)
	}
	if _, err := l.Finish(t.Context()); !errors.Is(err, voicescreen.ErrClosed) {
		t.Errorf("Finish: got %v, want ErrClosed", err)
	}
	if _, err := e.Live(voicescreen.LiveOptions{SampleRate: 16000}); !errors.Is(err, voicescreen.ErrClosed) {
		t.Errorf("Live: got %v, want ErrClosed", err)
	}
}

// One goroutine writes while others ask, and one gives up in the middle.
func TestLiveIsSafeForConcurrentUse(t *testing.T) {
	e := newEngine(t, newMemory(t), testOptions())
	l := newLive(t, e, voicescreen.LiveOptions{SampleRate: 16000})
	x := decoded(t, speech())
	var group sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		group.Go(func() {
			for last := 0.0; ; {
				s := l.Status()
				if s.Duration < last {
					t.Errorf("got %g s after %g", s.Duration, last)
				}
				last = s.Duration
				if closed(done) {
					return
				}
			}
		})
	}
	for at := 0; at < len(x); at += 160 {
		if err := l.Write(x[at:min(at+160, len(x))]); err != nil {
			t.Error(err)
		}
	}
	finished := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := l.Finish(testContext(t))
			finished <- err
		}()
	}
	one, two := <-finished, <-finished
	if (one == nil) == (two == nil) || !errors.Is(errors.Join(one, two), voicescreen.ErrConflict) {
		t.Errorf("got %v and %v, want one analysis and ErrConflict", one, two)
	}
	l.Close()
	close(done)
	group.Wait()
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// A Live that is given up, without Close, leaves nothing in the engine.
func TestLiveThatIsGivenUpIsFreed(t *testing.T) {
	e := newEngine(t, newMemory(t), testOptions())
	var freed atomic.Bool
	func() {
		l := newLive(t, e, voicescreen.LiveOptions{SampleRate: 16000})
		runtime.AddCleanup(l, func(struct{}) { freed.Store(true) }, struct{}{})
		if err := l.Write(decoded(t, speech())); err != nil {
			t.Fatal(err)
		}
		l.Status()
	}()
	eventually(t, "the memory is freed", func() bool {
		runtime.GC()
		return freed.Load()
	})
	if got, err := e.Analyze(testContext(t), bytes.NewReader(speech()), nil); err != nil || len(got.Scores) == 0 {
		t.Errorf("got %+v and %v from the engine afterwards", got, err)
	}
}

// BenchmarkLive is the cost of a second of audio: of Write in blocks of 20 ms with ten
// calls of Status a second, and of the analysis at the end, which is that of Analyze.
func BenchmarkLive(b *testing.B) {
	e, err := voicescreen.New(newMemory(b), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close(context.Background())
	x := decoded(b, readInterview(b))
	write := func() *voicescreen.Live {
		l := newLive(b, e, voicescreen.LiveOptions{SampleRate: 44100})
		for at := 0; at < len(x); at += 882 {
			if err := l.Write(x[at:min(at+882, len(x))]); err != nil {
				b.Fatal(err)
			}
			if at%(5*882) == 0 {
				l.Status()
			}
		}
		return l
	}
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			write()
		}
		reportAudio(b, float64(len(x))/44100*float64(b.N))
	})
	b.Run("whole", func(b *testing.B) {
		for b.Loop() {
			if _, err := write().Finish(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		reportAudio(b, float64(len(x))/44100*float64(b.N))
	})
	l := write()
	b.Run("status", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			l.Status()
		}
	})
}
