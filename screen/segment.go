package screen

import "encoding/json"

// Segment is the score of a stretch of a recording. By the shipped model a recording of
// up to 4 s is one segment, and a longer one is divided into the fewest segments of
// equal length up to 4 s; other models say how they divide it. A replaced part of a recording shows as segments that differ.
type Segment struct {
	Start       float64 `cbor:"1,keyasint"` // seconds from the beginning
	End         float64 `cbor:"2,keyasint"` // seconds from the beginning
	Probability float64 `cbor:"3,keyasint"` // calibrated as that of the recording; NaN with too little speech
}

// segmentJSON is a Segment in JSON.
type segmentJSON struct {
	Start       float64  `json:"start_seconds"`
	End         float64  `json:"end_seconds"`
	Probability *float64 `json:"probability"`
}

// MarshalJSON writes a probability that is NaN as null.
func (s Segment) MarshalJSON() ([]byte, error) {
	return json.Marshal(segmentJSON{s.Start, s.End, orNull(s.Probability)})
}

// UnmarshalJSON reads a probability that is null or missing as NaN.
func (s *Segment) UnmarshalJSON(b []byte) error {
	var in segmentJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*s = Segment{in.Start, in.End, orNaN(in.Probability)}
	return nil
}
