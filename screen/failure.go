package screen

// Failure is the reason why a session has no scores.
type Failure struct {
	Code    string             `json:"error" cbor:"1,keyasint,omitempty"`                     // such as CodeAudioLength
	Message string             `json:"message" cbor:"2,keyasint,omitempty"`                   // for people
	Data    map[string]float64 `json:"additional_data,omitempty" cbor:"3,keyasint,omitempty"` // measured values and limits, finite
}

// The codes of Failure.
const (
	CodeAudioLength  = "audio_length_error"  // less speech than a score needs
	CodeNoSpeech     = "no_speech_error"     // long enough, but without speech
	CodeAudioQuality = "audio_quality_error" // too noisy, too much clipped, or too narrow in band
	CodeAudioDecode  = "audio_decode_error"  // the stored file could not be decoded
	CodeNotSubmitted = "audio_not_submitted" // no recording was submitted
	CodeInternal     = "internal_error"      // the analysis failed at each attempt
)
