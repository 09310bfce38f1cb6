package audit

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
)

var testKey = []byte("0123456789abcdef0123456789abcdef")

// tornLine is where written has what a crash left.
const tornLine = 6

// written is a log with every kind of record: a beginning, events, a resume,
// and a resume behind what a crash left.
func written(t testing.TB, key []byte) (name string, data []byte) {
	t.Helper()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	opts := &Options{Key: key, Now: func() time.Time { return now }} // the same bytes every time
	l, name := newLog(t, opts)
	mustAppend(t, l, 3)
	mustClose(t, l)
	mustClose(t, reopen(t, name, opts))
	write(t, name, append(read(t, name), `{"seq":6,"time":"20`...))
	l = reopen(t, name, opts)
	mustAppend(t, l, 2)
	mustClose(t, l)
	s := mustVerify(t, &VerifyOptions{Key: key}, name)
	if s.Records != 8 || s.Torn != 1 || !s.Head {
		t.Fatalf("got %+v, want 8 records", s)
	}
	return name, read(t, name)
}

// verifyData is Verify of a file with data and a head.
func verifyData(data, key []byte, head Head) error {
	v := verifier{seal: newSealer(key)}
	if err := v.content("audit.log", bytes.NewReader(data), head); err != nil {
		return err
	}
	return v.missing("audit.log")
}

// headOf returns the head of a log.
func headOf(t testing.TB, name string, key []byte) Head {
	t.Helper()
	head, _, err := readHead(name, newSealer(key))
	if err != nil {
		t.Fatal(err)
	}
	return head
}

// wantFault verifies changed data and wants a fault in a line, 0 for any.
func wantFault(t *testing.T, what string, data, key []byte, head Head, line int) {
	t.Helper()
	err := verifyData(data, key, head)
	var fault *Fault
	if !errors.As(err, &fault) || !errors.Is(err, ErrBroken) {
		t.Errorf("%s: got %v, want a fault", what, err)
		return
	}
	if line >= tornLine-1 && line <= tornLine+1 && fault.Line >= tornLine-1 && fault.Line <= tornLine+1 {
		return // what was torn, and the records on both sides, hold each other
	}
	if line > 0 && fault.Line != line {
		t.Errorf("%s: got %v, want a fault in line %d", what, err, line)
	}
}

// Every change of every byte is found, in its line.
func TestVerifyFindsEveryByte(t *testing.T) {
	for _, key := range [][]byte{nil, testKey} {
		name, data := written(t, key)
		head := headOf(t, name, key)
		line := 1
		for i := range data {
			for _, bit := range []byte{1, 0x20, 0x80} {
				changed := bytes.Clone(data)
				changed[i] ^= bit
				wantFault(t, "changed byte", changed, key, head, line)
			}
			if data[i] == '\n' {
				line++
			}
		}
	}
}

func TestVerifyFindsLines(t *testing.T) {
	for _, key := range [][]byte{nil, testKey} {
		name, data := written(t, key)
		head := headOf(t, name, key)
		lines := bytes.SplitAfter(data, []byte("\n"))
		lines = lines[:len(lines)-1]
		last := len(lines) - 1
		for i := range lines {
			line := i + 1
			if i == last {
				line = 0 // no line shows it, the head does
			}
			wantFault(t, "deleted line", bytes.Join(slices.Delete(slices.Clone(lines), i, i+1), nil), key, head, line)
			wantFault(t, "doubled line", bytes.Join(slices.Insert(slices.Clone(lines), i, lines[i]), nil), key, head, doubled(i))
			wantFault(t, "cut off here", bytes.Join(lines[:i], nil), key, head, 0)
			if i > 0 {
				wantFault(t, "begun here", bytes.Join(lines[i:], nil), key, head, begun(i))
			}
			for j := range lines[:i] {
				swapped := slices.Clone(lines)
				swapped[i], swapped[j] = swapped[j], swapped[i]
				wantFault(t, "swapped lines", bytes.Join(swapped, nil), key, head, j+1)
			}
		}
	}
}

