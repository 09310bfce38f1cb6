package dsp

// transform returns Z, the DFT of z[j] = x[2j] + i·x[2j+1], in scratch that is
// valid until the next call. The samples of x from used on are 0.
func (f *FFT) transform(x []float64, used int) []complex128 {
	if len(x) != f.n {
		panic("dsp: FFT of the wrong number of samples")
	}
	src, dst := f.a, f.b
	if len(f.stages) == 0 { // n = 4, h = 2
		src[0], src[1] = complex(x[0]+x[2], x[1]+x[3]), complex(x[0]-x[2], x[1]-x[3])
		return src
	}
	if f.avx {
		return f.transformAVX(x, used)
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

// transformAVX is transform in assembly; h is at least 8.
func (f *FFT) transformAVX(x []float64, used int) []complex128 {
	src, dst := f.a, f.b
	st := &f.stages[0]
	// the butterflies from k on have zeros in the second half of x
	k := min(max((used-4*st.m+3)/4*2, 0), st.m)
	if k > 0 {
		firstStageAVX(&src[0], &x[0], &st.w[0], st.m, k)
	}
	if k < st.m {
		firstStageHalfAVX(&src[4*k], &x[2*k], &st.w[3*k], st.m, st.m-k)
	}
	for i := 1; i < len(f.stages); i++ {
		st = &f.stages[i]
		if st.m == 1 {
			lastStage4AVX(&dst[0], &src[0], st.s)
		} else {
			middleStageAVX(&dst[0], &src[0], &st.w[0], st.m, st.s)
		}
		src, dst = dst, src
	}
	if 4*st.s < len(src) { // an odd power of two
		lastStage2AVX(&dst[0], &src[0], len(src)/2)
		src = dst
	}
	return src
}

// butterfly is the DFT of four points.
func butterfly(a, b, c, d complex128) (y0, y1, y2, y3 complex128) {
	a, c = a+c, a-c
	b, d = b+d, b-d
	d = complex(imag(d), -real(d)) // −i·(b − d)
	return a + b, c + d, a - b, c - d
}

// firstStage is the pass with s = 1. It reads the samples as complex numbers.
func firstStage(y []complex128, x []float64, w []complex128) {
	q := len(x) / 4
	x0, x1, x2, x3 := x[:q], x[q:2*q], x[2*q:3*q], x[3*q:4*q]
	for p := range q / 2 {
		a, b := (*[2]float64)(x0[2*p:2*p+2]), (*[2]float64)(x1[2*p:2*p+2])
		c, d := (*[2]float64)(x2[2*p:2*p+2]), (*[2]float64)(x3[2*p:2*p+2])
		y0, y1, y2, y3 := butterfly(complex(a[0], a[1]), complex(b[0], b[1]), complex(c[0], c[1]), complex(d[0], d[1]))
		t := (*[3]complex128)(w[3*p : 3*p+3])
		to := (*[4]complex128)(y[4*p : 4*p+4])
		to[0], to[1], to[2], to[3] = y0, y1*t[0], y2*t[1], y3*t[2]
	}
}

// secondStage is the pass with s = 4.
func secondStage(y, x, w []complex128) {
	q := len(x) / 4
	x0, x1, x2, x3 := x[:q], x[q:2*q], x[2*q:3*q], x[3*q:4*q]
	for p := range q / 4 {
		t := (*[3]complex128)(w[3*p : 3*p+3])
		w1, w2, w3 := t[0], t[1], t[2]
		a, b := (*[4]complex128)(x0[4*p:4*p+4]), (*[4]complex128)(x1[4*p:4*p+4])
		c, d := (*[4]complex128)(x2[4*p:4*p+4]), (*[4]complex128)(x3[4*p:4*p+4])
		to := (*[16]complex128)(y[16*p : 16*p+16])
		for j := range 4 {
			y0, y1, y2, y3 := butterfly(a[j], b[j], c[j], d[j])
			to[j], to[j+4], to[j+8], to[j+12] = y0, y1*w1, y2*w2, y3*w3
		}
	}
}

// middleStage is a pass with any s. The twiddle factors of its first s butterflies
// are 1.
func middleStage(y, x, w []complex128, s int) {
	q := len(x) / 4
	plainRun(y[:4*s], x[:s], x[q:][:s], x[2*q:][:s], x[3*q:][:s])
	for p := s; p < q; p += s {
		w = w[3:]
		w1, w2, w3 := w[0], w[1], w[2]
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
	plainRun(y, x[:s], x[s:2*s], x[2*s:3*s], x[3*s:])
}

// plainRun is a run of butterflies without twiddle factors.
func plainRun(y, x0, x1, x2, x3 []complex128) {
	s := len(x0)
	x1, x2, x3 = x1[:len(x0)], x2[:len(x0)], x3[:len(x0)]
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
