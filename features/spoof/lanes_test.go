package spoof

import (
	"math"
	"math/cmplx"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
)

// The transforms of four frames are those of [dsp.FFT], which is compared with the
// definition in its package.
func TestLaneFFT(t *testing.T) {
	const tolerance = 1e-14 // of the largest magnitude: rounding of eleven passes
	for n := 16; n <= 2048; n *= 2 {
		for _, avx2 := range []bool{hasAVX2, false} {
			f, plain := newLaneFFT(n), dsp.NewFFT(n)
			f.avx2 = avx2
			x := randoms(n + 3*8)
			window := randoms(n - 4)
			var frames, pads [laneCount][]float64
			pads = newPads(len(window))
			laneFrames(&frames, &pads, x, 0, 8, laneCount)
			power, complexes := make([]float64, laneCount*(n/2+1)), make([]float64, 2*laneCount*(n/2+1))
			f.load(&frames, window)
			f.power(power)
			f.load(&frames, window)
			f.coefficients(complexes)
			for l := range laneCount {
				y := make([]float64, n)
				dsp.Multiply(y[:len(window)], x[8*l:][:len(window)], window)
				want, top := plain.Coefficients(nil, y), 0.0
				for _, c := range want {
					top = max(top, cmplx.Abs(c))
				}
				for k, c := range want {
					got := complex(complexes[2*laneCount*k+l], complexes[2*laneCount*k+laneCount+l])
					if !(cmplx.Abs(got-c) <= tolerance*top) {
						t.Fatalf("%d samples, AVX2 %v, frame %d, bin %d: got %v, want %v", n, avx2, l, k, got, c)
					}
					p, w := power[laneCount*k+l], real(c)*real(c)+imag(c)*imag(c)
					if !(math.Abs(p-w) <= 3*tolerance*top*top) {
						t.Fatalf("%d samples, AVX2 %v, frame %d, bin %d: got power %v, want %v", n, avx2, l, k, p, w)
					}
				}
			}
		}
	}
}

// The assembly has the operations of the loops in Go in the same order, so that the bits
// are the same, but where the compiler fuses multiplication and addition.
func TestLanesInAssembly(t *testing.T) {
	if !hasAVX2 {
		t.Skip("needs AVX2")
	}
	const fused = 1e-9
	equal := func(a, b float64) bool { return a == b }
	if fusesMultiplyAdd() {
		equal = func(a, b float64) bool { return math.Abs(a-b) <= fused*(1+math.Abs(b)) }
	}
	for _, n := range []int{4, 8, 20, 64} {
		x, y := randoms(8*(n+1)), randoms(8*(n+2))
		frames := [laneCount][]float64{x, x[1:], x[2:], x[3:]}
		var bins []laneBin
		for k := range n/2 + 1 {
			bins = append(bins, laneBin{8 * k % n, 8 * (n - k) % n, y[k], y[k+1]})
		}
		for name, run := range map[string]func(dst []float64, avx2 bool){
			"load": func(dst []float64, avx2 bool) { laneLoad(dst, &frames, y[:n], avx2) },
			"unload": func(dst []float64, avx2 bool) {
				m := n + 2
				laneUnload(&[laneCount][]float64{dst, dst[m:], dst[2*m:], dst[3*m:]}, x[:laneCount*m], avx2)
			},
			"stage":        func(dst []float64, avx2 bool) { copy(dst, x); laneStage(dst[:8*n], y[:6*(n/4)], 1, avx2) },
			"last pass, 4": func(dst []float64, avx2 bool) { copy(dst, x); laneLast4(dst[:8*n], avx2) },
			"last pass, 2": func(dst []float64, avx2 bool) { copy(dst, x); laneLast2(dst[:8*n], avx2) },
			"power":        func(dst []float64, avx2 bool) { lanePower(dst, slices.Repeat(x, 4), bins, avx2) },
			"coefficients": func(dst []float64, avx2 bool) { laneCoefficients(dst, slices.Repeat(x, 4), bins, avx2) },
			"sum":          func(dst []float64, avx2 bool) { *(*[laneCount]float64)(dst) = laneSum(x, avx2) },
			"dot":          func(dst []float64, avx2 bool) { *(*[laneCount]float64)(dst) = laneDot(x, y[:n], avx2) },
			"taper": func(dst []float64, avx2 bool) {
				laneTaper(dst, x, y[:n], (*[laneCount]float64)(y), avx2)
			},
			"highest": func(dst []float64, avx2 bool) { *(*[laneCount]float64)(dst) = laneHighest(x, avx2) },
			"unfold": func(dst []float64, avx2 bool) {
				odd := [laneCount]float64(y)
				laneUnfold(dst, x, y[:n], &odd, avx2)
			},
			"squares": func(dst []float64, avx2 bool) { *(*[laneCount]float64)(dst) = laneSquares(x, avx2) },
			"change":  func(dst []float64, avx2 bool) { *(*[laneCount]float64)(dst) = laneChange(x, y, avx2) },
			"fold": func(dst []float64, avx2 bool) {
				laneFold(dst[laneCount:], x, y[:n-2], (*[laneCount]float64)(dst), avx2)
			},
		} {
			got, want := make([]float64, 16*n+64), make([]float64, 16*n+64)
			run(got, true)
			run(want, false)
			if !slices.EqualFunc(got, want, equal) {
				t.Errorf("%s, %d elements: got %v, want %v", name, n, got[:8], want[:8])
			}
		}
	}
}

