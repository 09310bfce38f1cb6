package bolt_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// envCrash is the path of a store on which the test binary works until it is killed.
// It prints a line for each call that returned nil.
const envCrash = "VOICESCREEN_TEST_CRASH"

// envCrashKey, if not empty, encrypts the stores of envCrash and envHistory under
// testKey.
const envCrashKey = "VOICESCREEN_TEST_CRASH_KEY"

// crashRounds is how often the process is killed. Chosen: they take two seconds.
const crashRounds = 6

// work creates sessions with audio, removes the audio of every second one, and deletes
// every fourth one.
func work(path string) {
	var opts bolt.Options
	if os.Getenv(envCrashKey) != "" {
		opts.Key = testKey
	}
	st, err := bolt.Open(path, &opts)
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	var mu sync.Mutex // serialises output
	acknowledge := func(what, id string, err error) {
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			fmt.Println("error", err)
			return
		}
		fmt.Println(what, id)
	}
	start := time.Now().UnixNano()
	for worker := range 8 {
		go func() {
			ctx := context.Background()
			for i := 0; ; i++ {
				s := result(1)
				s.ID = fmt.Sprintf("%d.%d.%d", start, worker, i)
				s.Due = s.CreatedAt
				ref, err := st.Audio().Put(ctx, strings.NewReader(s.ID))
				s.Audio = ref
				acknowledge("created", s.ID, errors.Join(err, st.Create(ctx, s)))
				if i%2 == 0 {
					_, err := st.Update(ctx, "clinic", s.ID, func(s *store.Session, _ time.Time) error { s.Audio, s.Due = "", time.Time{}; return nil })
					acknowledge("final", s.ID, err)
				}
				if i%4 == 1 {
					acknowledge("deleted", s.ID, st.Delete(ctx, "clinic", s.ID))
				}
			}
		}()
	}
	select {}
}

// TestWhatWasAcknowledgedSurvivesAKill repeatedly kills a process that writes. It does
// not detect a missing sync: a kill loses no write that the system has.
func TestWhatWasAcknowledgedSurvivesAKill(t *testing.T) {
	t.Parallel()
	t.Run("plain", func(t *testing.T) { t.Parallel(); killAgainAndAgain(t, &bolt.Options{}) })
	t.Run("encrypted", func(t *testing.T) { t.Parallel(); killAgainAndAgain(t, &bolt.Options{Key: testKey}) })
}

func killAgainAndAgain(t *testing.T, opts *bolt.Options) {
	path := filepath.Join(t.TempDir(), "test.db")
	last := map[string]string{} // by session: the last call on it that was acknowledged
	for round := range crashRounds {
		killed(t, path, opts, time.Duration(100+50*round)*time.Millisecond, last)
		st, err := bolt.Open(path, opts)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		checkAcknowledged(t, st, path, last)
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(last) < 10*crashRounds {
		t.Errorf("got %d sessions acknowledged, want at least %d", len(last), 10*crashRounds)
	}
}

// killed runs work in a process and kills it after a time.
func killed(t *testing.T, path string, opts *bolt.Options, after time.Duration, last map[string]string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), envCrash+"="+path)
	if opts.Key != nil {
		cmd.Env = append(cmd.Env, envCrashKey+"=1")
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF { // an incomplete line acknowledges nothing
			break
		}
		once.Do(func() { time.AfterFunc(after, func() { _ = cmd.Process.Kill() }) }) // after the first write
		what, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		if err != nil || what == "error" {
			t.Fatalf("the process printed %q (%v)", line, err)
		}
		last[id] = what
	}
	_ = cmd.Wait() // it was killed
}

// checkAcknowledged compares the store with the acknowledged calls. Calls that were not
// acknowledged may have taken effect.
func checkAcknowledged(t *testing.T, st *bolt.Store, path string, last map[string]string) {
	t.Helper()
	for id, what := range last {
		s, err := st.Get(t.Context(), "clinic", id)
		switch {
		case errors.Is(err, store.ErrNotFound):
			var start, worker, i int
			if _, err := fmt.Sscanf(id, "%d.%d.%d", &start, &worker, &i); err != nil || i%4 != 1 { // its deletion may not have been acknowledged
				t.Errorf("session %s is lost after it was %s", id, what)
			}
		case err != nil:
			t.Errorf("session %s: %v", id, err)
		case what == "deleted":
			t.Errorf("session %s is there after it was deleted", id)
		case what == "final" && s.Audio != "":
			t.Errorf("session %s: the update is lost", id)
		case s.Audio != "":
			f, err := st.Audio().Open(t.Context(), s.Audio)
			if err != nil {
				t.Errorf("session %s: %v", id, err)
				continue
			}
			if content, err := io.ReadAll(f); string(content) != id || err != nil {
				t.Errorf("session %s: got audio %q and error %v", id, content, err)
			}
			_ = f.Close()
		}
	}
	list, err := st.List(t.Context(), "clinic", "patient", nil, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	due := 0
	for _, s := range list {
		if s.Audio != "" {
			due++
		}
	}
	if n, err := st.Due(t.Context()); n != due || err != nil {
		t.Errorf("Due: got %d and error %v, want %d", n, err, due)
	}
	if names, err := os.ReadDir(path + ".audio"); len(names) != due || err != nil {
		t.Errorf("got %d audio files and error %v, want %d", len(names), err, due)
	}
}
