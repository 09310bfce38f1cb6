//go:build race

package cost

// raceFactor is how many times as long a call may take under the race detector. Its
// documentation says 2 to 20 times.
const raceFactor = 10

// Size is the size of a crafted input of a test, in bytes, under the race detector.
const Size = 1 << 17
