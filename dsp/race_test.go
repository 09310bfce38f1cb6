//go:build race

package dsp

// raceEnabled says that the tests run under the race detector, ten times
// slower.
const raceEnabled = true