// begun is the line in which a fault is seen if a file begins with line i, from
// 0.
func begun(i int) int {
	if i+1 == tornLine {
		return 2 // the first record
	}
	return 1
}

// doubled is the line in which a fault is seen if line i, from 0, stands twice.
func doubled(i int) int {
	if i+1 == tornLine {
		return tornLine // both are torn, and no record accounts for both
	}
	return i + 2
}

// Whatever part is put in the place of whatever other is found.
func TestVerifyFindsAnyReplacement(t *testing.T) {
	name, data := written(t, testKey)
	head := headOf(t, name, testKey)
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(data)).Draw(t, "from")
		j := rapid.IntRange(i, len(data)).Draw(t, "to")
		k := rapid.IntRange(0, len(data)).Draw(t, "instead from")
		m := rapid.IntRange(k, len(data)).Draw(t, "instead to")
		changed := append(append(bytes.Clone(data[:i]), data[k:m]...), data[j:]...)
		if bytes.Equal(changed, data) {
			return
		}
		if err := verifyData(changed, testKey, head); !errors.Is(err, ErrBroken) {
			t.Fatalf("got %v for a log with bytes %d to %d in place of %d to %d, want ErrBroken", err, k, m, i, j)
		}
	})
}

// Who has no key cannot write a log that verifies with one; who has none to
// verify with learns nothing wrong.
func TestVerifyKey(t *testing.T) {
	forged, _ := written(t, nil)
	if _, err := Verify([]string{forged}, &VerifyOptions{Key: testKey}); !errors.Is(err, ErrBroken) {
		t.Errorf("got %v for a log without the key, want ErrBroken", err)
	}
	keyed, data := written(t, testKey)
	if _, err := Verify([]string{keyed}, nil); !errors.Is(err, ErrBroken) {
		t.Errorf("got %v without the key, want ErrBroken", err)
	}
	if !strings.Contains(string(data), `"algorithm":"hmac-sha256"`) {
		t.Error("the log does not say how it was made")
	}
}

// The head shows what was deleted from the end, a noted head also what the file
// head cannot: that both files were put back.
func TestVerifyHead(t *testing.T) {
	l, name := newLog(t, nil)
	mustAppend(t, l, 2)
	data, head := read(t, name), read(t, name+headSuffix)
	mustAppend(t, l, 1)
	last := mustClose(t, l)
	after := read(t, name)
	write(t, name, data)
	if _, err := Verify([]string{name}, nil); err == nil || !strings.Contains(err.Error(), "deleted from the end") {
		t.Errorf("got %v, want that a record was deleted from the end", err)
	}
	if _, err := Open(name, nil); !errors.Is(err, ErrBroken) {
		t.Errorf("Open: got %v, want ErrBroken", err)
	}
	write(t, name+headSuffix, head)
	mustVerify(t, nil, name)
	if _, err := Verify([]string{name}, &VerifyOptions{Heads: []Head{last}}); !errors.Is(err, ErrBroken) {
		t.Errorf("got %v with the head that was noted, want ErrBroken", err)
	}
	mustVerify(t, &VerifyOptions{Heads: []Head{records(t, name)[1].at()}}, name)

	write(t, name, after) // an older head is that of a crash
	mustVerify(t, nil, name)
	write(t, name+headSuffix, head[1:])
	if _, err := Verify([]string{name}, nil); !errors.Is(err, ErrBroken) {
		t.Errorf("got %v with a broken head, want ErrBroken", err)
	}
	if err := os.Remove(name + headSuffix); err != nil {
		t.Fatal(err)
	}
	if s := mustVerify(t, nil, name); s.Head {
		t.Errorf("got %+v, want Head false", s)
	}
	mustClose(t, reopen(t, name, nil))
	if s := mustVerify(t, nil, name); !s.Head || s.Headless != 1 {
		t.Errorf("got %+v, want Headless 1", s)
	}
	write(t, name, nil) // a file that was emptied is not a new one
	if _, err := Open(name, nil); !errors.Is(err, ErrBroken) {
		t.Errorf("got %v for an emptied file, want ErrBroken", err)
	}
}

