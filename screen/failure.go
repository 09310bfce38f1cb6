package screen

// Failure says why a session has no scores.
type Failure struct {
	Code    string             `json:"error" cbor:"1,keyasint,omitempty"`                     // such as CodeAudioLength
	Message string             `json:"message" cbor:"2,keyasint,omitempty"`                   // for people
	Data    map[string]float64 `json:"additional_data,omitempty" cbor:"3,keyasint,omitempty"` // measured and limiting values
}

// The codes of Failure.
const (
	CodeAudioLength  = "audio_length_error"  // less speech than a score needs
	CodeNoSpeech     = "no_speech_error"     // long enough, and nobody speaks
	CodeAudioQuality = "audio_quality_error" // too much noise or clipping, or too narrow a band
	CodeAudioDecode  = "audio_decode_error"  // the stored file could not be decoded
	CodeNotSubmitted = "audio_not_submitted" // no recording has come
	CodeInternal     = "internal_error"      // the analysis failed more often than it is tried
)
