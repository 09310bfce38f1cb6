package pcm

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// Every 16-bit sample there and back, at every place of a block.
func TestAllSamples(t *testing.T) {
	for _, skip := range []int{0, 1, 3, 7} {
		var shorts []int16
		var b []byte
		for v := math.MinInt16 + skip; v <= math.MaxInt16; v++ {
			shorts = append(shorts, int16(v))
			b = binary.LittleEndian.AppendUint16(b, uint16(v))
		}
		x, y := make([]float64, len(shorts)), make([]float64, len(shorts))
		Decode(x, b)
		Floats(y, shorts)
		for i, v := range shorts {
			if want := float64(v) / 32768; x[i] != want || y[i] != want {
				t.Fatalf("%d: got %v and %v, want %v", v, x[i], y[i], want)
			}
		}
		back := make([]int16, len(x))
		if !Shorts(back, x) || !slices.Equal(back, shorts) {
			t.Fatalf("from %d on: the samples do not come back", math.MinInt16+skip)
		}
	}
}

func TestShortsRefusesOtherNumbers(t *testing.T) {
	for _, bad := range []float64{
		1, -1 - 1./32768, 0.5 / 32768, 1e-9, math.NaN(), math.Inf(1), math.Inf(-1), 1e300,
		65536, -65536, 1 << 17, math.Nextafter(0.5, 1),
	} {
		for n := 1; n < 20; n++ {
			for at := range n {
				x := make([]float64, n)
				x[at] = bad
				if Shorts(make([]int16, n), x) {
					t.Errorf("%v at %d of %d counts as a 16-bit sample", bad, at, n)
				}
			}
		}
	}
}

// No more is written than there are samples.
func TestLengths(t *testing.T) {
	for n := range 40 {
		src := make([]byte, 2*n)
		for i := range src {
			src[i] = byte(37*i + 5)
		}
		dst := make([]float64, n+1)
		dst[n] = 7
		Decode(dst[:n], src)
		short := make([]int16, n+1)
		short[n] = 7
		if !Shorts(short[:n], dst[:n]) || dst[n] != 7 || short[n] != 7 {
			t.Errorf("%d samples: got %v and %v behind the last", n, dst[n], short[n])
		}
		for i := range n {
			if want := int16(binary.LittleEndian.Uint16(src[2*i:])); short[i] != want {
				t.Errorf("sample %d of %d: got %d, want %d", i, n, short[i], want)
			}
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	src, dst := make([]byte, 8192), make([]float64, 4096)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		Decode(dst, src)
	}
}
