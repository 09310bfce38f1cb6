package audit

import (
	"bufio"
	"bytes"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

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
