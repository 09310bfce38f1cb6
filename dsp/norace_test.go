//go:build !race

package dsp

// raceEnabled says that the tests run under the race detector.
const raceEnabled = false
