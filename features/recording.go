package features

import (
	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/screen"
)

// A Recording is what a scorer may ask for. It is shared between scorers, which
// must not change it. It is valid only during the call of Score.
type Recording struct {
	Features   Vector        // of schema voice/1, computed once
	Analysis   *dsp.Analysis // what the features were computed from
	Samples    []float64     // mono at dsp.SampleRate; none if the recording is read from Source
	Native     []float64     // mono at NativeRate; the same slice as Samples when the rates agree
	Source     *Source       // mono at NativeRate, read in blocks; nil if the samples are in memory
	NativeRate int           // Hz
	Metadata   screen.Metadata

	Lossy bool // whether the recording was encoded with loss

	Speech screen.Speech // how the person spoke; 0 if that is not known

	// FixedGain is whether the caller says that all recordings are made with
	// the same gain, so that their level means something.
	FixedGain bool

	// Earlier is the features, of schema voice/1, of earlier recordings of the
	// same person that this one may be compared with; often none.
	Earlier []Vector
}

// Mono returns what reads the recording at its own rate, the number of its samples and
// that rate in Hz: from Native, from Source, or, where the rate is out of dsp's range,
// from Samples at dsp.SampleRate.
func (in *Recording) Mono() (src dsp.Samples, n, rate int) {
	usable := in.NativeRate >= dsp.MinResampleRate && in.NativeRate <= dsp.MaxResampleRate
	switch {
	case len(in.Native) > 0 && usable:
		return dsp.NewSamples(in.Native), len(in.Native), in.NativeRate
	case in.Source != nil && len(in.Samples) == 0:
		return in.Source, in.Source.Len(), in.Source.Rate()
	}
	return dsp.NewSamples(in.Samples), len(in.Samples), dsp.SampleRate
}
