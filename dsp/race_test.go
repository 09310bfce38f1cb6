//go:build race

package dsp_test

// raceEnabled is whether the tests run under the race detector, ten times slower.
const raceEnabled = true
