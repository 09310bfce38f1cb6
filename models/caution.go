package models

import "slices"

// Caution is why a score is less sure than it looks.
type Caution uint8

const (
	// LittleSpeech: less than two seconds of speech, or next to no voice in
	// what there is. The decision is then Indeterminate.
	LittleSpeech Caution = iota + 1
	// Noisy: speech less than cautionSNR above the noise.
	Noisy
	// NarrowBand: nothing above cautionBandwidth, as through a telephone.
	NarrowBand
	// Unfamiliar: unlike every recording that the model was trained on, such
	// as music or a tone. The decision is then Indeterminate.
	Unfamiliar
	// SeveralVoices: the pitch changes from one stretch of speech to the next as
	// if two people took turns. A heuristic, which misses voices alike.
	SeveralVoices
)

var cautionNames = names{"little_speech", "noisy", "narrow_band", "unfamiliar", "several_voices"}

func (c Caution) String() string               { return cautionNames.name(uint8(c), "Caution") }
func (c Caution) MarshalText() ([]byte, error) { return cautionNames.marshal(uint8(c), "caution") }
func (c *Caution) UnmarshalText(b []byte) error {
	v, err := cautionNames.parse(b, "caution")
	*c = Caution(v)
	return err
}

const (
	cautionSpeech = 2.0 // seconds: what the service wants of a recording

	// cautionSNR in dB is not reached by 5 % of the 1,337 clips that the model
	// was made with and measured on, and by 31 % of those to which noise was
	// added 12 to 35 dB below them.
	cautionSNR = 18.0

	// cautionBandwidth in Hz is what a rate of 8 kHz can carry and what
	// resamplers leave above; 2 % of those clips do not reach it.
	cautionBandwidth = 5000.0
)

// Cautions lists what is known against any score of the recording, in
// ascending order. Where nothing was analysed nothing is known.
func (in *Recording) Cautions() []Caution {
	a := in.Analysis
	if a == nil {
		return nil
	}
	var c []Caution
	if a.SpeechDuration() < cautionSpeech {
		c = append(c, LittleSpeech)
	}
	if a.Quality.SNR < cautionSNR {
		c = append(c, Noisy)
	}
	if a.Quality.Bandwidth < cautionBandwidth {
		c = append(c, NarrowBand)
	}
	if severalVoices(a) {
		c = append(c, SeveralVoices)
	}
	return c
}

// cautions lists what is known against the score of a recording, in ascending
// order.
func (l *Linear) cautions(in *Recording, p *prediction, enough bool) []Caution {
	c := in.Cautions()
	if !enough && !slices.Contains(c, LittleSpeech) {
		c = append(c, LittleSpeech)
	}
	if k := l.file.Kernel; k != nil && p.nearest < k.Familiar {
		c = append(c, Unfamiliar)
	}
	slices.Sort(c)
	return c
}
