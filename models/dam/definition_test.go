package dam

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// definition runs an encoder by its definition, slowly and in float64.
type definition struct {
	w      weights
	shape  Shape
	prefix string
}

func (d definition) weight(name string) []float32 { return d.w[d.prefix+name].data }

// linear multiplies rows of x with the weight and adds the bias, if there is one.
func (d definition) linear(x [][]float64, name string) [][]float64 {
	weight, bias := d.weight(name+".weight"), d.weight(name+".bias")
	outputs := len(weight) / len(x[0])
	y := make([][]float64, len(x))
	for t, row := range x {
		y[t] = make([]float64, outputs)
		for o := range y[t] {
			for i, v := range row {
				y[t][o] += float64(weight[o*len(row)+i]) * v
			}
			if bias != nil {
				y[t][o] += float64(bias[o])
			}
		}
	}
	return y
}

// convolve is a convolution of width 3 with padding 1 and GELU.
func (d definition) convolve(x [][]float64, name string, stride int) [][]float64 {
	weight, bias := d.weight(name+".weight"), d.weight(name+".bias")
	var y [][]float64
	for t := 0; t < len(x); t += stride {
		row := make([]float64, len(bias))
		for o := range row {
			row[o] = float64(bias[o])
			for c := range x[0] {
				for k := range 3 {
					if at := t + k - 1; at >= 0 && at < len(x) {
						row[o] += float64(weight[(o*len(x[0])+c)*3+k]) * x[at][c]
					}
				}
			}
		}
		y = append(y, row)
	}
	return each(y, func(v float64) float64 { return v / 2 * (1 + math.Erf(v/math.Sqrt2)) })
}

func each(x [][]float64, f func(float64) float64) [][]float64 {
	for _, row := range x {
		for i, v := range row {
			row[i] = f(v)
		}
	}
	return x
}

func (d definition) norm(x [][]float64, name string) [][]float64 {
	y := make([][]float64, len(x))
	for t, row := range x {
		mean, variance := 0.0, 0.0
		for _, v := range row {
			mean += v / float64(len(row))
		}
		for _, v := range row {
			variance += (v - mean) * (v - mean) / float64(len(row))
		}
		y[t] = make([]float64, len(row))
		for i, v := range row {
			y[t][i] = (v-mean)/math.Sqrt(variance+1e-5)*float64(d.weight(name + ".weight")[i]) + float64(d.weight(name + ".bias")[i])
		}
	}
	return y
}

func (d definition) attention(x [][]float64, name string) [][]float64 {
	q, k, v := d.linear(x, name+".q_proj"), d.linear(x, name+".k_proj"), d.linear(x, name+".v_proj")
	size := d.shape.Width / d.shape.Heads
	y := make([][]float64, len(x))
	for t := range x {
		y[t] = make([]float64, d.shape.Width)
		for from := 0; from < d.shape.Width; from += size {
			total := 0.0
			for u := range x {
				score := 0.0
				for i := from; i < from+size; i++ {
					score += q[t][i] * k[u][i] / math.Sqrt(float64(size))
				}
				p := math.Exp(score)
				total += p
				for i := from; i < from+size; i++ {
					y[t][i] += p * v[u][i]
				}
			}
			for i := from; i < from+size; i++ {
				y[t][i] /= total
			}
		}
	}
	return d.linear(y, name+".out_proj")
}

func add(x, y [][]float64) {
	for t, row := range y {
		for i, v := range row {
			x[t][i] += v
		}
	}
}

// run returns the mean of the encoder's output for a spectrum, band by band.
func (d definition) run(mel []float32) []float32 {
	s := d.shape
	x := make([][]float64, 2*s.Frames)
	for t := range x {
		for b := range s.Mels {
			x[t] = append(x[t], float64(mel[b*2*s.Frames+t]))
		}
	}
	x = d.convolve(d.convolve(x, "conv1", 1), "conv2", 2)
	for t, row := range x {
		for i := range row {
			row[i] += float64(d.weight("embed_positions.weight")[t*s.Width+i])
		}
	}
	for i := range s.Layers {
		at := fmt.Sprintf("layers.%d.", i)
		add(x, d.attention(d.norm(x, at+"self_attn_layer_norm"), at+"self_attn"))
		inner := each(d.linear(d.norm(x, at+"final_layer_norm"), at+"fc1"), func(v float64) float64 {
			return v / 2 * (1 + math.Erf(v/math.Sqrt2))
		})
		add(x, d.linear(inner, at+"fc2"))
	}
	mean := make([]float32, s.Width)
	for i := range mean {
		sum := 0.0
		for _, row := range d.norm(x, "layer_norm") {
			sum += row[i]
		}
		mean[i] = float32(sum / float64(s.Frames))
	}
	return mean
}

// TestOddShapesAreTheDefinition runs shapes that do not fill a tile, block or
// register, beginning with one frame and one head of one number. A block of
// queries has 48.
func TestOddShapesAreTheDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	shapes := []Shape{
		{Mels: 1, Frames: 1, Width: 2, Heads: 2, Inner: 1, Layers: 1, Hidden: 1, Shared: 1, Task: 1},
		{Mels: 3, Frames: 48, Width: 15, Heads: 5, Inner: 7, Layers: 1, Hidden: 2, Shared: 2, Task: 2},
		{Mels: 5, Frames: 2*48 + 1, Width: 34, Heads: 2, Inner: 33, Layers: 1, Hidden: 2, Shared: 2, Task: 2},
	}
	for range 6 {
		heads := 1 + r.IntN(4)
		shapes = append(shapes, Shape{
			Mels: 1 + r.IntN(20), Frames: 1 + r.IntN(60), Width: heads * (2 + r.IntN(12)), Heads: heads,
			Inner: 1 + r.IntN(50), Layers: 1 + r.IntN(2), Hidden: 3, Shared: 3, Task: 3,
		})
	}
	for i, s := range shapes {
		weights := randomWeights(s, uint64(i))
		mel := seededMel(s, i)
		got, err := newNetwork(t, s, weights.read, &Options{Threads: 2}).Embed(context.Background(), nil, mel)
		if err != nil {
			t.Fatal(err)
		}
		for j, name := range encoders {
			want := definition{weights, s, "backbone." + name + ".backbone."}.run(mel)
			compare(t, fmt.Sprintf("%+v %s", s, name), got[j*s.Width:][:s.Width], want, max(1, largest(want)), outputTolerance)
		}
	}
}
