package screen

// Caution is a reason to trust a score less than its interval suggests.
type Caution uint8

const (
	// LittleSpeech: less than two seconds of speech, or almost no voiced
	// speech. The decision is then Indeterminate.
	LittleSpeech Caution = iota + 1
	// Noisy: the level of speech is less than 18 dB above that of the noise.
	Noisy
	// NarrowBand: no sound above 5 kHz, as through a telephone.
	NarrowBand
	// Unfamiliar: the recording differs from all that the model was trained
	// on, as music or a tone does. The decision is then Indeterminate.
	Unfamiliar
	// SeveralVoices: the pitch changes from one stretch of speech to the next as
	// if two people took turns. This heuristic misses people of similar pitch.
	SeveralVoices
	// ShortSpeech: less speech than RecommendedSpeech. The score is drawn towards the
	// average, and its interval is wider. The decision stays.
	ShortSpeech
	// Lossy: the recording was encoded with loss, as MP3, Opus, A-law, µ-law or
	// IMA ADPCM. Opus at the bit rates of speech raises the deepfake score of people.
	Lossy
)

// RecommendedSpeech is how many seconds of speech are recommended for depression and
// anxiety: from the first on a score has no caution ShortSpeech, and more than the
// second adds little. Chosen: scores of neural models on 160 people had an AUC of 0.75
// at 20 s, 0.76 at 40 s, 0.85 at 80 s and 0.83 at 120 s (yunhan-lin,
// depression-speech-biomarker).
var RecommendedSpeech = [2]float64{60, 90}

var cautions = NewEnum[Caution]("caution", "little_speech", "noisy", "narrow_band", "unfamiliar", "several_voices", "short_speech", "lossy")

// Valid reports whether c is one of the values; the zero value is not.
func (c Caution) Valid() bool { return cautions.Valid(c) }

func (c Caution) String() string                { return cautions.String(c) }
func (c Caution) MarshalText() ([]byte, error)  { return cautions.MarshalText(c) }
func (c *Caution) UnmarshalText(b []byte) error { return cautions.Unmarshal(c, b) }
