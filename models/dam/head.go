package dam

import "math"

// dense is a linear layer of the head: few numbers, in the order of the
// checkpoint, [outputs, inputs].
type dense struct{ weight, bias []float32 }

// apply returns weight·x + bias, with sums in float64; a nil bias means zeros.
func (d dense) apply(x []float64) []float64 {
	y := make([]float64, len(d.weight)/len(x))
	for o := range y {
		for i, v := range d.weight[o*len(x):][:len(x)] {
			y[o] += float64(v) * x[i]
		}
		if d.bias != nil {
			y[o] += float64(d.bias[o])
		}
	}
	return y
}

// mish replaces each x by x·tanh(ln(1+eˣ)) (Misra 2019) and returns the slice.
func mish(x []float64) []float64 {
	for i, v := range x {
		x[i] = v * math.Tanh(math.Max(v, 0)+math.Log1p(math.Exp(-math.Abs(v))))
	}
	return x
}

// head computes the scores from the means of both encoders.
type head struct {
	hidden, shared dense
	tasks          [len(tasks)]struct{ linear, final dense }
}

func (h *head) score(embedding []float32) [len(tasks)]float64 {
	x := make([]float64, len(embedding))
	for i, v := range embedding {
		x[i] = float64(v)
	}
	x = h.shared.apply(mish(h.hidden.apply(x)))
	var scores [len(tasks)]float64
	for i, task := range h.tasks {
		scores[i] = task.final.apply(mish(task.linear.apply(x)))[0]
	}
	return scores
}
