package dsp

import (
	"math"

	"github.com/mjibson/go-dsp/window"
)

// Hann returns the symmetric Hann window of n ≥ 0 points in a new slice,
// w[j] = ½ − ½·cos(2π·j/(n−1)), whose first and last points are 0 (F. Harris, "On the
// use of windows for harmonic analysis with the discrete Fourier transform", Proc.
// IEEE 66, 1978, 51–83).
func Hann(n int) []float64 { return window.Hann(n) }

// Hamming returns the symmetric Hamming window of n ≥ 0 points in a new slice,
// w[j] = 0.54 − 0.46·cos(2π·j/(n−1)), the window of HTK (The HTK Book 3.4, section
// 5.2).
func Hamming(n int) []float64 { return window.Hamming(n) }

// PeriodicHann returns the first n ≥ 0 points of the Hann window of n+1 in a new slice,
// w[j] = ½ − ½·cos(2π·j/n). It is centred on the point n/2, and only three values of
// its DFT are not 0.
func PeriodicHann(n int) []float64 { return window.Hann(n + 1)[:n] }

// Gaussian returns the Gaussian window of n ≥ 0 points in a new slice. It is that of P.
// Boersma, "Accurate short-term analysis of the fundamental frequency and the
// harmonics-to-noise ratio of a sampled sound", IFA Proceedings 17 (1993), 97–110, note
// on the Gaussian window,
//
//	w(t) = (exp(−12·(2t/T − 1)²) − e⁻¹²) / (1 − e⁻¹²)
//
// taken at the midpoints t/T = (j+½)/n. It is symmetric and falls to 0 at both
// ends. Its effective length is half its length.
func Gaussian(n int) []float64 {
	const a = 12
	edge := math.Exp(-a)
	w := make([]float64, n)
	for j := range w {
		u := float64(2*j+1-n) / float64(n) // 2t/T − 1
		w[j] = (math.Exp(-a*u*u) - edge) / (1 - edge)
	}
	return w
}
