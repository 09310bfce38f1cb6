package simd

import (
	"testing"

	"github.com/voicescreen/voicescreen/models/internal/nn/guard"
)

// TestLoopsStayWithin ends every array where the next byte would be a fault.
func TestLoopsStayWithin(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for n := 1; n <= 70; n++ {
			x, w, b := guard.Floats(t, n), guard.Floats(t, n), guard.Floats(t, n)
			GELU(x)
			Softmax(x)
			Sum(x)
			Normalize(x, x, w, b, 1e-5)
			Scale(x, 2)
		}
	})
}
