package augment

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// correlated is Pearson's correlation of x and y, of mean 0.
func correlated(x, y []float64) float64 {
	var xx, xy, yy float64
	for i := range x {
		xx, xy, yy = xx+x[i]*x[i], xy+x[i]*y[i], yy+y[i]*y[i]
	}
	return xy / math.Sqrt(xx*yy)
}

func TestWander(t *testing.T) {
	x := wander(20000, 0.3, 0.7, rand.New(rand.NewPCG(3, 3)))
	if sd := math.Sqrt(energy(x) / float64(len(x))); math.Abs(sd-0.3) > 0.01 {
		t.Errorf("got a standard deviation of %.3f, want 0.3", sd)
	}
	if r := correlated(x[1:], x[:len(x)-1]); math.Abs(r-0.7) > 0.02 {
		t.Errorf("got a correlation of %.3f with the next, want 0.7", r)
	}
}

// TestBandErrors measures how the loudness of bands of noise changes: as much as was
// drawn at most, in distant bands independently, and with another draw otherwise.
func TestBandErrors(t *testing.T) {
	x := colouredNoise(4*testRate, 0, rand.New(rand.NewPCG(8, 8)))
	const frame, bands = testRate / 40, 8 // 25 ms; up to 8 kHz
	changes := func(y []float64) (out [bands][]float64) {
		for at := 0; at+frame <= len(x); at += frame {
			for b := range out {
				low, high := 1000*float64(b), 1000*float64(b+1)
				out[b] = append(out[b], math.Log(bandEnergy(y[at:at+frame], testRate, low, high)/bandEnergy(x[at:at+frame], testRate, low, high))/2)
			}
		}
		for b := range out {
			mean := 0.0
			for _, v := range out[b] {
				mean += v / float64(len(out[b]))
			}
			for i := range out[b] {
				out[b][i] -= mean
			}
		}
		return out
	}
	var last [bands][]float64
	for seed := range uint64(6) {
		got := changes(bandErrors(x, testRate, rand.New(rand.NewPCG(seed, 4))))
		for b, c := range got {
			if sd := math.Sqrt(energy(c) / float64(len(c))); !(sd > 0.01 && sd < 0.35) {
				t.Errorf("seed %d, band %d: got changes of %.3f, want 0.01 to 0.35", seed, b, sd)
			}
			if other := (b + bands/2) % bands; math.Abs(correlated(c, got[other])) > 0.35 { // of 160 independent frames |r| is below 0.26 in 999 of 1,000
				t.Errorf("seed %d: bands %d and %d correlate by %.2f, want 0", seed, b, other, correlated(c, got[other]))
			}
			if seed > 0 && math.Abs(correlated(c, last[b])) > 0.35 {
				t.Errorf("seed %d, band %d: got the errors of the seed before", seed, b)
			}
		}
		last = got
	}
}

func TestDecoded(t *testing.T) {
	x := vowel(testRate/2, rand.New(rand.NewPCG(6, 6)))
	if y, name := Decoded(x, testRate, rand.New(rand.NewPCG(1, 4))); name != "band errors" || len(y) != len(x) || slices.Equal(x, y) {
		t.Errorf("got %d samples by %q", len(y), name)
	}
	if y, name := Decoded(x[:1000], testRate, rand.New(rand.NewPCG(1, 4))); name != "" || !slices.Equal(y, x[:1000]) {
		t.Errorf("too short: got %q, want it back", name)
	}
}
