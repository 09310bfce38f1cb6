//go:build !race

package cost

const raceFactor = 1

// Size is how large a crafted input of a test is, in bytes: with it the slack
// counts little. Under the race detector it is less, for the sake of the time:
// there every byte takes a hundred times as long.
const Size = 1 << 20
