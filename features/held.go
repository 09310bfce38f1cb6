package features

import (
	"math"

	"github.com/voicescreen/voicescreen/internal/pcm"
)

const (
	// heldBytes is how much a Source keeps of a recording that can be read again.
	// Chosen: 47 s of 16 bits at 44.1 kHz, two minutes at 16 kHz, so that a short recording
	// is decoded once.
	heldBytes = 4 << 20
	allBytes  = math.MaxInt
)

// held keeps samples in blocks, each of the type of the fewest bytes that holds its
// values exactly, or all of them as they are.
type held struct {
	all    []float64
	blocks []heldBlock
	n      int // samples in blocks
	size   int // bytes of blocks
}

// A heldBlock has heldSamples samples, the last one fewer, in one of three forms.
type heldBlock struct {
	short  []int16 // times 2^15
	single []float32
	double []float64
}

// heldSamples is the length of a block, that of a scan. All blocks but the last have it.
const heldSamples = readBlock

func (h *held) bytes() int { return h.size }

// add keeps x, of heldSamples samples but for the last call.
func (h *held) add(x []float64) {
	if len(x) == 0 {
		return
	}
	var b heldBlock
	if b.short = shorts(x); b.short != nil {
		h.size += 2 * len(x)
	} else if b.single = singles(x); b.single != nil {
		h.size += 4 * len(x)
	} else {
		b.double = append([]float64(nil), x...)
		h.size += 8 * len(x)
	}
	h.blocks = append(h.blocks, b)
	h.n += len(x)
}

// shorts returns x times 2^15 if these are 16-bit integers, or nil.
func shorts(x []float64) []int16 {
	y := make([]int16, len(x))
	if !pcm.Shorts(y, x) {
		return nil
	}
	return y
}

// singles returns x if it has no more than 24 significant bits, or nil.
func singles(x []float64) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		if y[i] = float32(v); float64(y[i]) != v {
			return nil
		}
	}
	return y
}

// read copies the samples from one on into dst and returns their number, 0 at the end.
func (h *held) read(dst []float64, from int) int {
	if h.all != nil {
		return copy(dst, h.all[from:])
	}
	if from >= h.n {
		return 0
	}
	b, at := &h.blocks[from/heldSamples], from%heldSamples
	switch {
	case b.short != nil:
		part := b.short[at:]
		n := min(len(dst), len(part))
		pcm.Floats(dst[:n], part[:n])
		return n
	case b.single != nil:
		part := b.single[at:]
		n := min(len(dst), len(part))
		for i, v := range part[:n] {
			dst[i] = float64(v)
		}
		return n
	}
	return copy(dst, b.double[at:])
}
