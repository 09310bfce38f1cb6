package lanes

// Sum is Σ x[i] of each lane.
func Sum(x []float64) [Count]float64 { return sum(x, hasAVX2) }

// Dot is Σ w[i]·x[i] of each lane.
func Dot(x, w []float64) [Count]float64 { return dot(x, w, hasAVX2) }

// Squares is Σ x[i]² of each lane.
func Squares(x []float64) [Count]float64 { return squares(x, hasAVX2) }

// Change is Σ (x[i] − b[i])² of each lane, where b are the numbers of the frames two before:
// the last two of before, and the first two of x.
func Change(x, before []float64) [Count]float64 { return change(x, before, hasAVX2) }

// Highest is the largest x[i] of each lane, of at least one.
func Highest(x []float64) [Count]float64 { return highest(x, hasAVX2) }

// Unload sets the rows, each as long as x has groups of lanes, to x[i] of each lane.
func Unload(rows *[Count][]float64, x []float64) { unload(rows, x, hasAVX2) }
