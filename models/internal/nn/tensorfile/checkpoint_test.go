package tensorfile

import (
	"math"
	"strings"
	"testing"
)

// TestHalf compares every 16-bit number with its definition.
func TestHalf(t *testing.T) {
	for h := range 1 << 16 {
		sign, exponent, fraction := 1.0, h>>10&0x1f, float64(h&0x3ff)
		if h>>15 == 1 {
			sign = -1
		}
		want := sign * math.Ldexp(1+fraction/1024, exponent-15)
		switch {
		case exponent == 0:
			want = sign * math.Ldexp(fraction/1024, -14)
		case exponent == 31 && fraction == 0:
			want = math.Inf(int(sign))
		case exponent == 31:
			want = math.NaN()
		}
		if got := float64(half(uint16(h))); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("%04x: got %v, want %v", h, got, want)
		}
	}
}

// Tensors at different offsets of one storage, and strides that are not row-major.
func TestRecordCheck(t *testing.T) {
	for name, c := range map[string]struct {
		r    record
		want string
	}{
		"a part":                  {record{storage{float32s, "0", 10}, 4, []int{2, 3}, []int{3, 1}}, ""},
		"a single number":         {record{storage{float32s, "0", 10}, 9, nil, nil}, ""},
		"a side of one":           {record{storage{float32s, "0", 10}, 0, []int{1, 10}, []int{77, 1}}, ""},
		"nothing":                 {record{storage{float32s, "0", 10}, 10, []int{0, 3}, []int{3, 1}}, ""},
		"beyond the end":          {record{storage{float32s, "0", 10}, 5, []int{2, 3}, []int{3, 1}}, "beyond"},
		"column by column":        {record{storage{float32s, "0", 10}, 0, []int{2, 3}, []int{1, 2}}, "row by row"},
		"more than can be":        {record{storage{float32s, "0", 10}, 0, []int{1 << 40, 1 << 40}, []int{1 << 40, 1}}, "too many"},
		"more than can be, split": {record{storage{float32s, "0", 10}, 0, []int{0, 1 << 33}, []int{1 << 33, 1}}, "too many"},
	} {
		err := c.r.check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}