func TestParseHead(t *testing.T) {
	want := Head{12, strings.Repeat("0f", 32)}
	if got, err := ParseHead(want.String()); err != nil || got != want {
		t.Errorf("got %v %v, want %v", got, err, want)
	}
	for _, text := range []string{"", "12", "0:" + want.Hash, "-1:" + want.Hash, "12:" + want.Hash[1:], "12:" + strings.ToUpper(want.Hash), "12:" + want.Hash + ":"} {
		if got, err := ParseHead(text); err == nil {
			t.Errorf("%s: got %v, want an error", text, got)
		}
	}
}

// What is no log is refused, and not written to.
func TestOpenRefuses(t *testing.T) {
	for what, data := range map[string]string{"another file": "SQLite format 3\x00\n", "one line": "hello", "empty lines": "\n\n\n",
		"long line": strings.Repeat("x", 3*maxLine), "brace": "}\n"} {
		name := t.TempDir() + "/audit.log"
		write(t, name, []byte(data))
		if _, err := Verify([]string{name}, nil); !errors.Is(err, ErrBroken) {
			t.Errorf("%s: got %v, want ErrBroken", what, err)
		}
		if _, err := Open(name, nil); !errors.Is(err, ErrBroken) {
			t.Errorf("%s: got %v from Open, want ErrBroken", what, err)
		}
		if got := read(t, name); string(got) != data {
			t.Errorf("%s: got %d bytes, want the file as it was", what, len(got))
		}
	}
	if _, err := Verify([]string{t.TempDir() + "/none"}, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v for no file, want ErrNotExist", err)
	}
	if _, err := Open(t.TempDir()+"/none/audit.log", nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v for no directory, want ErrNotExist", err)
	}
}

// TestScanCostsInProportion reads logs of nothing but short lines, and of lines
// that look like records.
func TestScanCostsInProportion(t *testing.T) {
	for name, line := range map[string]string{
		"empty lines": "\n",
		"brief lines": "{}\n",
		"a hash":      "{" + hashLead + noHash + hashTail + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			data := []byte(strings.Repeat(line, cost.Size/len(line)))
			cost.Check(t, len(data), func() {
				if _, err := newScanner("log", bytes.NewReader(data), newSealer(nil)).next(); err != io.EOF {
					t.Errorf("got %v, want %v", err, io.EOF)
				}
			})
		})
	}
}

// The reader takes anything, and never takes what was not written.
func FuzzScan(f *testing.F) {
	_, data := written(f, testKey)
	f.Add(data)
	f.Add(data[:len(data)-1])
	f.Add([]byte(hashLead + noHash + hashTail))
	f.Add(bytes.Repeat([]byte("x"), 2*maxLine))
	known := map[string]bool{}
	for line := range bytes.Lines(data) {
		known[strings.TrimSuffix(string(line), "\n")] = true
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		cost.Check(t, len(data), func() {
			s := newScanner("fuzz", bytes.NewReader(data), newSealer(testKey))
			for err := error(nil); err == nil; {
				_, err = s.next()
			}
		})
		s := newScanner("fuzz", bytes.NewReader(data), newSealer(testKey))
		for {
			r, err := s.next()
			if err != nil {
				if !errors.Is(err, ErrBroken) && err != io.EOF {
					t.Fatalf("got %v", err)
				}
				return
			}
			line, _, err := newSealer(testKey).seal(nil, r)
			if err != nil || !known[string(line)] {
				t.Fatalf("got a record that nobody with the key made: %s %v", line, err)
			}
		}
	})
}
