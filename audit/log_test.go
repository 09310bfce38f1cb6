package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// Wherever a crash cuts off what is being written, the log opens again, keeps
// every record that is whole, and says what was left of others.
func TestTornEnd(t *testing.T) {
	l, name := newLog(t, nil)
	mustAppend(t, l, 2)
	mustClose(t, l)
	data, head := read(t, name), read(t, name+headSuffix)
	lines := bytes.SplitAfter(data, []byte("\n"))
	third := len(data) - len(lines[2])
	// The head is that of the record before, as it is while one is written.
	before := newSealer(nil)
	f, err := os.Create(name + headSuffix)
	if err != nil {
		t.Fatal(err)
	}
	h := Head{2, records(t, name)[1].Hash}
	if err := writeHead(f, before, h, int64(len(lines[0]))); err != nil {
		t.Fatal(err)
	}
	f.Close()
	older := read(t, name+headSuffix)
	for n := third; n <= len(data); n++ {
		if n > third+2 && n < len(data)-3 && n%7 > 0 {
			continue // the middle is all alike
		}
		write(t, name, data[:n])
		write(t, name+headSuffix, older)
		if n == len(data) {
			write(t, name+headSuffix, head)
		}
		_, err := Verify([]string{name}, nil)
		if whole := n == third || n == len(data); whole != (err == nil) {
			t.Errorf("cut at %d: got %v before it is opened, want an error %v", n-third, err, !whole)
		}
		l := reopen(t, name, nil)
		mustAppend(t, l, 1)
		mustClose(t, l)
		s, err := Verify([]string{name}, nil)
		kept, torn := 2, 1
		if n >= len(data)-1 {
			kept = 3 // it lacks its line end at most
		}
		if kept == 3 || n == third {
			torn = 0
		}
		if err != nil || s.Records != uint64(kept+2) || s.Torn != torn || !bytes.HasPrefix(read(t, name), data[:n]) {
			t.Errorf("cut at %d: got %+v %v, want %d records, %d torn, and all that was there", n-third, s, err, kept+2, torn)
		}
	}
}

// Of the last write a power failure may leave the end and not the middle. Whole
// records that stand there were not acknowledged and are torn too. What a
// crash cannot leave is refused.
func TestTornMiddle(t *testing.T) {
	l, name := newLog(t, nil)
	head := read(t, name+headSuffix) // names the first record
	mustAppend(t, l, 6)
	last := mustClose(t, l)
	data, newer := read(t, name), read(t, name+headSuffix)
	lines := bytes.SplitAfter(data, []byte("\n"))
	third := len(lines[0]) + len(lines[1]) + 5
	copy(data[third:], make([]byte, 200)) // within the third record
	write(t, name, data)
	for what, h := range map[string][]byte{"no head": nil, "a head that is newer": newer} {
		write(t, name+headSuffix, h)
		if _, err := Verify([]string{name}, nil); !errors.Is(err, ErrBroken) {
			t.Errorf("%s: got %v, want ErrBroken", what, err)
		}
		l, err := Open(name, nil)
		if h == nil && !errors.Is(err, ErrBroken) {
			t.Errorf("%s: got %v from Open, want ErrBroken", what, err)
		}
		if err == nil { // it looks only at what is behind the head
			mustClose(t, l)
			if _, err := Verify([]string{name}, nil); !errors.Is(err, ErrBroken) {
				t.Errorf("%s, opened: got %v, want ErrBroken", what, err)
			}
		}
		write(t, name, data)
	}
	write(t, name+headSuffix, head)
	l = reopen(t, name, nil)
	mustAppend(t, l, 1)
	mustClose(t, l)
	if s := mustVerify(t, nil, name); s.Records != 4 || s.Torn != 1 {
		t.Errorf("got %+v, want 4 records, and what was torn", s)
	}
	if _, err := Verify([]string{name}, &VerifyOptions{Heads: []Head{last}}); !errors.Is(err, ErrBroken) {
		t.Errorf("got %v with the head of a record that was torn, want ErrBroken", err)
	}
	if got := read(t, name); !bytes.HasPrefix(got, data) {
		t.Error("what was there has changed")
	}
}

