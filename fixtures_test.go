package voicescreen_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/proof/pgserver"
	"github.com/voicescreen/voicescreen/internal/proof/ramdisk"
	"github.com/voicescreen/voicescreen/internal/proof/testflag"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
	"github.com/voicescreen/voicescreen/store/memory"
)

var postgresDir = flag.String("postgres", "", "directory of the PostgreSQL server to use, instead of starting one")

// startPostgres starts the PostgreSQL server of all tests, and stopPostgres stops it, if it
// was started.
var (
	stopPostgres  = func() error { return nil }
	startPostgres = sync.OnceValues(func() (*pgserver.Server, error) {
		if *postgresDir != "" {
			return pgserver.At(*postgresDir)
		}
		s, err := pgserver.StartInMemory()
		if err == nil {
			stopPostgres = s.Stop
		}
		return s, err
	})
)

// postgresServer returns the PostgreSQL server of all tests, which make their own databases.
func postgresServer(t *testing.T) *pgserver.Server {
	t.Helper()
	s, err := startPostgres()
	if errors.Is(err, pgserver.ErrNotInstalled) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMain(m *testing.M) {
	if err := errors.Join(testflag.Parallel("4"), ramdisk.Temp()); err != nil {
		panic(err)
	}
	code := m.Run()
	err := stopPostgres()
	if code == 0 {
		err = errors.Join(err, goleak.Find())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// soon bounds every wait of the tests: far longer than any takes, also on a
// busy machine and under the race detector.
const soon = 30 * time.Second

// testOptions make the engine quick: it asks for work often, and takes the
// short recordings of the tests.
func testOptions() *voicescreen.Options {
	return &voicescreen.Options{
		Workers: 2,
		Queue:   voicescreen.QueueOptions{Poll: 5 * time.Millisecond, RetryDelay: time.Millisecond},
		Audio: voicescreen.AudioOptions{
			Limits: features.Limits{
				MinSpeech:         500 * time.Millisecond,
				MinSpeechDeepfake: 500 * time.Millisecond,
				MinSNR:            math.Inf(-1),
				MaxClipped:        1,
				MinBandwidth:      -1,
			},
		},
	}
}

// eachStore runs a test or a benchmark on every store that comes with the
// module.
func eachStore[T interface {
	testing.TB
	Run(name string, f func(T)) bool
}](t T, test func(t T, st store.Store)) {
	t.Run("memory", func(t T) {
		st := newClocked(nil, func(now func() time.Time) store.Store { return memory.New(&memory.Options{Now: now}) })
		defer st.Close()
		test(t, st)
	})
	t.Run("bolt", func(t T) {
		st := newClocked(nil, func(now func() time.Time) store.Store {
			st, err := bolt.Open(filepath.Join(t.TempDir(), "test.db"), &bolt.Options{Now: now})
			if err != nil {
				t.Fatal(err)
			}
			return st
		})
		defer st.Close()
		test(t, st)
	})
}

// newEngine returns an engine that is closed at the end of the test, before
// its store.
func newEngine(t *testing.T, st store.Store, opts *voicescreen.Options) *voicescreen.Engine {
	t.Helper()
	e, err := voicescreen.New(st, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeEngine(t, e) })
	return e
}

func newMemory(t testing.TB) store.Store {
	st := newClocked(nil, func(now func() time.Time) store.Store { return memory.New(&memory.Options{Now: now}) })
	t.Cleanup(func() { st.Close() })
	return st
}

// clockedStore is a store whose clock can be replaced.
type clockedStore struct {
	store.Store
	clock *atomic.Pointer[clock] // the machine's if there is none
}

func newClocked(c *clock, open func(now func() time.Time) store.Store) clockedStore {
	st := clockedStore{clock: &atomic.Pointer[clock]{}}
	st.clock.Store(c)
	st.Store = open(func() time.Time {
		if c := st.clock.Load(); c != nil {
			return c.Now()
		}
		return time.Now()
	})
	return st
}

// setClock gives an engine, and the store st under it, a clock.
func setClock(opts *voicescreen.Options, st store.Store, now *clock) {
	opts.Store.Now = now.Now
	st.(clockedStore).clock.Store(now)
}

func closeEngine(t *testing.T, e *voicescreen.Engine) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	if err := e.Close(ctx); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	t.Cleanup(cancel)
	return ctx
}

func initiate(t *testing.T, a interface {
	Initiate(context.Context, voicescreen.InitiateRequest) (string, error)
}, user string) string {
	t.Helper()
	id, err := a.Initiate(t.Context(), voicescreen.InitiateRequest{UserID: user, Consent: true})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func submit(t *testing.T, e *voicescreen.Engine, id string, file []byte) {
	t.Helper()
	ack, err := e.Submit(t.Context(), id, bytes.NewReader(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	if ack != (voicescreen.Ack{SessionID: id, Status: screen.StatusProcessing}) {
		t.Fatalf("got %+v, want session %s processing", ack, id)
	}
}

func wait(t *testing.T, e *voicescreen.Engine, id string) *voicescreen.Result {
	t.Helper()
	r, err := e.Wait(testContext(t), id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// eventually waits until ok holds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(soon); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v in vain: %s", soon, what)
		}
	}
}

// encodeWAV returns a 16-bit WAV file of interleaved samples in [-1, 1).
func encodeWAV(rate, channels int, x []float64) []byte {
	le := binary.LittleEndian
	b := []byte("RIFF\x00\x00\x00\x00WAVEfmt ")
	b = le.AppendUint32(b, 16)
	b = le.AppendUint16(b, 1)
	b = le.AppendUint16(b, uint16(channels))
	b = le.AppendUint32(b, uint32(rate))
	b = le.AppendUint32(b, uint32(rate*channels*2))
	b = le.AppendUint16(b, uint16(channels*2))
	b = le.AppendUint16(b, 16)
	b = append(b, "data"...)
	b = le.AppendUint32(b, uint32(2*len(x)))
	for _, v := range x {
		b = le.AppendUint16(b, uint16(int16(math.Round(v*32767))))
	}
	le.PutUint32(b[4:], uint32(len(b)-8))
	return b
}

// syllables returns seconds of something that every speech detector takes for
// speech: four bursts a second of a 120 Hz voice, 1/k harmonics up to 4 kHz,
// with silences of half a second between groups of eight.
func syllables(rate int, seconds float64) []float64 {
	x := make([]float64, int(seconds*float64(rate)))
	seed := uint32(1)
	for i := range x {
		t := float64(i) / float64(rate)
		seed = seed*1664525 + 1013904223
		x[i] = 1e-4 * (float64(seed)/(1<<31) - 1)
		if math.Mod(t, 2.5) > 2 {
			continue
		}
		envelope := math.Pow(math.Sin(math.Pi*4*t), 2)
		f0 := 120 + 10*math.Sin(2*math.Pi*0.7*t)
		for k := 1.0; k*f0 < 4000 && k*f0 < float64(rate)/2; k++ {
			x[i] += 0.15 * envelope / k * math.Sin(2*math.Pi*k*120*t+k*10/0.7*(1-math.Cos(2*math.Pi*0.7*t)))
		}
	}
	return x
}

// speech is a second and a half of speech at 16 kHz, for tests that need a
// score and not a particular one. Tiny is too short for one, and needs no
// analysis to say so.
var (
	speech = sync.OnceValue(func() []byte { return encodeWAV(16000, 1, syllables(16000, 1.5)) })
	tiny   = encodeWAV(16000, 1, make([]float64, 160))
)

// threeSeconds are syllables at 44.1 kHz, which take a second to compute under the race
// detector. They must not be changed.
var threeSeconds = sync.OnceValue(func() []float64 { return syllables(44100, 3) })

// fakeScorer scores every category with what score returns, by default one
// half.
type fakeScorer struct {
	categories []screen.Category
	calls      atomic.Int64
	score      func(ctx context.Context, in *features.Recording) ([]screen.Score, error)
}

func (f *fakeScorer) Info() models.Info {
	return models.Info{Name: "fake", Version: "1", Categories: f.categories}
}

func (f *fakeScorer) Score(ctx context.Context, in *features.Recording) ([]screen.Score, error) {
	f.calls.Add(1)
	if f.score != nil {
		return f.score(ctx, in)
	}
	var s []screen.Score
	for _, c := range f.categories {
		s = append(s, screen.Score{Category: c, Model: "fake", Version: "1", Probability: 0.5, High: 1, Decision: screen.Indeterminate, Severity: lowest(c), Coverage: 1})
	}
	return s, nil
}

func newFake(score func(ctx context.Context, in *features.Recording) ([]screen.Score, error)) *fakeScorer {
	return &fakeScorer{categories: []screen.Category{screen.Depression, screen.Anxiety}, score: score}
}

// clock is a clock that stands still but for Add.
type clock struct{ nano atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.nano.Store(time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC).UnixNano())
	return c
}

func (c *clock) Now() time.Time      { return time.Unix(0, c.nano.Load()) }
func (c *clock) Add(d time.Duration) { c.nano.Add(int64(d)) }
