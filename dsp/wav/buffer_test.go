package wav_test

import (
	"errors"
	"math"
	"testing"

	"github.com/go-audio/audio"

	"github.com/voicescreen/voicescreen/dsp/wav"
)

func TestFromBuffer(t *testing.T) {
	mono := &audio.Format{NumChannels: 1, SampleRate: 44100}
	stereo := &audio.Format{NumChannels: 2, SampleRate: 16000}
	tests := []struct {
		name    string
		buf     audio.Buffer
		channel int
		want    []float64
	}{
		{"16-bit ints", &audio.IntBuffer{Format: mono, Data: []int{-32768, 0, 16384, 32767}, SourceBitDepth: 16}, 0, []float64{-1, 0, 0.5, 32767. / 32768}},
		{"8-bit ints are unsigned", &audio.IntBuffer{Format: mono, Data: []int{0, 128, 192}, SourceBitDepth: 8}, 1, []float64{-1, 0, 0.5}},
		{"second of two channels", &audio.IntBuffer{Format: stereo, Data: []int{1, 1 << 22, 1, -1 << 23}, SourceBitDepth: 24}, 2, []float64{0.5, -1}},
		{"incomplete frame is dropped", &audio.IntBuffer{Format: stereo, Data: []int{0, 1 << 14, 0}, SourceBitDepth: 16}, 2, []float64{0.5}},
		{"float64", &audio.FloatBuffer{Format: mono, Data: []float64{0.25, -1.5}}, 0, []float64{0.25, -1.5}},
		{"float32", &audio.Float32Buffer{Format: mono, Data: []float32{0.25, -1}}, 0, []float64{0.25, -1}},
		{"PCM of int8", &audio.PCMBuffer{Format: mono, DataType: audio.DataTypeI8, I8: []int8{-128, 64}}, 0, []float64{-1, 0.5}},
		{"PCM of int16", &audio.PCMBuffer{Format: mono, DataType: audio.DataTypeI16, I16: []int16{-32768, 16384}}, 0, []float64{-1, 0.5}},
		{"PCM of int32, 3 bytes deep", &audio.PCMBuffer{Format: mono, DataType: audio.DataTypeI32, I32: []int32{1 << 22}, SourceBitDepth: 3}, 0, []float64{0.5}},
		{"PCM of float64", &audio.PCMBuffer{Format: mono, DataType: audio.DataTypeF64, F64: []float64{0.5}}, 0, []float64{0.5}},
		{"empty", &audio.FloatBuffer{Format: mono}, 0, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := wav.FromBuffer(tt.buf, tt.channel)
			if err != nil {
				t.Fatal(err)
			}
			if i := firstDifference(a.Samples, tt.want); i >= 0 {
				t.Errorf("got %v, want %v", a.Samples, tt.want)
			}
			if f := tt.buf.PCMFormat(); a.SampleRate != f.SampleRate || a.Channels != f.NumChannels {
				t.Errorf("got format %v, want %+v", a.Format, f)
			}
		})
	}
}

func TestFromBufferRefuses(t *testing.T) {
	mono := &audio.Format{NumChannels: 1, SampleRate: 44100}
	for name, buf := range map[string]audio.Buffer{
		"nil":                   nil,
		"nil buffer":            (*audio.IntBuffer)(nil),
		"no format":             &audio.FloatBuffer{Data: []float64{0}},
		"no depth":              &audio.IntBuffer{Format: mono, Data: []int{1}},
		"out of range":          &audio.IntBuffer{Format: mono, Data: []int{32768}, SourceBitDepth: 16},
		"signed 8 bits":         &audio.IntBuffer{Format: mono, Data: []int{-1}, SourceBitDepth: 8},
		"NaN":                   &audio.FloatBuffer{Format: mono, Data: []float64{math.NaN()}},
		"no rate":               &audio.FloatBuffer{Format: &audio.Format{NumChannels: 1}, Data: []float64{0}},
		"no channels":           &audio.FloatBuffer{Format: &audio.Format{SampleRate: 8000}, Data: []float64{0}},
		"PCM without data type": &audio.PCMBuffer{Format: mono},
	} {
		a, err := wav.FromBuffer(buf, 0)
		var f wav.FormatError
		if a != nil || !errors.As(err, &f) {
			t.Errorf("%s: got %v, %v, want a FormatError", name, a, err)
		}
	}
	_, err := wav.FromBuffer(&audio.FloatBuffer{Format: &audio.Format{NumChannels: 2, SampleRate: 8000}, Data: []float64{0, 0}}, 0)
	var c *wav.ChannelError
	if !errors.As(err, &c) {
		t.Errorf("two channels: got %v, want a ChannelError", err)
	}
}
