package wav2vec

import (
	"fmt"
	"math"

	nndef "github.com/voicescreen/voicescreen/models/internal/nn/definition"
)

// definition runs a network by its definition, slowly and in float64.
type definition struct {
	w     weights
	shape Shape
}

type rows = nndef.Rows

func (d definition) linear(x rows, name string) rows {
	return nndef.Linear(x, d.w[name+".weight"], d.w[name+".bias"])
}

func (d definition) layerNorm(x rows, name string) rows {
	return nndef.LayerNorm(x, d.w[name+".weight"], d.w[name+".bias"])
}

func (d definition) channelNorm(x rows, name string) rows {
	y := make(rows, len(x))
	for t := range y {
		y[t] = make([]float64, len(x[0]))
	}
	for c := range x[0] {
		column := make([]float64, len(x))
		for t := range x {
			column[t] = x[t][c]
		}
		for t, v := range nndef.Norm(column, d.w[name+".weight"], d.w[name+".bias"], func(int) int { return c }) {
			y[t][c] = v
		}
	}
	return y
}

// features is the feature extractor.
func (d definition) features(samples []float32) rows {
	s := d.shape
	mean, variance := 0.0, 0.0
	for _, v := range samples {
		mean += float64(v) / float64(len(samples))
	}
	for _, v := range samples {
		variance += (float64(v) - mean) * (float64(v) - mean) / float64(len(samples))
	}
	x := make(rows, len(samples))
	for t, v := range samples {
		x[t] = []float64{float64(v)}
		if s.InputEpsilon > 0 {
			x[t][0] = (x[t][0] - mean) / math.Sqrt(variance+s.InputEpsilon)
		}
	}
	for layer, kernel := range s.Kernels {
		at := fmt.Sprintf("feature_extractor.conv_layers.%d.", layer)
		weight := d.w[at+"0.weight"]
		var y rows
		for t := 0; t+kernel <= len(x); t += s.Strides[layer] {
			row := make([]float64, s.Channels)
			for o := range row {
				if s.ConvBias {
					row[o] = float64(d.w[at+"0.bias"][o])
				}
				for c := range x[0] {
					for k := range kernel {
						row[o] += float64(weight[(o*len(x[0])+c)*kernel+k]) * x[t+k][c]
					}
				}
			}
			y = append(y, row)
		}
		if s.ConvNorm == LayerNorm {
			y = d.layerNorm(y, at+"2.1")
		} else if layer == 0 {
			y = d.channelNorm(y, at+"2")
		}
		x = nndef.Each(y, nndef.GELU)
	}
	return x
}

// position is the convolution for the positions.
func (d definition) position(x rows) rows {
	s := d.shape
	g, v, bias := d.w["encoder.pos_conv.0.weight_g"], d.w["encoder.pos_conv.0.weight_v"], d.w["encoder.pos_conv.0.bias"]
	size := s.Width / s.PositionGroups
	length := make([]float64, s.PositionTaps)
	for k := range length {
		for i := k; i < len(v); i += s.PositionTaps {
			length[k] += float64(v[i]) * float64(v[i])
		}
	}
	y := make(rows, len(x))
	for t := range y {
		y[t] = make([]float64, s.Width)
		for o := range y[t] {
			y[t][o] = float64(bias[o])
			for i := range size {
				for k := range s.PositionTaps {
					if from := t + k - s.PositionTaps/2; from >= 0 && from < len(x) {
						w := float64(g[k]) * float64(v[(o*size+i)*s.PositionTaps+k]) / math.Sqrt(length[k])
						y[t][o] += w * x[from][o/size*size+i]
					}
				}
			}
		}
	}
	return nndef.Each(y, nndef.GELU)
}

func (d definition) attention(x rows, name string) rows {
	y := nndef.Attention(d.linear(x, name+".q_proj"), d.linear(x, name+".k_proj"), d.linear(x, name+".v_proj"), d.shape.Heads)
	return d.linear(y, name+".out_proj")
}

// hidden returns the input of the first layer and the output of each.
func (d definition) hidden(features rows) []rows {
	x := d.linear(d.layerNorm(features, "layer_norm"), "post_extract_proj")
	x = nndef.Add(x, d.position(x))
	if !d.shape.NormFirst {
		x = d.layerNorm(x, "encoder.layer_norm")
	}
	states := []rows{x}
	for i := range d.shape.Layers {
		at := fmt.Sprintf("encoder.layers.%d.", i)
		inner := func(x rows) rows { return d.linear(nndef.Each(d.linear(x, at+"fc1"), nndef.GELU), at+"fc2") }
		if d.shape.NormFirst {
			x = nndef.Add(x, d.attention(d.layerNorm(x, at+"self_attn_layer_norm"), at+"self_attn"))
			x = nndef.Add(x, inner(d.layerNorm(x, at+"final_layer_norm")))
		} else {
			x = d.layerNorm(nndef.Add(x, d.attention(x, at+"self_attn")), at+"self_attn_layer_norm")
			x = d.layerNorm(nndef.Add(x, inner(x)), at+"final_layer_norm")
		}
		states = append(states, x)
	}
	if last := len(states) - 1; d.shape.NormFirst {
		states[last] = d.layerNorm(states[last], "encoder.layer_norm")
	}
	return states
}

// logits is the head. It projects each frame before the mean, as the publishers do.
func (d definition) logits(states []rows) []float64 {
	x := states[len(states)-1]
	if d.shape.WeightedSum {
		sum := 0.0
		for _, v := range d.w["layer_weights"] {
			sum += math.Exp(float64(v))
		}
		mixed := make(rows, len(x))
		for t := range x {
			mixed[t] = make([]float64, len(x[t]))
			for i := range x[t] {
				for l, state := range states {
					mixed[t][i] += math.Exp(float64(d.w["layer_weights"][l])) / sum * state[t][i]
				}
			}
		}
		x = mixed
	}
	if d.shape.Projection > 0 {
		x = d.linear(x, "projector")
	}
	mean := make([]float64, len(x[0]))
	for _, row := range x {
		for i, v := range row {
			mean[i] += v / float64(len(x))
		}
	}
	return d.linear(rows{mean}, "classifier")[0]
}
