//go:build !race

package cost

const raceFactor = 1

// Size is the size of a crafted input of a test, in bytes: large enough that Slack matters
// little. It is smaller under the race detector, where a byte takes up to a hundred times as
// long.
const Size = 1 << 20
