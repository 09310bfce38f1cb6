package screen

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

var cautions = NewEnum[Caution]("caution", "little_speech", "noisy", "narrow_band", "unfamiliar", "several_voices")

// Valid says whether c is one of the values.
func (c Caution) Valid() bool { return cautions.Valid(c) }

func (c Caution) String() string                { return cautions.String(c) }
func (c Caution) MarshalText() ([]byte, error)  { return cautions.MarshalText(c) }
func (c *Caution) UnmarshalText(b []byte) error { return cautions.Unmarshal(c, b) }
