package tensorfile

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
)

// testFile returns a checkpoint of models/dam.
func testFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "dam", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// pickleOf is the pickle of a checkpoint of testdata.
func pickleOf(t testing.TB, name string) []byte {
	t.Helper()
	b := testFile(t, name)
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	rc, err := z.Open(strings.TrimSuffix(name, ".ckpt") + "/data.pkl")
	if err != nil {
		t.Fatal(err)
	}
	var pickle bytes.Buffer
	if _, err := pickle.ReadFrom(rc); err != nil {
		t.Fatal(err)
	}
	return pickle.Bytes()
}

// TestPublishedPickleHasRoom counts the memory of a tensor in a checkpoint that torch
// wrote: 514 tensors, in a pickle of 100,000 bytes, must stay well below the limit.
func TestPublishedPickleHasRoom(t *testing.T) {
	b := pickleOf(t, "small.ckpt")
	u := &unpickler{b: b, left: 1 << 30}
	v, err := u.run()
	if err != nil {
		t.Fatal(err)
	}
	tensor := (1<<30 - u.left) / len(v.(*dict).keys)
	if room := memorySlack + memoryPerByte*100_000; 514*tensor > room*4/5 {
		t.Errorf("a tensor takes %d bytes, 514 more than four fifths of %d", tensor, room)
	}
}

// TestPicklesCostInProportion reads pickles of a megabyte of one opcode.
func TestPicklesCostInProportion(t *testing.T) {
	n := min(cost.Size, MaxPickle)
	for name, c := range map[string]struct{ begin, unit string }{
		"none":         {"", "N"},
		"marks":        {"", "("},
		"dictionaries": {"", "}"},
		"nested":       {"N", "\x85"},
		"empty tuples": {"", ")"},
		"built":        {"}", ")b"},
		"items":        {"}", "NNs"},
		"many items":   {"}", "(" + strings.Repeat("N", 2000) + "u"},
		"tuples":       {"", "(" + strings.Repeat("N", 2000) + "t"},
		"memo":         {"N", "\x94"},
		"far memo":     {"N", "r\xff\xff\xff\xff"},
		"numbers":      {"", "M\xff\xff"},
		"floats":       {"", "G\x00\x00\x00\x00\x00\x00\x00\x00"},
		"lists":        {"", "]"},
		"filled lists": {"]", "Na"},
		"long lists":   {"]", "(" + strings.Repeat("N", 2000) + "e"},
		"texts":        {"", "\x8c\x01a"},
		"a name":       {"c", "\x01"},
		"a call":       {"c" + strings.Repeat("\x01", n-10) + "\n\n)R", "."},
		"storages":     {"X\x07\x00\x00\x00storageq\x00ctorch\nFloatStorage\nq\x01X\x01\x00\x00\x000q\x02(h\x00h\x01h\x02NK\x01tq\x03}", "Nh\x03Qs"},
	} {
		t.Run(name, func(t *testing.T) {
			b := []byte(c.begin + strings.Repeat(c.unit, (n-len(c.begin))/len(c.unit)))
			cost.Check(t, len(b), func() {
				if _, err := unpickle(b); !errors.Is(err, ErrCheckpoint) || len(err.Error()) > 1000 {
					t.Errorf("got %.200v, want a short ErrCheckpoint", err)
				}
			})
		})
	}
}

func FuzzUnpickle(f *testing.F) {
	f.Add(pickleOf(f, "small.ckpt")[:2000])
	f.Add([]byte("\x80\x02}q\x00(X\x01\x00\x00\x00aK\x01\x85\x8a\x01\xffN\x89\x88tq\x01ctorch\nFloatStorage\nu."))
	f.Add([]byte("\x80\x02}(X\x05\x00\x00\x00model}X\x04\x00\x00\x00lossG?\xf0\x00\x00\x00\x00\x00\x00X\x01\x00\x00\x00o](K\x01NeNau."))
	f.Add([]byte("\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01a\x94K\x01\x86\x87Q.)R}bs."))
	f.Fuzz(func(t *testing.T, b []byte) {
		var d *dict
		var err error
		cost.Check(t, len(b), func() { d, err = unpickle(b) })
		if err == nil {
			d, err = stateDict(d)
		}
		if err == nil && len(d.keys) != len(d.values) {
			t.Fatalf("got %d keys and %d values", len(d.keys), len(d.values))
		}
		if err != nil && !errors.Is(err, ErrCheckpoint) {
			t.Fatalf("got %v, want ErrCheckpoint", err)
		}
	})
}
