package dam

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/voicescreen/voicescreen/models/internal/nn/tensorfile"
)

const (
	// loraRank and loraScale are those of the published adapters: rank 32 and
	// α 64. The weight in use is base + (64/32)·B·A (Hu et al. 2021, "LoRA:
	// low-rank adaptation of large language models", section 4.1).
	loraRank  = 32
	loraScale = 64.0 / loraRank
)

// checkpoint is a checkpoint of DAM.
type checkpoint struct{ *tensorfile.Checkpoint }

// source holds the keys of a checkpoint that make one tensor of the network.
type source struct {
	base string // the weight, or the base of an adapted one
	a, b string // the factors of the low-rank update, or ""
}

// adapters returns the source of each tensor of the network. Keys may contain
// "base_model.model.". The weight of a linear layer X has the key X.weight, or
// with an adapter the keys X.base_layer.weight, X.lora_A.default.weight and
// X.lora_B.default.weight. A module X that was trained as a whole has keys under
// X.modules_to_save.default; those under X.original_module are not used. The
// error wraps ErrWeights and names a key that is missing, unknown, repeated or of
// the wrong dimensions.
func (c checkpoint) adapters(s Shape) (map[string]source, error) {
	found := map[string]source{}
	unused := map[string]string{} // keys of the originals of saved modules, by tensor
	dims := maps.Collect(s.Tensors())
	for _, key := range c.Names() {
		name, part := split(key)
		if part == original {
			if unused[name] != "" {
				return nil, fmt.Errorf("%w: %s and %s are one tensor", ErrWeights, unused[name], key)
			}
			unused[name] = key
			continue
		}
		src := found[name]
		slot := &src.base
		switch part {
		case loraA:
			slot = &src.a
		case loraB:
			slot = &src.b
		}
		if *slot != "" {
			return nil, fmt.Errorf("%w: %s and %s are one tensor", ErrWeights, *slot, key)
		}
		*slot = key
		if _, ok := dims[name]; !ok {
			return nil, fmt.Errorf("%w: %s is unknown", ErrWeights, key)
		}
		found[name] = src
	}
	for _, name := range slices.Sorted(maps.Keys(unused)) {
		key := unused[name]
		want, ok := dims[name]
		if !ok || !strings.Contains(found[name].base, savedModule) {
			return nil, fmt.Errorf("%w: %s has no saved module beside it", ErrWeights, key)
		}
		if got, _ := c.Dims(key); !slices.Equal(got, want) {
			return nil, fmt.Errorf("%w: %s is %v, want %v", ErrWeights, key, got, want)
		}
	}
	for name, want := range s.Tensors() {
		if err := c.checkSource(name, found[name], want); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// checkSource compares the dimensions of the source of a tensor with those of the
// tensor.
func (c checkpoint) checkSource(name string, src source, want []int) error {
	if src.base == "" {
		return fmt.Errorf("%w: %s is missing", ErrWeights, name)
	}
	if got, _ := c.Dims(src.base); !slices.Equal(got, want) {
		return fmt.Errorf("%w: %s is %v, want %v", ErrWeights, src.base, got, want)
	}
	adapted := strings.HasSuffix(src.base, baseLayer+".weight")
	if src.a == "" && src.b == "" && !adapted {
		return nil
	}
	if src.a == "" || src.b == "" || !adapted || len(want) != 2 {
		return fmt.Errorf("%w: %s: an adapted weight is a base_layer, a lora_A and a lora_B", ErrWeights, name)
	}
	if got, _ := c.Dims(src.a); !slices.Equal(got, []int{loraRank, want[1]}) {
		return fmt.Errorf("%w: %s is %v, want %v", ErrWeights, src.a, got, []int{loraRank, want[1]})
	}
	if got, _ := c.Dims(src.b); !slices.Equal(got, []int{want[0], loraRank}) {
		return fmt.Errorf("%w: %s is %v, want %v", ErrWeights, src.b, got, []int{want[0], loraRank})
	}
	return nil
}

// A part is the part of a tensor that a key holds.
type part uint8

const (
	plain    part = iota + 1 // all of it, or the base of an adapted weight
	loraA                    // the update's factor [rank × in]
	loraB                    // the update's factor [out × rank]
	original                 // the tensor before its module was trained as a whole
)

const (
	savedModule = ".modules_to_save.default"
	baseLayer   = ".base_layer"
)

// split returns the name of the tensor that a key belongs to, as in
// Shape.Tensors, and the part that the key holds.
func split(key string) (name string, p part) {
	name = strings.Replace(key, ".base_model.model.", ".", 1)
	for _, cut := range []struct {
		infix string
		part  part
	}{{".lora_A.default", loraA}, {".lora_B.default", loraB}, {".original_module", original}, {savedModule, plain}, {baseLayer, plain}} {
		if i := strings.LastIndex(name, cut.infix+"."); i >= 0 {
			return name[:i] + name[i+len(cut.infix):], cut.part
		}
	}
	return name, plain
}

// reader checks that the checkpoint holds all tensors of the network and nothing
// else. It returns a TensorReader that folds the updates into the weights.
func (c checkpoint) reader(s Shape) (TensorReader, error) {
	found, err := c.adapters(s)
	if err != nil {
		return nil, err
	}
	return func(dst []float32, name string, dims []int) error {
		src, ok := found[name]
		if !ok {
			return fmt.Errorf("%w: %s is unknown", ErrWeights, name)
		}
		if err := c.Read(dst, src.base, dims); err != nil || src.a == "" {
			return err
		}
		in, out := dims[1], dims[0]
		a, b := make([]float32, loraRank*in), make([]float32, out*loraRank)
		if err := c.Read(a, src.a, []int{loraRank, in}); err != nil {
			return err
		}
		if err := c.Read(b, src.b, []int{out, loraRank}); err != nil {
			return err
		}
		fold(dst, a, b, in)
		return nil
	}, nil
}

// fold adds loraScale·B·A to w [out × in].
func fold(w, a, b []float32, in int) {
	for o := range len(w) / in {
		row := w[o*in : (o+1)*in]
		for r := range loraRank {
			s := loraScale * b[o*loraRank+r]
			for i, v := range a[r*in : (r+1)*in] {
				row[i] += s * v
			}
		}
	}
}
