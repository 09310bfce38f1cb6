package dam

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
)

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
	n := min(cost.Size, maxPickle)
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

// TestModelFilesCostInProportion opens converted models with headers full of values,
// and a checkpoint full of files.
func TestModelFilesCostInProportion(t *testing.T) {
	n := min(cost.Size, maxHeader) - 1000
	header := func(begin, unit string) []byte {
		text := begin + strings.Repeat(unit, (n-len(begin))/len(unit)) + "0]}"
		return append(binary.LittleEndian.AppendUint32([]byte(fileMagic), uint32(len(text))), text...)
	}
	var shape bytes.Buffer
	fmt.Fprintf(&shape, `{"shape":{"Mels":1,"Frames":1,"Width":1,"Heads":1,"Inner":1,"Layers":1,"Hidden":1,"Shared":1,"Task":1},"tensors":[`)
	var many bytes.Buffer
	z := zip.NewWriter(&many)
	for i := 0; many.Len() < cost.Size/2; i++ {
		if _, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{
		"numbers":            header(shape.String(), "0,"),
		"empty tensors":      header(shape.String(), "{},"),
		"tensors":            header(shape.String(), `{"name":"","dims":[],"crc32c":0},`),
		"dimensions":         header(shape.String()+`{"name":"","crc32c":0,"dims":[`, "0,"),
		"names":              header(`{`, `"":0,`),
		"allowed numbers":    header(shape.String()+strings.Repeat("0,", maxValues-20), strings.Repeat(" ", n/2)),
		"allowed dimensions": header(shape.String()+`{"name":"","crc32c":0,"dims":[`+strings.Repeat("0,", maxValues-20), strings.Repeat(" ", n/2)),
		"a header not there": append([]byte(fileMagic), 0, 0, 15, 0),
		"many files":         many.Bytes(),
	} {
		t.Run(name, func(t *testing.T) {
			cost.Check(t, len(b), func() {
				if _, err := tensors(bytes.NewReader(b), int64(len(b)), Published); !errors.Is(err, ErrFile) && !errors.Is(err, ErrCheckpoint) && !errors.Is(err, ErrWeights) {
					t.Errorf("got %v, want an error of the package", err)
				}
			})
		})
	}
}
