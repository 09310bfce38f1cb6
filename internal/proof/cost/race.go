//go:build race

package cost

// Race is whether the race detector is on.
const Race = true

// raceFactor is how many times as long a call may take under the race detector. Its
// documentation says 2 to 20 times.
const raceFactor = 10

// Size is the size of a crafted input of a test, in bytes, under the race detector.
const Size = 1 << 17

// Sized returns race: the size of a proof under the race detector.
func Sized[T any](_, race T) T { return race }
