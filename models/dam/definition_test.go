package dam

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	nndef "github.com/voicescreen/voicescreen/models/internal/nn/definition"
)

type rows = nndef.Rows

// definition runs an encoder by its definition, slowly and in float64.
type definition struct {
	w      weights
	shape  Shape
	prefix string
}

func (d definition) weight(name string) []float32 { return d.w[d.prefix+name].data }

func (d definition) linear(x rows, name string) rows {
	return nndef.Linear(x, d.weight(name+".weight"), d.weight(name+".bias"))
}

func (d definition) norm(x rows, name string) rows {
	return nndef.LayerNorm(x, d.weight(name+".weight"), d.weight(name+".bias"))
}

func (d definition) attention(x rows, name string) rows {
	y := nndef.Attention(d.linear(x, name+".q_proj"), d.linear(x, name+".k_proj"), d.linear(x, name+".v_proj"), d.shape.Heads)
	return d.linear(y, name+".out_proj")
}

// convolve is a convolution of width 3 with padding 1 and GELU.
func (d definition) convolve(x rows, name string, stride int) rows {
	weight, bias := d.weight(name+".weight"), d.weight(name+".bias")
	var y rows
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
	return nndef.Each(y, nndef.GELU)
}

// run returns the mean of the encoder's output for a spectrum, band by band.
func (d definition) run(mel []float32) []float32 {
	s := d.shape
	x := make(rows, 2*s.Frames)
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
		x = nndef.Add(x, d.attention(d.norm(x, at+"self_attn_layer_norm"), at+"self_attn"))
		inner := nndef.Each(d.linear(d.norm(x, at+"final_layer_norm"), at+"fc1"), nndef.GELU)
		x = nndef.Add(x, d.linear(inner, at+"fc2"))
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
