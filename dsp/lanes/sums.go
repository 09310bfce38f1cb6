package lanes

// Sum is Σ x[i] of each lane.
func Sum(x []float64) [Count]float64 { return sum(x, hasAVX2) }

// Highest is the largest x[i] of each lane, of at least one.
func Highest(x []float64) [Count]float64 { return highest(x, hasAVX2) }

// Unload sets the rows, each as long as x has groups of lanes, to x[i] of each lane.
func Unload(rows *[Count][]float64, x []float64) { unload(rows, x, hasAVX2) }
