package models

// bendWidth is how far below 0, and above Calibration.Half, logits are bent. Chosen: with
// ¼, ½ and 1 the calibration errors of the deepfake model are 0.037, 0.042 and 0.047
// nested and 0.058, 0.060 and 0.066 of systems since 2023; see docs/DEEPFAKE-TRIALS.md.
const bendWidth = 0.25

// Calibration maps η to x = A·η + B before the link (Platt 1999), and with a Half above 0
// bends x so that it is 0 at Half:
//
//	x                      for x ≤ −w and x ≥ Half + w, w = ¼,
//	w·(x − Half)/(Half + w) between −w and Half,
//	(Half + w)·(x − Half)/w between Half and Half + w.
//
// A probability of one half then needs the evidence Half, such as few false alarms ask
// for, and the probabilities further away keep their meaning.
type Calibration struct {
	A    float64 `json:"a"` // > 0
	B    float64 `json:"b"`
	Half float64 `json:"half,omitempty"` // ≥ 0
}

// Of is the calibrated η. It grows with η.
func (c Calibration) Of(eta float64) float64 {
	x := c.A*eta + c.B
	switch {
	case c.Half == 0 || x <= -bendWidth || x >= c.Half+bendWidth:
		return x
	case x < c.Half:
		return bendWidth * (x - c.Half) / (c.Half + bendWidth)
	default:
		return (c.Half + bendWidth) * (x - c.Half) / bendWidth
	}
}
