package command

import (
	"bytes"
	"strings"
	"testing"
)

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"one\ttwo\n": "one\ttwo\n", "Größe 8 µs": "Größe 8 µs", "\x1b]0;x\x07\u009b": "\uFFFD]0;x\uFFFD\uFFFD", "a\xff\xfeb\r": "a\uFFFDb\uFFFD", "": "",
	} {
		if got := Printable(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	var out strings.Builder
	(&Printer{W: &out}).Printf("%s: %d", "\x1b[31m.wav", 3)
	if out.String() != "\uFFFD[31m.wav: 3" {
		t.Errorf("got %q", out.String())
	}
}

func TestLinesOfTheFLACDecoderAreDropped(t *testing.T) {
	var out bytes.Buffer
	w := withoutFLAC{&out}
	for _, line := range []string{
		"2026/11/25 23:58:31 frame.Frame.parseHeader: The flac library test cases do not yet include any audio files with sample rate 24000.\n", "another\n",
	} {
		if n, err := w.Write([]byte(line)); n != len(line) || err != nil {
			t.Errorf("got %d and error %v, want %d", n, err, len(line))
		}
	}
	if out.String() != "another\n" {
		t.Errorf("got %q", out.String())
	}
}
