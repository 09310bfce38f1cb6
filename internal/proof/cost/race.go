//go:build race

package cost

// raceFactor is how many times longer a call may take under the race detector,
// whose documentation says 2 to 20 times.
const raceFactor = 10

// Size is that of a crafted input where the race detector makes every byte slow.
const Size = 1 << 17
