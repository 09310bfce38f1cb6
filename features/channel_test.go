package features_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-audio/audio"

	"github.com/voicescreen/voicescreen/dsp/wav"
	"github.com/voicescreen/voicescreen/features"
)

// zeros is a file without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// streamHeader is a 16-bit WAV header of a file whose writer did not know its
// size.
func streamHeader(rate, channels int) []byte {
	b := []byte("RIFF\xff\xff\xff\xffWAVEfmt \x10\x00\x00\x00\x01\x00")
	b = binary.LittleEndian.AppendUint16(b, uint16(channels))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate*channels*2))
	b = binary.LittleEndian.AppendUint16(b, uint16(channels*2))
	b = append(b, "\x10\x00data"...)
	return binary.LittleEndian.AppendUint32(b, math.MaxUint32)
}

func TestReadChannelStopsAtItsLimit(t *testing.T) {
	file := io.MultiReader(bytes.NewReader(streamHeader(features.MinSampleRate, 2)), zeros{})
	c, err := features.ReadChannel(t.Context(), file, 2, 90*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if want := 90 * features.MinSampleRate; len(c.Samples) != want || !c.Partial || c.Truncated {
		t.Errorf("got %d samples, partial %t, truncated %t, want %d, true, false", len(c.Samples), c.Partial, c.Truncated, want)
	}
}

func TestReadChannelTakesTheChannel(t *testing.T) {
	file := append(streamHeader(features.MaxSampleRate, 3), 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6) // two frames
	for number, want := range map[int][]float64{1: {1. / 128, 4. / 128}, 3: {3. / 128, 6. / 128}} {
		c, err := features.ReadChannel(t.Context(), bytes.NewReader(file), number, 0)
		if err != nil || !slices.Equal(c.Samples, want) || c.Partial || c.Rate != features.MaxSampleRate {
			t.Errorf("channel %d: got %+v, %v, want samples %v", number, c, err, want)
		}
	}
}

func TestReadChannelRefuses(t *testing.T) {
	for rate, ok := range map[int]bool{
		features.MinSampleRate - 1: false, features.MinSampleRate: true,
		features.MaxSampleRate: true, features.MaxSampleRate + 1: false,
	} {
		_, err := features.ReadChannel(t.Context(), bytes.NewReader(append(streamHeader(rate, 1), 0, 0)), 0, 0)
		if (err == nil) != ok || !ok && (!unsuitable(err) || !strings.Contains(err.Error(), "sample rate")) {
			t.Errorf("%d Hz: got %v, want taken: %t", rate, err, ok)
		}
	}
	for _, number := range []int{0, 3} {
		_, err := features.ReadChannel(t.Context(), bytes.NewReader(append(streamHeader(8000, 2), 0, 0, 0, 0)), number, 0)
		if !unsuitable(err) {
			t.Errorf("channel %d of 2: got %v, want an UnsuitableError", number, err)
		}
		var channel *wav.ChannelError
		if !errors.As(err, &channel) || channel.Channels != 2 || channel.Channel != number {
			t.Errorf("channel %d of 2: got %v, want a ChannelError with both numbers", number, err)
		}
	}
	if _, err := features.ReadChannel(t.Context(), bytes.NewReader(streamHeader(8000, 1)), 0, 0); !unsuitable(err) || !strings.Contains(err.Error(), "no samples") {
		t.Errorf("no samples: got %v, want an UnsuitableError that says so", err)
	}
	broken := io.MultiReader(bytes.NewReader(streamHeader(8000, 1)), failing{})
	if _, err := features.ReadChannel(t.Context(), broken, 0, 0); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("broken off: got %v, want the error of the reader", err)
	}
}

func unsuitable(err error) bool {
	var e features.UnsuitableError
	return errors.As(err, &e)
}

func TestFromBufferRefuses(t *testing.T) {
	one, two := &audio.Format{NumChannels: 1, SampleRate: 16000}, &audio.Format{NumChannels: 2, SampleRate: 16000}
	for name, c := range map[string]struct {
		buf  audio.Buffer
		want any // where the error goes
	}{
		"no buffer":    {nil, new(wav.FormatError)},
		"no format":    {&audio.IntBuffer{Data: make([]int, 9), SourceBitDepth: 16}, new(wav.FormatError)},
		"no depth":     {&audio.IntBuffer{Format: one, Data: make([]int, 9)}, new(wav.FormatError)},
		"two channels": {&audio.FloatBuffer{Format: two, Data: make([]float64, 8)}, new(*wav.ChannelError)},
		"rate too low": {&audio.FloatBuffer{Format: &audio.Format{NumChannels: 1, SampleRate: 4000}, Data: make([]float64, 9)}, new(features.UnsuitableError)},
	} {
		if got, err := features.FromBuffer(c.buf, 0); !errors.As(err, c.want) {
			t.Errorf("%s: got %+v, %v, want an error of type %T", name, got, err, c.want)
		}
	}
}

// failing is a connection that broke off.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// A Measurer gives the same whatever it measured before, and measures clipping
// on the samples as they were recorded.
func TestMeasurerIsReusable(t *testing.T) {
	narrow := &features.Channel{Rate: 16000, Samples: make([]float64, 16000)}
	for i := range narrow.Samples {
		narrow.Samples[i] = min(max(1.5*math.Sin(2*math.Pi*140*float64(i)/16000), -1), 1)
	}
	want := features.NewMeasurer().Measure(narrow).Features.Values
	m := features.NewMeasurer()
	file, err := os.ReadFile("../testdata/interview_en.wav")
	if err != nil {
		t.Fatal(err)
	}
	a, err := wav.Decode(bytes.NewReader(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	m.Measure(&features.Channel{Rate: a.SampleRate, Samples: a.Samples[:10*a.SampleRate]})
	got := m.Measure(narrow).Features
	for i, v := range got.Values {
		name, _ := got.Schema.Feature(i)
		if math.Float64bits(v) != math.Float64bits(want[i]) {
			t.Errorf("%s: got %v after another recording, want %v", name, v, want[i])
		}
	}
	if c := got.Get("quality.clipped_ratio"); c < 0.3 {
		t.Errorf("got %.2f of the samples clipped, want about half", c)
	}
}
