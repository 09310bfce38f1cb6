package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/dsp/wav"
)

// header is a 16-bit WAV header of a file whose writer did not know its size.
func header(rate, channels int) []byte {
	b := []byte("RIFF\xff\xff\xff\xffWAVEfmt \x10\x00\x00\x00\x01\x00")
	b = binary.LittleEndian.AppendUint16(b, uint16(channels))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate*channels*2))
	b = binary.LittleEndian.AppendUint16(b, uint16(channels*2))
	b = append(b, "\x10\x00data"...)
	return binary.LittleEndian.AppendUint32(b, math.MaxUint32)
}

// endless is silence that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestReadRecordingStopsAtItsLimit(t *testing.T) {
	rec, err := readRecording(io.MultiReader(bytes.NewReader(header(minRate, 2)), endless{}), 2)
	if err != nil {
		t.Fatal(err)
	}
	want := int(maxDuration.Seconds()) * minRate
	if len(rec.samples) != want || !rec.partial || rec.truncated {
		t.Errorf("got %d samples, partial %t, want %d and true", len(rec.samples), rec.partial, want)
	}
	if w := warnings(rec.truncated, rec.partial); len(w) != 1 || !strings.Contains(w[0], "10 minutes") {
		t.Errorf("got warnings %q, want one about the first 10 minutes", w)
	}
}

func TestReadRecordingRefuses(t *testing.T) {
	for rate, ok := range map[int]bool{minRate - 1: false, minRate: true, maxRate: true, maxRate + 1: false} {
		_, err := readRecording(bytes.NewReader(append(header(rate, 1), 0, 0)), 0)
		if (err == nil) != ok || !ok && !strings.Contains(err.Error(), "sample rate") {
			t.Errorf("%d Hz: got %v, want taken: %t", rate, err, ok)
		}
	}
	for _, channel := range []int{0, 3} {
		_, err := readRecording(bytes.NewReader(header(minRate, 2)), channel)
		var c *wav.ChannelError
		if !errors.As(err, &c) {
			t.Errorf("channel %d of 2: got %v, want a ChannelError", channel, err)
		}
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", -1.5: "-1.5", 0.1: "0.1", 1e-7: "1e-07", math.Inf(1): "null", math.Inf(-1): "null"} {
		if got, err := number(v).MarshalJSON(); err != nil || string(got) != want {
			t.Errorf("%v: got %s, %v, want %s", v, got, err, want)
		}
	}
	if got, _ := number(math.NaN()).MarshalJSON(); string(got) != "null" {
		t.Errorf("NaN: got %s, want null", got)
	}
}
