package dam

import (
	"fmt"
	"iter"
)

// Shape is the sizes of a network.
type Shape struct {
	Mels   int // bands of the log-mel spectrum
	Frames int // frames after the second convolution, half those of the spectrum
	Width  int // of the residual stream
	Heads  int // of the attention; Width is a multiple of it
	Inner  int // width of the feed-forward layers
	Layers int // of each encoder
	Hidden int // first layer of the shared head
	Shared int // second layer of the shared head
	Task   int // first layer of each task's head
}

// Published is the shape of DAM 3.1: Whisper-small.en twice, and its head.
var Published = Shape{
	Mels: 80, Frames: 1500, Width: 768, Heads: 12, Inner: 3072, Layers: 12,
	Hidden: 256, Shared: 64, Task: 128,
}

// encoders names the encoders, in the order of their means in the input of the
// head.
var encoders = [2]string{"audio", "llma"}

// tasks names the tasks in the order of [Scores].
var tasks = [2]string{"depression", "anxiety"}

// check returns an error that wraps ErrWeights if a size is invalid.
func (s Shape) check() error {
	for _, size := range []struct {
		name  string
		value int
	}{
		{"mels", s.Mels}, {"frames", s.Frames}, {"width", s.Width}, {"heads", s.Heads}, {"inner", s.Inner},
		{"layers", s.Layers}, {"hidden", s.Hidden}, {"shared", s.Shared}, {"task", s.Task},
	} {
		if size.value < 1 {
			return fmt.Errorf("%w: shape has %s %d, want at least 1", ErrWeights, size.name, size.value)
		}
	}
	if s.Width%s.Heads != 0 {
		return fmt.Errorf("%w: shape has width %d, want a multiple of its %d heads", ErrWeights, s.Width, s.Heads)
	}
	return nil
}

// isEven reports whether the rows of every product divide into pairs.
func (s Shape) isEven() bool {
	return s.Mels%2 == 0 && s.Width/s.Heads%2 == 0 && s.Inner%2 == 0
}

// Tensors yields the name and the dimensions of every tensor of the network,
// each once, in the order in which [NewNetwork] reads them. The names are the
// keys of the checkpoint after the adapters are folded in: without
// "base_model.model.", ".base_layer" and ".modules_to_save.default". A linear
// layer's weight is [outputs, inputs], a convolution's [outputs, inputs, taps].
func (s Shape) Tensors() iter.Seq2[string, []int] {
	return func(yield func(string, []int) bool) {
		for _, encoder := range encoders {
			for name, dims := range s.encoder() {
				if !yield("backbone."+encoder+".backbone."+name, dims) {
					return
				}
			}
		}
		for name, dims := range s.head() {
			if !yield("head."+name, dims) {
				return
			}
		}
	}
}

// encoder yields the tensors of one encoder.
func (s Shape) encoder() iter.Seq2[string, []int] {
	return func(yield func(string, []int) bool) {
		put := func(name string, dims ...int) bool { return yield(name, dims) }
		ok := put("conv1.weight", s.Width, s.Mels, 3) && put("conv1.bias", s.Width) &&
			put("conv2.weight", s.Width, s.Width, 3) && put("conv2.bias", s.Width) &&
			put("embed_positions.weight", s.Frames, s.Width)
		for i := 0; ok && i < s.Layers; i++ {
			at := fmt.Sprintf("layers.%d.", i)
			ok = put(at+"self_attn_layer_norm.weight", s.Width) && put(at+"self_attn_layer_norm.bias", s.Width) &&
				put(at+"self_attn.q_proj.weight", s.Width, s.Width) && put(at+"self_attn.q_proj.bias", s.Width) &&
				put(at+"self_attn.k_proj.weight", s.Width, s.Width) &&
				put(at+"self_attn.v_proj.weight", s.Width, s.Width) && put(at+"self_attn.v_proj.bias", s.Width) &&
				put(at+"self_attn.out_proj.weight", s.Width, s.Width) && put(at+"self_attn.out_proj.bias", s.Width) &&
				put(at+"final_layer_norm.weight", s.Width) && put(at+"final_layer_norm.bias", s.Width) &&
				put(at+"fc1.weight", s.Inner, s.Width) && put(at+"fc1.bias", s.Inner) &&
				put(at+"fc2.weight", s.Width, s.Inner) && put(at+"fc2.bias", s.Width)
		}
		_ = ok && put("layer_norm.weight", s.Width) && put("layer_norm.bias", s.Width)
	}
}

// head yields the tensors of the head.
func (s Shape) head() iter.Seq2[string, []int] {
	return func(yield func(string, []int) bool) {
		put := func(name string, dims ...int) bool { return yield(name, dims) }
		ok := put("shared_layers.shared_layers.0.weight", s.Hidden, len(encoders)*s.Width) &&
			put("shared_layers.shared_layers.0.bias", s.Hidden) &&
			put("shared_layers.shared_layers.2.weight", s.Shared, s.Hidden) &&
			put("shared_layers.shared_layers.2.bias", s.Shared)
		for _, task := range tasks {
			at := "classifier_head." + task + "."
			ok = ok && put(at+"linear.weight", s.Task, s.Shared) && put(at+"linear.bias", s.Task) &&
				put(at+"final_layer.weight", 1, s.Task)
		}
	}
}

// count returns the number of elements of a tensor of these dimensions.
func count(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}
