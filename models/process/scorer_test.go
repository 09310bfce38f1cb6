package process

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/screen"
)

// open opens the helper in a mode. Every pause is short and every timeout long, unless
// opts say otherwise.
func open(t testing.TB, opts Options, mode string, args ...string) *Scorer {
	t.Helper()
	s, err := tryOpen(t, opts, mode, args...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func tryOpen(t testing.TB, opts Options, mode string, args ...string) (*Scorer, error) {
	t.Helper()
	me, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if opts.Backoff == 0 {
		opts.Backoff = time.Millisecond
	}
	opts.Env = append(opts.Env, "GORACE=atexit_sleep_ms=0") // the race detector would delay the end of the helper by 1 s
	if opts.Processes == 0 {
		opts.Processes = 1
	}
	s, err := Open(t.Context(), append([]string{me, "helper", mode}, args...), &opts)
	if err == nil {
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return s, err
}

// tone is a recording of n samples at a rate.
func tone(n, rate int) *features.Recording {
	x := make([]float64, n)
	for i := range x {
		x[i] = 0.5 + 0.25*math.Sin(2*math.Pi*200*float64(i)/float64(rate))
	}
	return &features.Recording{Native: x, NativeRate: rate, Metadata: screen.Metadata{Age: 40}}
}

// TestScoreGivesSamplesAndMetadata compares what the program got with the samples
// resampled at once.
func TestScoreGivesSamplesAndMetadata(t *testing.T) {
	s := open(t, Options{}, "good")
	if i := s.Info(); i.Name != "helper" || !i.Streams || i.Calibrated {
		t.Errorf("got %+v", i)
	}
	for _, rate := range []int{16000, 44100} {
		in := tone(3*rate+17, rate)
		in.Native[5] = math.NaN() // is sent as 0
		got, err := s.Score(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		y := in.Native
		if rate != sampleRate {
			y = dsp.NewResampler(rate, sampleRate).Resample(nil, in.Native)
		}
		for _, v := range y {
			if dsp.Finite(v) {
				want += float64(float32(v))
			}
		}
		values := map[string]float64{}
		for _, c := range got[0].Contributions {
			values[c.Feature] = c.Value
		}
		if got[0].Contributions[0].Feature != "age" {
			t.Errorf("got %v first, want the largest contribution", got[0].Contributions[0])
		}
		if math.Abs(values["sum"]-want) > 1e-9*want || values["samples"] != float64(len(y)) || values["age"] != 40 {
			t.Errorf("%d Hz: the program got %v, want the sum %v of %d samples and age 40", rate, values, want, len(y))
		}
		if p := got[0]; p.Probability != 0.25 || p.Coverage != 1 || !math.IsNaN(p.Low) || p.Model != "helper" || len(p.Cautions) != 1 || p.Cautions[0] != screen.Unfamiliar {
			t.Errorf("got %+v", p)
		}
	}
}

// pid returns the process that answers.
func pid(t testing.TB, s *Scorer) float64 {
	t.Helper()
	got, err := s.Score(t.Context(), tone(100, 16000))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range got[0].Contributions {
		if c.Feature == "pid" {
			return c.Value
		}
	}
	return 0
}

// TestProgramsAreKeptAndBounded runs more calls at once than there may be programs.
func TestProgramsAreKeptAndBounded(t *testing.T) {
	s := open(t, Options{Processes: 2}, "good")
	pids := make([]float64, 20)
	var calls sync.WaitGroup
	for i := range pids {
		calls.Go(func() { pids[i] = pid(t, s) })
	}
	calls.Wait()
	seen := map[float64]bool{}
	for _, p := range pids {
		seen[p] = true
	}
	if len(seen) > 2 || seen[0] {
		t.Errorf("got the processes %v, want at most 2", seen)
	}
}

// TestRestart starts the program again after it ended, at once and then after pauses.
func TestRestart(t *testing.T) {
	var log bytes.Buffer
	s := open(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, "good")
	first := pid(t, s)
	p := <-s.slots
	p.kill(nil)
	<-p.exited
	s.slots <- p
	if second := pid(t, s); second == first || second == 0 {
		t.Errorf("got process %v after %v ended, want another one", second, first)
	}
	if !strings.Contains(log.String(), "while it was idle") {
		t.Errorf("got the log %q, want that it ended", &log)
	}

	mark := filepath.Join(t.TempDir(), "started")
	s = open(t, Options{Backoff: time.Hour}, "die after the first time", mark)
	for i, want := range []string{"exit status 3", "exit status 4"} { // the start after the first fault is at once
		if _, err := s.Score(t.Context(), tone(100, 16000)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("call %d: got %v, want %s", i+1, err, want)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.Score(ctx, tone(100, 16000)); err != context.DeadlineExceeded {
		t.Errorf("got %v in the pause, want the end of the context", err)
	}

	s = open(t, Options{}, "change", filepath.Join(t.TempDir(), "started"))
	s.Score(t.Context(), tone(100, 16000))
	if _, err := s.Score(t.Context(), tone(100, 16000)); !errors.Is(err, ErrProtocol) || !strings.Contains(err.Error(), "otherwise") {
		t.Errorf("got %v, want a program of another version refused", err)
	}
}

// TestBackoff doubles the pause up to its limit, and a success ends it.
func TestBackoff(t *testing.T) {
	s := open(t, Options{Backoff: time.Hour}, "good")
	for i, want := range []float64{0, 1, 2, 4, 8, 16, 32, 32, 32} {
		s.failed(t.Context(), nil, ErrExit)
		if got := time.Until(s.next).Hours(); math.Abs(got-want) > 0.1 {
			t.Errorf("fault %d: got a pause of %v h, want %v", i+1, got, want)
		}
	}
	s.succeeded()
	if !s.next.IsZero() {
		t.Errorf("got a start at %v after a success, want no pause", s.next)
	}
}

// TestEndOfContext ends a call at once, kills the program and is no fault of it.
func TestEndOfContext(t *testing.T) {
	s := open(t, Options{Backoff: time.Hour}, "hang")
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		if _, err := s.Score(ctx, tone(100, 16000)); err != context.Canceled {
			t.Errorf("got %v, want context.Canceled", err)
		}
	}
	if s.faults != 0 {
		t.Errorf("got %d faults, want 0", s.faults)
	}
}

// TestClose ends calls under way and removes the working directory.
func TestClose(t *testing.T) {
	s := open(t, Options{}, "hang")
	done := make(chan error)
	go func() {
		_, err := s.Score(t.Context(), tone(100, 16000))
		done <- err
	}()
	time.Sleep(20 * time.Millisecond)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != ErrClosed {
		t.Errorf("got %v, want ErrClosed", err)
	}
	if _, err := s.Score(t.Context(), tone(100, 16000)); err != ErrClosed {
		t.Errorf("got %v after Close, want ErrClosed", err)
	}
	if _, err := os.Stat(s.temp); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want the working directory removed", err)
	}
}

// TestSurroundings: the environment is what the options say, the working directory is
// empty and not that of the caller.
func TestSurroundings(t *testing.T) {
	t.Setenv("PATIENT", "Mrs Miller")
	out := filepath.Join(t.TempDir(), "out")
	s := open(t, Options{Env: []string{"A=1"}}, "surroundings", out)
	if _, err := s.Score(t.Context(), tone(100, 16000)); err != nil {
		t.Fatal(err)
	}
	s.Close()
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	dir, env, _ := strings.Cut(string(text), "\n")
	if filepath.Base(dir) != filepath.Base(s.temp) || strings.Contains(env, "PATIENT") || !strings.Contains(env, "A=1") {
		t.Errorf("got the directory %s and the environment %s, want %s and A=1", dir, env, s.temp)
	}
}

// TestPythonExample runs the example of docs/SCORERS.md where Python is installed.
func TestPythonExample(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Log("python3 is not installed")
		return
	}
	path, err := filepath.Abs("testdata/scorer.py")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), []string{python, path}, &Options{Processes: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2 {
		in := tone(16000, 16000) // 80 periods: the mean square is 0.5² + 0.25²/2
		got, err := s.Score(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if want := 0.28125; math.Abs(got[0].Probability-want) > 1e-6 {
			t.Errorf("got %v, want %v", got[0].Probability, want)
		}
	}
}

// TestDocumentedExample: the page has the example that TestPythonExample runs.
func TestDocumentedExample(t *testing.T) {
	page, err := os.ReadFile("../../docs/SCORERS.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("testdata/scorer.py")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(page, append([]byte("```python\n"), example...)) {
		t.Error("docs/SCORERS.md does not have testdata/scorer.py")
	}
}
