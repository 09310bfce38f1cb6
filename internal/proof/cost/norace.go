//go:build !race

package cost

// Race is whether the race detector is on, under which arithmetic takes some ten times as
// long.
const Race = false

const raceFactor = 1

// Size is the size of a crafted input of a test, in bytes: large enough that Slack matters
// little. It is smaller under the race detector, where a byte takes up to a hundred times as
// long.
const Size = 1 << 20

// Sized returns full, the size of a proof in the ordinary run of the tests. Under the race
// detector, which looks for races and not for figures, it returns race instead: a smaller
// size, or the bound that a figure of that size supports.
func Sized[T any](full, _ T) T { return full }
