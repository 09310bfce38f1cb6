package stats

import (
	"math"
	"strconv"
)

// Number is a figure. In JSON an undefined figure is null.
type Number float64

// MarshalJSON writes NaN and the infinities as null.
func (n Number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, v, 'g', -1, 64), nil
}

// Significant rounds x to a number of significant decimal digits, half away from 0.
func Significant(x float64, digits int) float64 {
	if x == 0 {
		return 0
	}
	p := math.Pow(10, float64(digits-1)-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*p) / p
}

// Decimals rounds x to a number of digits after the decimal point, half away from 0.
func Decimals(x float64, digits int) float64 {
	p := math.Pow(10, float64(digits))
	return math.Round(x*p) / p
}

// Indicator returns 1 if b is true, and 0 otherwise.
func Indicator(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Indices returns 0 to n − 1.
func Indices(n int) []int {
	index := make([]int, n)
	for i := range index {
		index[i] = i
	}
	return index
}
