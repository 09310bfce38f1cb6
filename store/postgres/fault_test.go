package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/internal/proof/pgserver"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/postgres"
)

// newSession returns one that can be stored.
func newSession(id string) *store.Session {
	return &store.Session{Account: "clinic", ID: id, UserID: "patient", Status: screen.StatusInitiated}
}

// attempt counts the calls of itself in the session.
func attempt(s *store.Session, _ time.Time) error {
	s.Attempts++
	return nil
}

// kills is how often the server is killed: see docs/DURABILITY.md.
func kills(t *testing.T) int {
	text := os.Getenv("VOICESCREEN_TEST_KILLS")
	if text == "" {
		return 3
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("VOICESCREEN_TEST_KILLS: %v", err)
	}
	return n
}

// TestNothingAcknowledgedIsLostWhenTheServerIsKilled kills the server under
// clients that create and update sessions and put audio, and starts it again. The
// store stays open.
func TestNothingAcknowledgedIsLostWhenTheServerIsKilled(t *testing.T) {
	t.Parallel()
	started(t)
	s, err := pgserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	st := open(t, s.URL("postgres"), nil)
	defer st.Close()
	const clients = 8
	var journals [clients]journal
	stop := make(chan struct{})
	var running sync.WaitGroup
	for i := range journals {
		journals[i] = journal{updates: map[string]int{}, unsure: map[string]int{}, audio: map[string]string{}}
		running.Go(func() { journals[i].work(t, st, i, stop) })
	}
	var served []int
	acknowledged := func() (n int) {
		for i := range journals {
			n += int(journals[i].acknowledged.Load())
		}
		return n
	}
	for range kills(t) {
		time.Sleep(300 * time.Millisecond)
		s.Kill()
		if err := st.Ping(t.Context()); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("a server that is down: got error %v, want %v", err, store.ErrUnavailable)
		}
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
		before := acknowledged()
		for deadline := time.Now().Add(time.Minute); acknowledged() < before+clients; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the clients do not go on after the server was started again")
			}
		}
		served = append(served, acknowledged())
	}
	close(stop)
	running.Wait()
	sessions, updates, recordings := 0, 0, 0
	for i := range journals {
		journals[i].check(t, st)
		sessions, recordings = sessions+len(journals[i].updates), recordings+len(journals[i].audio)
		for _, n := range journals[i].updates {
			updates += n
		}
	}
	t.Logf("%d kills: %d sessions, %d updates and %d recordings acknowledged, in turn %v: none lost", kills(t), sessions, updates, recordings, served)
}

// journal is what a client was told.
type journal struct {
	updates      map[string]int    // acknowledged, by ID
	unsure       map[string]int    // not acknowledged, by ID
	audio        map[string]string // by reference
	acknowledged atomic.Int64
}

// work calls the store until stop is closed.
func (j *journal) work(t *testing.T, st *postgres.Store, client int, stop <-chan struct{}) {
	ctx := context.Background()
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		id := fmt.Sprintf("%d/%d", client, n)
		if err := st.Create(ctx, newSession(id)); err != nil {
			if errors.Is(err, store.ErrExists) {
				t.Errorf("Create of a new session: %v", err)
			}
			continue
		}
		j.updates[id] = 0
		j.acknowledged.Add(1)
		for range 3 {
			if _, err := st.Update(ctx, "clinic", id, attempt); err != nil {
				j.unsure[id]++
			} else {
				j.updates[id]++
				j.acknowledged.Add(1)
			}
		}
		if n%10 == 0 {
			content := strings.Repeat(id, 100_000)
			if ref, err := st.Audio().Put(ctx, strings.NewReader(content)); err == nil {
				j.audio[ref] = id
				j.acknowledged.Add(1)
			}
		}
	}
}

// check compares the journal with the store.
func (j *journal) check(t *testing.T, st *postgres.Store) {
	for id, updates := range j.updates {
		s, err := st.Get(t.Context(), "clinic", id)
		if err != nil {
			t.Errorf("session %s was acknowledged: %v", id, err)
			continue
		}
		if s.Attempts < updates || s.Attempts > updates+j.unsure[id] {
			t.Errorf("session %s has %d updates, want %d to %d", id, s.Attempts, updates, updates+j.unsure[id])
		}
	}
	for ref, id := range j.audio {
		if got, err := readAudio(t.Context(), st, ref); err != nil || string(got) != strings.Repeat(id, 100_000) {
			t.Errorf("audio of %s was acknowledged: got %d bytes and error %v", id, len(got), err)
		}
	}
}

// readAudio returns stored audio.
func readAudio(ctx context.Context, st *postgres.Store, ref string) ([]byte, error) {
	r, err := st.Audio().Open(ctx, ref)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var b bytes.Buffer
	_, err = b.ReadFrom(r)
	return b.Bytes(), err
}

// described makes statements go over the connection by their text, so that a
// proxy can see them.
const described = "&default_query_exec_mode=cache_describe"

