package main

import (
	"fmt"
	"math"
	"strconv"
)

// number is a measure in JSON: null where it is undefined.
type number float64

func (n number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, v, 'g', -1, 64), nil
}

// text is a measure for people: "undefined" if it is.
func text(v float64, format string) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "undefined"
	}
	return fmt.Sprintf(format, v)
}
