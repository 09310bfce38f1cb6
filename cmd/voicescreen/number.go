package main

import (
	"fmt"
	"math"

	"github.com/voicescreen/voicescreen/internal/stats"
)

// number is a measure in JSON: null where it is undefined.
type number = stats.Number

// text is a measure for people: "undefined" if it is.
func text(v float64, format string) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "undefined"
	}
	return fmt.Sprintf(format, v)
}
