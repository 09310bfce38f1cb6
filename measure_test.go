package voicescreen_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/dsp/wav"
)

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
	file := io.MultiReader(bytes.NewReader(streamHeader(voicescreen.MinSampleRate, 2)), zeros{})
	c, err := voicescreen.ReadChannel(t.Context(), file, 2, 90*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if want := 90 * voicescreen.MinSampleRate; len(c.Samples) != want || !c.Partial || c.Truncated {
		t.Errorf("got %d samples, partial %t, truncated %t, want %d, true, false", len(c.Samples), c.Partial, c.Truncated, want)
	}
}

func TestReadChannelTakesTheChannel(t *testing.T) {
	file := append(streamHeader(voicescreen.MaxSampleRate, 3), 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6) // two frames
	for number, want := range map[int][]float64{1: {1. / 128, 4. / 128}, 3: {3. / 128, 6. / 128}} {
		c, err := voicescreen.ReadChannel(t.Context(), bytes.NewReader(file), number, 0)
		if err != nil || !slices.Equal(c.Samples, want) || c.Partial || c.Rate != voicescreen.MaxSampleRate {
			t.Errorf("channel %d: got %+v, %v, want samples %v", number, c, err, want)
		}
	}
}

func TestReadChannelRefuses(t *testing.T) {
	for rate, ok := range map[int]bool{
		voicescreen.MinSampleRate - 1: false, voicescreen.MinSampleRate: true,
		voicescreen.MaxSampleRate: true, voicescreen.MaxSampleRate + 1: false,
	} {
		_, err := voicescreen.ReadChannel(t.Context(), bytes.NewReader(append(streamHeader(rate, 1), 0, 0)), 0, 0)
		if (err == nil) != ok || !ok && (!errors.Is(err, voicescreen.ErrAudio) || !strings.Contains(err.Error(), "sample rate")) {
			t.Errorf("%d Hz: got %v, want taken: %t", rate, err, ok)
		}
	}
	for _, number := range []int{0, 3} {
		_, err := voicescreen.ReadChannel(t.Context(), bytes.NewReader(append(streamHeader(8000, 2), 0, 0, 0, 0)), number, 0)
		if !errors.Is(err, voicescreen.ErrAudio) {
			t.Errorf("channel %d of 2: got %v, want ErrAudio", number, err)
		}
	}
	if _, err := voicescreen.ReadChannel(t.Context(), bytes.NewReader(streamHeader(8000, 1)), 0, 0); !errors.Is(err, voicescreen.ErrAudio) || !strings.Contains(err.Error(), "no samples") {
		t.Errorf("no samples: got %v, want ErrAudio that says so", err)
	}
	broken := io.MultiReader(bytes.NewReader(streamHeader(8000, 1)), failing{})
	if _, err := voicescreen.ReadChannel(t.Context(), broken, 0, 0); !errors.Is(err, voicescreen.ErrUpload) {
		t.Errorf("broken off: got %v, want ErrUpload", err)
	}
}

// failing is a connection that broke off.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// A Measurer gives the same whatever it measured before, and measures clipping
// on the samples as they were recorded.
func TestMeasurerIsReusable(t *testing.T) {
	narrow := &voicescreen.Channel{Rate: 16000, Samples: make([]float64, 16000)}
	for i := range narrow.Samples {
		narrow.Samples[i] = min(max(1.5*math.Sin(2*math.Pi*140*float64(i)/16000), -1), 1)
	}
	want := voicescreen.NewMeasurer().Measure(narrow).Features.Values
	m := voicescreen.NewMeasurer()
	a, err := wav.Decode(bytes.NewReader(readInterview(t)), nil)
	if err != nil {
		t.Fatal(err)
	}
	m.Measure(&voicescreen.Channel{Rate: a.SampleRate, Samples: a.Samples[:10*a.SampleRate]})
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

// AnalyzeChannel is Analyze in two steps.
func TestAnalyzeChannelAgreesWithTheFile(t *testing.T) {
	opts := testOptions()
	opts.Audio.MaxDuration = time.Second
	e := newEngine(t, newMemory(t), opts)
	for name, file := range map[string][]byte{"whole": speech(), "cut short": speech()[:44+2*8000]} {
		want, err := e.Analyze(t.Context(), bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		c, err := voicescreen.ReadChannel(t.Context(), bytes.NewReader(file), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		n := len(c.Samples)
		got, err := e.AnalyzeChannel(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if got.Duration != want.Duration || got.Truncated != want.Truncated || got.Partial != want.Partial || got.SampleRate != want.SampleRate {
			t.Errorf("%s: got %v s, truncated %t, partial %t, want %v s, %t, %t", name,
				got.Duration, got.Truncated, got.Partial, want.Duration, want.Truncated, want.Partial)
		}
		for i, v := range got.Features.Values {
			if math.Float64bits(v) != math.Float64bits(want.Features.Values[i]) {
				t.Errorf("%s: feature %d: got %v, want %v", name, i, v, want.Features.Values[i])
			}
		}
		if len(c.Samples) != n || c.Partial {
			t.Errorf("%s: the channel was changed", name)
		}
	}
	if _, err := e.AnalyzeChannel(t.Context(), &voicescreen.Channel{Rate: 100, Samples: make([]float64, 100)}); !errors.Is(err, voicescreen.ErrAudio) {
		t.Errorf("100 Hz: got %v, want ErrAudio", err)
	}
}