func TestALostAnswerToACommitIsNoAcknowledgementAndNoSecondTry(t *testing.T) {
	t.Parallel()
	direct := database(t)
	p := newProxy(t, started(t).Socket())
	// one connection: on another the statements would be described first, without a commit
	st := open(t, p.url(direct)+described+"&pool_max_conns=1", nil)
	defer st.Close()
	if err := st.Create(t.Context(), newSession("s")); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Update(t.Context(), "clinic", "s", attempt); err != nil { // the statements are known then
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, statement string
		again           bool // whether the change is made again, and acknowledged
		attempts        int  // that the session has then
	}{
		{"before the commit", "FOR UPDATE", true, 2},
		{"at the commit", "UPDATE voicescreen.sessions", false, 3},
	} {
		var once sync.Once
		p.set(func(data []byte) bool {
			hit := false
			if bytes.Contains(data, []byte(c.statement)) {
				once.Do(func() { hit = true })
			}
			return hit
		}, false)
		calls := 0
		_, err := st.Update(t.Context(), "clinic", "s", func(s *store.Session, now time.Time) error {
			calls++
			return attempt(s, now)
		})
		p.set(nil, false)
		if (err == nil) != c.again || calls != 1 {
			t.Errorf("%s: got error %v after %d changes, want success: %v", c.name, err, calls, c.again)
		}
		if err != nil && !strings.Contains(err.Error(), "may have been made") {
			t.Errorf("%s: got error %v, want one that says that the change may have been made", c.name, err)
		}
		if s, err := st.Get(t.Context(), "clinic", "s"); err != nil || s.Attempts != c.attempts {
			t.Errorf("%s: got %+v and error %v, want %d attempts", c.name, s, err, c.attempts)
		}
	}
}

func TestACutNetworkIsAnErrorInTimeAndHeals(t *testing.T) {
	t.Parallel()
	direct := database(t)
	p := newProxy(t, started(t).Socket())
	st := open(t, p.url(direct), &postgres.Options{StatementTimeout: time.Second})
	defer st.Close()
	if err := st.Create(t.Context(), newSession("s")); err != nil {
		t.Fatal(err)
	}
	p.set(nil, true)
	begin := time.Now()
	_, err := st.Update(t.Context(), "clinic", "s", attempt)
	if !errors.Is(err, store.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got error %v, want %v, and not the caller's time-out", err, store.ErrUnavailable)
	}
	if took := time.Since(begin); took > 30*time.Second { // without the limit it would take the ten minutes of the test
		t.Errorf("the error took %v, want some 3 s", took)
	}
	p.set(nil, false)
	p.cut()
	if _, err := st.Update(t.Context(), "clinic", "s", attempt); err != nil {
		t.Errorf("after the network came back: %v", err)
	}
}

func TestATransactionWhoseProcessDoesNothingIsEnded(t *testing.T) {
	t.Parallel()
	url := database(t)
	st := open(t, url, nil)
	defer st.Close()
	if err := st.Create(t.Context(), newSession("s")); err != nil {
		t.Fatal(err)
	}
	slow := open(t, url, &postgres.Options{IdleTimeout: 300 * time.Millisecond}) // a busy machine can be as slow: only for the change that is to end
	defer slow.Close()
	_, err := slow.Update(t.Context(), "clinic", "s", func(s *store.Session, now time.Time) error {
		time.Sleep(time.Second) // in each of five attempts
		return attempt(s, now)
	})
	if err == nil {
		t.Error("a change that took longer than the limit was acknowledged")
	}
	if s, err := st.Update(t.Context(), "clinic", "s", attempt); err != nil || s.Attempts != 1 {
		t.Errorf("got %+v and error %v, want one attempt", s, err)
	}
}

func TestNobodyWaitsForALockForLong(t *testing.T) {
	t.Parallel()
	st := opened(t, &postgres.Options{LockTimeout: 50 * time.Millisecond})
	if err := st.Create(t.Context(), newSession("s")); err != nil {
		t.Fatal(err)
	}
	_, err := st.Update(t.Context(), "clinic", "s", func(s *store.Session, now time.Time) error {
		if _, err := st.Update(t.Context(), "clinic", "s", attempt); err == nil { // not allowed: here to see the lock
			t.Error("got an update of a session that is locked")
		}
		return attempt(s, now)
	})
	if err != nil {
		t.Error(err)
	}
}

// TestARecordingThatLostAChunkIsNotAcknowledged takes away what the server has
// not synced when it crashes in the midst of an upload.
func TestARecordingThatLostAChunkIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	url := database(t)
	st := open(t, url, nil)
	defer st.Close()
	read := 0
	ref, err := st.Audio().Put(t.Context(), readerFunc(func(p []byte) (int, error) {
		if read += len(p); read > 2<<20 {
			if _, err := started(t).SQL(t.Context(), databaseName(url), "DELETE FROM voicescreen.audio_chunks WHERE number = 3"); err != nil {
				t.Error(err)
			}
			return len(p), io.EOF
		}
		return len(p), nil
	}))
	if err == nil || ref != "" {
		t.Errorf("got reference %q and error %v, want an error", ref, err)
	}
	if n, err := started(t).SQL(t.Context(), databaseName(url), "SELECT count(*) FROM voicescreen.audio"); n != "0" || err != nil {
		t.Errorf("got %s recordings and error %v, want 0", n, err)
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