// A crash leaves no more than one write behind what was durable.
func TestTornMiddleOfMoreThanOneWrite(t *testing.T) {
	for _, tc := range []struct {
		records int
		taken   bool
	}{{maxBatch, true}, {maxBatch + 1, false}} {
		l, name := newLog(t, nil)
		head := read(t, name+headSuffix)
		for records := make([]Record, tc.records); len(records) > 0; records = records[min(maxBatch, len(records)):] {
			for i := range records {
				records[i] = Record{Event: Event{Action: "test"}}
			}
			if err := l.write(records[:min(maxBatch, len(records))]); err != nil {
				t.Fatal(err)
			}
		}
		mustClose(t, l)
		data := read(t, name)
		data[bytes.IndexByte(data, '\n')+10] ^= 1 // in the second record
		write(t, name, data)
		write(t, name+headSuffix, head)
		l, err := Open(name, nil)
		if tc.taken != (err == nil) || err != nil && !errors.Is(err, ErrBroken) {
			t.Errorf("%d records behind the head, the first of them torn: got %v, want it taken %v", tc.records, err, tc.taken)
		}
		if err == nil {
			mustClose(t, l)
		}
	}
}

// A power failure while a log is made may leave a head without content.
func TestHeadWithoutContent(t *testing.T) {
	for _, content := range []string{"", "\x00\x00\x00"} {
		l, name := newLog(t, nil)
		mustClose(t, l)
		write(t, name+headSuffix, []byte(content))
		mustClose(t, reopen(t, name, nil))
		if s := mustVerify(t, nil, name); s.Records != 2 || s.Headless != 1 || !s.Head {
			t.Errorf("got %+v, want 2 records, and that there was no head", s)
		}
	}
}

// Heads are equally long whatever they name, and within a sector.
func TestHeadsAreEquallyLong(t *testing.T) {
	name := filepath.Join(t.TempDir(), "audit.log")
	for _, h := range []Head{{1, noHash}, {math.MaxUint64, noHash}} {
		f, err := os.OpenFile(name+headSuffix, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		start := int64(h.Seq >> 1)
		if err := errors.Join(writeHead(f, newSealer(nil), h, start), f.Close()); err != nil {
			t.Fatal(err)
		}
		if got := len(read(t, name+headSuffix)); got != 209 {
			t.Errorf("head %v has %d bytes, want 209", h, got)
		}
		if got, at, err := readHead(name, newSealer(nil)); got != h || at != start || err != nil {
			t.Errorf("got %v at %d and error %v, want %v at %d", got, at, err, h, start)
		}
	}
}

// A crash while the log is opened after a crash is no worse.
func TestTornResume(t *testing.T) {
	l, name := newLog(t, nil)
	mustAppend(t, l, 1)
	mustClose(t, l)
	data, head := read(t, name), read(t, name+headSuffix)
	write(t, name, append(slices.Clone(data), `{"seq":3,"ti`...))
	mustClose(t, reopen(t, name, nil))
	resumed := read(t, name)
	for n := len(data) + 5; n < len(resumed)-1; n += 7 {
		write(t, name, resumed[:n])
		write(t, name+headSuffix, head)
		mustClose(t, reopen(t, name, nil))
		if s := mustVerify(t, nil, name); s.Records != 3 || s.Torn != 1 {
			t.Errorf("cut at %d: got %+v, want 3 records and what was torn", n, s)
		}
	}
}

// Records that were acknowledged are there after the process was killed.
func TestKill(t *testing.T) {
	name := filepath.Join(t.TempDir(), "audit.log")
	for round := range 3 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), envAppend+"="+name)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		acknowledged := map[string]int{}
		lines := bufio.NewScanner(out)
		for n := 0; n < 200 && lines.Scan(); n++ {
			acknowledged[lines.Text()]++
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait() // it was killed
		if len(acknowledged) != 200 {
			t.Fatalf("got %d events, want 200: %v", len(acknowledged), acknowledged)
		}
		mustClose(t, reopen(t, name, nil))
		mustVerify(t, nil, name)
		for _, r := range records(t, name) {
			if acknowledged[r.Session]--; acknowledged[r.Session] <= 0 {
				delete(acknowledged, r.Session)
			}
		}
		if len(acknowledged) > 0 {
			t.Fatalf("round %d: got no record of %v", round, acknowledged)
		}
	}
}

func TestAfter(t *testing.T) {
	key := []byte("a key of the test")
	l, old := newLog(t, &Options{Key: key})
	mustAppend(t, l, 3)
	last := mustClose(t, l)
	name := filepath.Join(t.TempDir(), "next.log")
	opts := &Options{Key: key, After: old}
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
