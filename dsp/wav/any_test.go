package wav_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/dsp/wav"
)

// anyFile makes a WAV file of a format tag. Sizes are those of the RIFF and the data chunk.
func anyFile(tag uint16, channels, align, bits int, riffSize, dataSize uint32, data []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte("RIFF"), riffSize)
	b = append(b, "WAVEfmt \x10\x00\x00\x00"...)
	b = binary.LittleEndian.AppendUint16(b, tag)
	b = binary.LittleEndian.AppendUint16(b, uint16(channels))
	b = binary.LittleEndian.AppendUint32(b, 8000)
	b = binary.LittleEndian.AppendUint32(b, uint32(8000*align))
	b = binary.LittleEndian.AppendUint16(b, uint16(align))
	b = binary.LittleEndian.AppendUint16(b, uint16(bits))
	b = binary.LittleEndian.AppendUint32(append(b, "data"...), dataSize)
	return append(b, data...)
}

func readAny(file []byte) ([]float64, *wav.Reader, error) {
	r, err := wav.NewAnyReader(bytes.NewReader(file))
	if err != nil {
		return nil, nil, err
	}
	x := make([]float64, 1<<16)
	n := 0
	for {
		m, err := r.Read(x[n:])
		n += m
		if err == io.EOF {
			return x[:n], r, nil
		}
		if err != nil {
			return x[:n], r, err
		}
	}
}

// TestCompandingFollowsTheTables compares with decision values of ITU-T G.711 tables 1 and 2,
// and with their symmetry.
func TestCompandingFollowsTheTables(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for name, c := range map[string]struct {
		tag      uint16
		encoding wav.Encoding
		invert   byte
		values   map[byte]float64 // of 16 bits
	}{
		"A-law": {6, wav.ALaw, 0x55, map[byte]float64{0xd5: 8, 0xd4: 24, 0xc5: 264, 0xaa: 32256, 0x2a: -32256, 0x55: -8}},
		"µ-law": {7, wav.MuLaw, 0xff, map[byte]float64{0xff: 0, 0xfe: 8, 0xf0: 120, 0xef: 132, 0x80: 32124, 0x00: -32124}},
	} {
		t.Run(name, func(t *testing.T) {
			x, r, err := readAny(anyFile(c.tag, 1, 1, 8, 292-8, 256, all))
			if err != nil || len(x) != 256 || r.Format().Encoding != c.encoding || r.Truncated() {
				t.Fatalf("got %d samples and error %v", len(x), err)
			}
			for code, want := range c.values {
				if got := x[code] * (1 << 15); got != want {
					t.Errorf("code %#x: got %v, want %v", code, got, want)
				}
			}
			for i := range 128 {
				if x[i] != -x[i|0x80] {
					t.Errorf("codes %#x and %#x: got %v and %v, want opposite ones", i, i|0x80, x[i], x[i|0x80])
				}
			}
			if _, err := wav.NewReader(bytes.NewReader(anyFile(c.tag, 1, 1, 8, 292-8, 256, all))); err == nil {
				t.Error("NewReader reads it, want it refused as ever")
			}
		})
	}
}

// TestIMABlocksBeginAnew decodes blocks that were computed by hand.
func TestIMABlocksBeginAnew(t *testing.T) {
	mono := []byte{0x64, 0, 0, 0, 0x07, 0, 0, 0, 0x9c, 0xff, 10, 0, 0x0f, 0, 0, 0} // 100 at step 7; −100 at step 19
	x, r, err := readAny(anyFile(0x11, 1, 8, 4, 36+16, 16, mono))
	if err != nil || len(x) != 18 || r.Truncated() {
		t.Fatalf("got %d samples and error %v, want 18", len(x), err)
	}
	for i, want := range map[int]float64{0: 100, 1: 100 + 7 + 3 + 1, 2: 111 + 16>>3, 9: -100, 10: -100 - 19 - 9 - 4 - 2} {
		if got := x[i] * (1 << 15); got != want {
			t.Errorf("sample %d: got %v, want %v", i, got, want)
		}
	}
	half, r, err := readAny(anyFile(0x11, 1, 8, 4, 36+16, 16, mono[:12]))
	if err != nil || len(half) != 10 || !r.Truncated() {
		t.Errorf("cut in the second block: got %d samples, error %v", len(half), err)
	}
	for name, file := range map[string][]byte{
		"no room for the first sample": anyFile(0x11, 2, 4, 4, 0, 0, mono),
		"half a group":                 anyFile(0x11, 1, 10, 4, 0, 0, mono),
		"large blocks":                 anyFile(0x11, 1, 32768, 4, 0, 0, mono),
		"16 bits":                      anyFile(0x11, 1, 8, 16, 0, 0, mono),
		"16 bits of A-law":             anyFile(6, 1, 2, 16, 0, 0, mono),
		"big endian":                   append([]byte("RIFX"), strings.Repeat("\x00", 60)...),
	} {
		var format wav.FormatError
		var unsupported wav.UnsupportedError
		if _, _, err := readAny(file); !errors.As(err, &format) && !errors.As(err, &unsupported) {
			t.Errorf("%s: got error %v, want one about the file", name, err)
		}
	}
}

// TestADataChunkOfSize0ReachesToTheEnd reads files of a writer that filled in one of the two
// sizes only.
func TestADataChunkOfSize0ReachesToTheEnd(t *testing.T) {
	sound := []byte{1, 0, 2, 0, 3, 0, 4, 0, 5, 0}
	list := append([]byte("LIST\x04\x00\x00\x00"), "abcd"...)
	for name, c := range map[string]struct {
		file []byte
		want int
	}{
		"sound follows":        {anyFile(1, 1, 2, 16, 36+10, 0, sound), 5},
		"RIFF size too large":  {anyFile(1, 1, 2, 16, 1000, 0, sound), 5},
		"RIFF size 0":          {anyFile(1, 1, 2, 16, 0, 0, sound), 5},
		"a chunk follows":      {anyFile(1, 1, 2, 16, 36+12, 0, list), 0},
		"nothing follows":      {anyFile(1, 1, 2, 16, 36+10, 0, nil), 0},
		"less than a chunk":    {anyFile(1, 1, 2, 16, 36+4, 0, sound[:4]), 2},
		"letters, and no size": {anyFile(1, 1, 2, 16, 36+10, 0, []byte("soundsound")), 5},
	} {
		x, r, err := readAny(c.file)
		if err != nil || len(x) != c.want || r.Truncated() {
			t.Errorf("%s: got %d samples and error %v, want %d", name, len(x), err, c.want)
		}
	}
}
