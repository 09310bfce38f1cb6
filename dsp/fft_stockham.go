package dsp

// transform returns Z, the DFT of z[j] = x[2j] + i·x[2j+1], in scratch that is
// valid until the next call.
func (f *FFT) transform(x []float64) []complex128 {
	if len(x) != f.n {
		panic("dsp: FFT of the wrong number of samples")
	}
	src, dst := f.a, f.b
	if len(f.stages) == 0 { // n = 4, h = 2
		src[0], src[1] = complex(x[0]+x[2], x[1]+x[3]), complex(x[0]-x[2], x[1]-x[3])
		return src
	}
	firstStage(src, x, f.stages[0].w)
	for i := 1; i < len(f.stages); i++ {
		st := &f.stages[i]
		switch {
		case st.m == 1:
			lastStage4(dst, src)
		case st.s == 4:
			secondStage(dst, src, st.w)
		default:
			middleStage(dst, src, st.w, st.s)
		}
		src, dst = dst, src
	}
	if last := f.stages[len(f.stages)-1]; 4*last.s < len(src) { // an odd power of two
		lastStage2(dst, src)
		src = dst
	}
	return src
}

// butterfly is the DFT of four points.
func butterfly(a, b, c, d complex128) (y0, y1, y2, y3 complex128) {
	acr, aci := real(a)+real(c), imag(a)+imag(c)
	sr, si := real(a)-real(c), imag(a)-imag(c)
	bdr, bdi := real(b)+real(d), imag(b)+imag(d)
	tr, ti := real(b)-real(d), imag(b)-imag(d)
	return complex(acr+bdr, aci+bdi), complex(sr+ti, si-tr), complex(acr-bdr, aci-bdi), complex(sr-ti, si+tr)
}

// firstStage is the pass with s = 1. It reads the samples as complex numbers.
func firstStage(y []complex128, x []float64, w []complex128) {
	q := len(x) / 4
	x0, x1, x2, x3 := x[:q], x[q:2*q], x[2*q:3*q], x[3*q:4*q]
	for len(x0) >= 2 && len(x1) >= 2 && len(x2) >= 2 && len(x3) >= 2 && len(y) >= 4 && len(w) >= 3 {
		y0, y1, y2, y3 := butterfly(complex(x0[0], x0[1]), complex(x1[0], x1[1]),
			complex(x2[0], x2[1]), complex(x3[0], x3[1]))
		y[0], y[1], y[2], y[3] = y0, y1*w[0], y2*w[1], y3*w[2]
		x0, x1, x2, x3 = x0[2:], x1[2:], x2[2:], x3[2:]
		y, w = y[4:], w[3:]
	}
}

// secondStage is the pass with s = 4.
func secondStage(y, x, w []complex128) {
	q := len(x) / 4
	x0, x1, x2, x3 := x[:q], x[q:2*q], x[2*q:3*q], x[3*q:4*q]
	for len(x0) >= 4 && len(x1) >= 4 && len(x2) >= 4 && len(x3) >= 4 && len(y) >= 16 && len(w) >= 3 {
		w1, w2, w3 := w[0], w[1], w[2]
		for j := range 4 {
			y0, y1, y2, y3 := butterfly(x0[j], x1[j], x2[j], x3[j])
			y[j], y[j+4], y[j+8], y[j+12] = y0, y1*w1, y2*w2, y3*w3
		}
		x0, x1, x2, x3 = x0[4:], x1[4:], x2[4:], x3[4:]
		y, w = y[16:], w[3:]
	}
}

// middleStage is a pass with any s.
func middleStage(y, x, w []complex128, s int) {
	q := len(x) / 4
	for p := 0; p < q; p += s {
		w1, w2, w3 := w[0], w[1], w[2]
		w = w[3:]
		x0 := x[p : p+s]
		x1 := x[p+q:][:len(x0)]
		x2 := x[p+2*q:][:len(x0)]
		x3 := x[p+3*q:][:len(x0)]
		y0 := y[4*p:][:len(x0)]
		y1 := y[4*p+s:][:len(x0)]
		y2 := y[4*p+2*s:][:len(x0)]
		y3 := y[4*p+3*s:][:len(x0)]
		for j := range x0 {
			a, b, c, d := butterfly(x0[j], x1[j], x2[j], x3[j])
			y0[j], y1[j], y2[j], y3[j] = a, b*w1, c*w2, d*w3
		}
	}
}

// lastStage4 is the pass with m = 1, which has no twiddle factors.
func lastStage4(y, x []complex128) {
	s := len(x) / 4
	x0 := x[:s]
	x1, x2, x3 := x[s:][:len(x0)], x[2*s:][:len(x0)], x[3*s:][:len(x0)]
	y0, y1, y2, y3 := y[:len(x0)], y[s:][:len(x0)], y[2*s:][:len(x0)], y[3*s:][:len(x0)]
	for j := range x0 {
		y0[j], y1[j], y2[j], y3[j] = butterfly(x0[j], x1[j], x2[j], x3[j])
	}
}

// lastStage2 is the radix-2 pass that ends a transform of an odd power of two.
func lastStage2(y, x []complex128) {
	s := len(x) / 2
	x0 := x[:s]
	x1, y0, y1 := x[s:][:len(x0)], y[:len(x0)], y[s:][:len(x0)]
	for j := range x0 {
		y0[j], y1[j] = x0[j]+x1[j], x0[j]-x1[j]
	}
}