// The measures of four frames at once are those of dsp of one frame, but for rounding.
const laneRounding = 1e-9

func TestFiltersAreLFCC(t *testing.T) {
	x := newFront().prepare(speech(t), dsp.SampleRate)
	f := newFilters()
	f.measure(x)
	lfcc := dsp.NewLFCC(rateHz, &dsp.LFCCOptions{
		Filters: numLFCC, Coefficients: numLFCC, Low: lfccLow, High: lfccHigh, Frame: lfccFrame / float64(rateHz),
		NoPreEmphasis: true, Floor: lfccFloor,
	})
	for i := range f.active.power {
		c := lfcc.Coefficients(nil, x[i*hopLen:][:lfccFrame])
		c[0] *= math.Sqrt2
		for k, want := range c {
			if got := f.cepstrum.tracks[k][i] / math.Ln10; !(math.Abs(got-want) <= laneRounding*(1+math.Abs(want))) {
				t.Fatalf("frame %d, coefficient %d: got %v, want %v", i, k, got, want)
			}
		}
		for k, want := range lfcc.LogEnergies() {
			if got := f.bank.tracks[k][i] / math.Ln10; !(math.Abs(got-want) <= laneRounding*(1+math.Abs(want))) {
				t.Fatalf("frame %d, filter %d: got %v, want %v", i, k, got, want)
			}
		}
		if got, want := f.active.power[i], dsp.Sum(lfcc.Spectrum()); !(math.Abs(got-want) <= laneRounding*want) {
			t.Fatalf("frame %d: got power %v, want %v", i, got, want)
		}
	}
}

func TestPeriodsAreAutocorrelations(t *testing.T) {
	x := newFront().prepare(speech(t), dsp.SampleRate)
	p := newPeriods()
	p.measure(x)
	a := dsp.NewAutocorrelation(dsp.PeriodicHann(periodFrame), maxLag+1)
	voiced := 0
	for i, power := range p.frames.power {
		if !(power > p.floor) {
			continue
		}
		r := a.Measure(nil, x[i*hopLen:][:periodFrame])
		lag, exact := dsp.PeakLag(r, minLag, maxLag)
		want := []float64{r[lag] / r[0], math.Log2(rateHz / exact)}
		got := []float64{p.height[i], p.pitch[i]}
		if p.frames.on[i] {
			voiced++
			for b, track := range p.bands.tracks {
				want, got = append(want, a.Band(lag, p.edges[b], p.edges[b+1])), append(got, track[i])
			}
		}
		for k, w := range want {
			if !(math.Abs(got[k]-w) <= laneRounding*(1+math.Abs(w))) {
				t.Fatalf("frame %d: got height, pitch and bands %v, want %v", i, got, want)
			}
		}
	}
	if voiced < 50 {
		t.Errorf("got %d voiced frames, want more", voiced)
	}
}

func TestLaneCepstrum(t *testing.T) {
	const n, m = 108, 256
	c, plain := newLaneCepstrum(n, m), dsp.NewCepstrum(n, m)
	logs := randoms(laneCount * n)
	got := make([]float64, 2*laneCount*(m/2+1))
	c.load(logs)
	c.fft.coefficients(got)
	for l := range laneCount {
		x := make([]float64, n)
		for i := range x {
			x[i] = logs[laneCount*i+l]
		}
		for k, want := range plain.Coefficients(nil, x) {
			if z := complex(got[2*laneCount*k+l], got[2*laneCount*k+laneCount+l]); !(cmplx.Abs(z-want) <= laneRounding) {
				t.Fatalf("frame %d, coefficient %d: got %v, want %v", l, k, z, want)
			}
		}
	}
}
