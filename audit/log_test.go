package audit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// envAppend makes the test binary append to the log of that name for ever, and
// say each event that was acknowledged.
const envAppend = "VOICESCREEN_TEST_APPEND"

func TestMain(m *testing.M) {
	if name := os.Getenv(envAppend); name != "" {
		appendForEver(name)
	}
	goleak.VerifyTestMain(m)
}

func appendForEver(name string) {
	l, err := Open(name, nil)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	var mu sync.Mutex // keeps lines of output whole
	for w := range 8 {
		go func() {
			for i := 0; ; i++ {
				e := Event{Action: "test", Session: fmt.Sprintf("%d-%d", w, i)}
				if err := l.Append(e); err != nil {
					fmt.Println(err)
					os.Exit(1)
				}
				mu.Lock()
				fmt.Println(e.Session)
				mu.Unlock()
			}
		}()
	}
	select {}
}

func newLog(t testing.TB, opts *Options) (*Log, string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "audit.log")
	return reopen(t, name, opts), name
}

func reopen(t testing.TB, name string, opts *Options) *Log {
	t.Helper()
	l, err := Open(name, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func mustAppend(t testing.TB, l *Log, n int) {
	t.Helper()
	for i := range n {
		if err := l.Append(Event{Account: "clinic", Key: "0123456789abcdef", Action: "test", Session: fmt.Sprint(i), Outcome: "200"}); err != nil {
			t.Fatal(err)
		}
	}
}

func mustClose(t testing.TB, l *Log) Head {
	t.Helper()
	h, err := l.Close()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func mustVerify(t testing.TB, opts *VerifyOptions, names ...string) Summary {
	t.Helper()
	s, err := Verify(names, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func write(t testing.TB, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// records reads all records of a log that verifies.
func records(t *testing.T, name string) (list []*Record) {
	t.Helper()
	s := newScanner(name, bytes.NewReader(read(t, name)), newSealer(nil))
	for {
		r, err := s.next()
		if err != nil {
			return list
		}
		list = append(list, r)
	}
}

func TestAppend(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 891234567, time.FixedZone("", 3600))
	l, name := newLog(t, &Options{Now: func() time.Time { return now }})
	e := Event{Account: "clinic", Key: "0123456789abcdef", Action: "delete", Session: "a\nb\"", Outcome: "204"}
	if err := l.Append(e); err != nil {
		t.Fatal(err)
	}
	list := records(t, name) // durable, though the log is open
	if len(list) != 2 || list[0].Action != ActionBegin || list[1].Event != e {
		t.Fatalf("got %+v, want the beginning and %+v", list, e)
	}
	want := time.Date(2026, 3, 4, 4, 6, 7, 891234000, time.UTC)
	if got := list[1]; got.Seq != 2 || got.Prev != list[0].Hash || !got.Time.Equal(want) {
		t.Errorf("got %+v, want number 2 at %v behind %s", got, want, list[0].Hash)
	}
	if text := string(read(t, name)); !strings.Contains(text, `"time":"2026-03-04T04:06:07.891234Z"`) || strings.Count(text, "\n") != 2 {
		t.Errorf("got\n%s\nwant two lines and the time in UTC", text)
	}
	if head := mustClose(t, l); head != (Head{2, list[1].Hash}) {
		t.Errorf("got head %v, want that of the last record", head)
	}
	if err := l.Append(e); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v after Close, want ErrClosed", err)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v %v, want that nobody else can read it", info.Mode(), err)
	}
}

func TestAppendRefuses(t *testing.T) {
	l, name := newLog(t, nil)
	long := strings.Repeat("x", maxField+1)
	for _, e := range []Event{{}, {Action: ActionResume}, {Action: "audit."}, {Action: long}, {Action: "a", Session: long}, {Action: "a", Account: "\xff"}} {
		if err := l.Append(e); !errors.Is(err, ErrEvent) {
			t.Errorf("%.40q: got %v, want ErrEvent", e.Action, err)
		}
	}
	// The longest that JSON makes of a field is still a line that can be read.
	if err := l.Append(Event{strings.Repeat("\x01", maxField), strings.Repeat("\x01", maxField), strings.Repeat("<", maxField), strings.Repeat("\"", maxField), strings.Repeat("\u2028", 85)}); err != nil {
		t.Error(err)
	}
	mustClose(t, l)
	if s := mustVerify(t, nil, name); s.Records != 2 {
		t.Errorf("got %d records, want 2", s.Records)
	}
}

func TestAppendConcurrent(t *testing.T) {
	const writers, each = 32, 50
	l, name := newLog(t, nil)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				if err := l.Append(Event{Action: "test", Session: fmt.Sprintf("%d-%d", w, i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	mustClose(t, l)
	if s := mustVerify(t, nil, name); s.Records != 1+writers*each {
		t.Errorf("got %d records, want %d", s.Records, 1+writers*each)
	}
	next := make([]int, writers) // each writer's events stand in its order
	for _, r := range records(t, name)[1:] {
		var w, i int
		if _, err := fmt.Sscanf(r.Session, "%d-%d", &w, &i); err != nil || next[w] != i {
			t.Fatalf("record %d: got event %s, want number %d of the writer", r.Seq, r.Session, next[w])
		}
		next[w]++
	}
}

func TestOneProcessAtATime(t *testing.T) {
	l, name := newLog(t, nil)
	if _, err := Open(name, nil); !errors.Is(err, ErrLocked) {
		t.Errorf("got %v, want ErrLocked", err)
	}
	mustClose(t, l)
	mustClose(t, reopen(t, name, nil))
}

// After an error of the disk no record is accepted, and Err returns the error.
func TestDiskFails(t *testing.T) {
	l, name := newLog(t, nil)
	mustAppend(t, l, 1)
	l.file.Close()
	first := l.Append(Event{Action: "test"})
	if first == nil || l.Append(Event{Action: "test"}) == nil || l.Err() == nil {
		t.Errorf("got %v, then no error, want errors", first)
	}
	if _, err := l.Close(); err == nil {
		t.Error("got no error from Close")
	}
	mustAppend(t, reopen(t, name, nil), 1)
	if s := mustVerify(t, nil, name); s.Records != 4 {
		t.Errorf("got %d records, want 4", s.Records)
	}
}

func TestAfter(t *testing.T) {
	key := []byte("a key of the test")
	l, old := newLog(t, &Options{Key: key})
	mustAppend(t, l, 3)
	name := filepath.Join(t.TempDir(), "next.log")
	opts := &Options{Key: key, After: old}
	if _, err := Open(name, opts); !errors.Is(err, ErrLocked) {
		t.Errorf("after a log that is still written: got %v, want %v", err, ErrLocked)
	}
	last := mustClose(t, l)
	mustAppend(t, reopen(t, name, opts), 2)
	vo := &VerifyOptions{Key: key, Heads: []Head{last}}
	if s := mustVerify(t, vo, old, name); s.Records != 7 || s.Last.Seq != 7 || s.After != "" {
		t.Errorf("got %+v, want 7 records", s)
	}
	if s := mustVerify(t, &VerifyOptions{Key: key}, name); s.First.Seq != 5 || s.After != last.Hash {
		t.Errorf("got %+v, want the hash of the record that it continues", s)
	}
	for _, names := range [][]string{{name, old}, {name, name}, {old, old}} {
		if _, err := Verify(names, vo); !errors.Is(err, ErrBroken) {
			t.Errorf("%v: got %v, want ErrBroken", names, err)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "x"), &Options{After: old}); !errors.Is(err, ErrBroken) {
		t.Errorf("got %v for the old log with another key, want ErrBroken", err)
	}
}

func BenchmarkAppend(b *testing.B) {
	l, _ := newLog(b, nil)
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := l.Append(Event{Account: "clinic", Key: "0123456789abcdef", Action: "initiate", Session: noHash[:32], Outcome: "201"}); err != nil {
				b.Error(err)
			}
		}
	})
}
