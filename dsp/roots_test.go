package dsp

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// rootTolerance is absolute, on roots near the unit circle; gonum's eigenvalues
// of the companion matrix are themselves good to about 1e-12.
const rootTolerance = 1e-10

// companionRoots returns the roots in the upper half plane as the eigenvalues
// of the companion matrix, by ascending angle.
func companionRoots(t *testing.T, a []float64) []complex128 {
	t.Helper()
	n := len(a) - 1
	c := mat.NewDense(n, n, nil)
	for i := range n {
		c.Set(0, i, -a[i+1])
		if i > 0 {
			c.Set(i, i-1, 1)
		}
	}
	var e mat.Eigen
	if !e.Factorize(c, mat.EigenNone) {
		t.Fatal("no eigenvalues")
	}
	var z []complex128
	for _, v := range e.Values(nil) {
		if imag(v) > 0 {
			z = append(z, v)
		}
	}
	slices.SortFunc(z, func(p, q complex128) int {
		if cmplx.Phase(p) < cmplx.Phase(q) {
			return -1
		}
		return 1
	})
	return z
}

// polynomial multiplies out the factors of the given conjugate pairs and real
// roots.
func polynomial(pairs []complex128, reals []float64) []float64 {
	a := []float64{1}
	times := func(f ...float64) {
		b := make([]float64, len(a)+len(f)-1)
		for i, v := range a {
			for j, w := range f {
				b[i+j] += v * w
			}
		}
		a = b
	}
	for _, z := range pairs {
		times(1, -2*real(z), real(z)*real(z)+imag(z)*imag(z))
	}
	for _, x := range reals {
		times(1, -x)
	}
	return a
}

func TestRootsAgainstEigenvalues(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for round := range 500 {
		var pairs []complex128
		var reals []float64
		for range 5 {
			if r.IntN(5) == 0 {
				reals = append(reals, 2*r.Float64()-1, 2*r.Float64()-1)
				continue
			}
			pairs = append(pairs, cmplx.Rect(0.5+0.55*r.Float64(), 0.02+3.1*r.Float64()))
		}
		a := polynomial(pairs, reals)
		want := companionRoots(t, a)
		got := upperRoots(nil, a)
		if len(got) != len(want) {
			t.Fatalf("round %d: got %d roots %v, want %v", round, len(got), got, want)
		}
		slices.SortFunc(got, func(p, q [2]float64) int {
			if math.Atan2(p[1], p[0]) < math.Atan2(q[1], q[0]) {
				return -1
			}
			return 1
		})
		for i, z := range want {
			// Close roots are ill-conditioned: compare the polynomial there.
			if d := cmplx.Abs(z - complex(got[i][0], got[i][1])); d > rootTolerance && residue(a, got[i]) > 10*residue(a, [2]float64{real(z), imag(z)})+1e-14 {
				t.Errorf("round %d: got root %v, want %v", round, got[i], z)
			}
		}
	}
}

func residue(a []float64, z [2]float64) float64 {
	pr, pi, _, _, _, _ := horner(a, z[0], z[1])
	return math.Hypot(pr, pi)
}

// horner's derivatives against complex arithmetic.
func TestHorner(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	for n := 1; n <= lpcOrder; n++ {
		a := make([]float64, n+1)
		for i := range a {
			a[i] = r.NormFloat64()
		}
		z := cmplx.Rect(r.Float64(), 3*r.Float64())
		var p, d, e complex128
		for _, v := range a {
			e = e*z + d
			d = d*z + p
			p = p*z + complex(v, 0)
		}
		pr, pi, dr, di, er, ei := horner(a, real(z), imag(z))
		for k, c := range [][2]complex128{{complex(pr, pi), p}, {complex(dr, di), d}, {complex(er, ei), e}} {
			if cmplx.Abs(c[0]-c[1]) > 1e-12 {
				t.Errorf("degree %d, derivative %d: got %v, want %v", n, k, c[0], c[1])
			}
		}
	}
}

// Whatever the coefficients, the iteration ends.
func TestRootsOfOddPolynomials(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, a := range [][]float64{
		{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
		{1, -10, 45, -120, 210, -252, 210, -120, 45, -10, 1}, // (z-1)^10
		{1, nan, 0, 0, 0, 0, 0, 0, 0, 0, 1},
		{1, inf, 0, 0, 0, 0, 0, 0, 0, 0, -inf},
		{1, 1e300, 1e-300, 0, 0, 0, 0, 0, 0, 1e300, 1},
	} {
		if got := upperRoots(nil, a); len(got) > lpcOrder/2 {
			t.Errorf("%v: got %d roots in the upper half plane", a, len(got))
		}
	}
}

func BenchmarkRoots(b *testing.B) {
	var pairs []complex128
	for _, f := range [][2]float64{{500, 60}, {1500, 90}, {2500, 130}, {3500, 200}, {4500, 250}} {
		pairs = append(pairs, cmplx.Rect(math.Exp(-math.Pi*f[1]/formantRate), 2*math.Pi*f[0]/formantRate))
	}
	a := polynomial(pairs, nil)
	dst := make([][2]float64, 0, lpcOrder)
	for b.Loop() {
		dst = upperRoots(dst[:0], a)
	}
}
