package dsp

import "github.com/mjibson/go-dsp/window"

// Hamming returns the symmetric Hamming window of n ≥ 0 points in a new slice,
// w[j] = 0.54 − 0.46·cos(2π·j/(n−1)), the window of HTK (The HTK Book 3.4, section
// 5.2).
func Hamming(n int) []float64 { return window.Hamming(n) }

// PeriodicHann returns the first n ≥ 0 points of the Hann window of n+1 in a new slice,
// w[j] = ½ − ½·cos(2π·j/n) (F. Harris, "On the use of windows for harmonic analysis with
// the discrete Fourier transform", Proc. IEEE 66, 1978, 51–83). It is centred on the point
// n/2, and only three values of its DFT are not 0.
func PeriodicHann(n int) []float64 { return window.Hann(n + 1)[:n] }
