package lanes

// The loops over four frames at once. With avx2 they run in assembly, which gives the same
// bits where the processor does not fuse multiplication and addition; avx2 must be false
// without hasAVX2.

// load sets dst to the frames times the window, whose length is a multiple of 4.
func load(dst []float64, frames *[Count][]float64, window []float64, avx2 bool) {
	dst = dst[:Count*len(window)]
	a, b, c, d := frames[0][:len(window)], frames[1][:len(window)], frames[2][:len(window)], frames[3][:len(window)]
	if avx2 {
		loadAVX2(&dst[0], &a[0], &b[0], &c[0], &d[0], &window[0], len(window))
		return
	}
	for i, w := range window {
		q := (*[Count]float64)(dst[Count*i:])
		q[0], q[1], q[2], q[3] = a[i]*w, b[i]*w, c[i]*w, d[i]*w
	}
}

// stage is one pass of radix 4 over blocks of equal length, with the factors w, w², w³
// of each butterfly.
func stage(z, w []float64, blocks int, avx2 bool) {
	q := len(w) / 6
	z = z[:8*Count*q*blocks]
	if avx2 {
		stageAVX2(&z[0], &w[0], q, blocks)
		return
	}
	for ; len(z) > 0; z = z[8*Count*q:] {
		for j := range q {
			t := (*[6]float64)(w[6*j:])
			var y [4]*[8]float64
			for r := range y {
				y[r] = (*[8]float64)(z[8*(j+r*q):])
			}
			for l := range Count {
				butterfly(&y, l)
				for r := 1; r <= 3; r++ {
					re, im := y[r][l], y[r][4+l]
					wr, wi := t[2*r-2], t[2*r-1]
					y[r][l], y[r][4+l] = re*wr-im*wi, re*wi+im*wr
				}
			}
		}
	}
}

// butterfly is the transform of four numbers, in place.
func butterfly(y *[4]*[8]float64, l int) {
	ar, ai, br, bi := y[0][l], y[0][4+l], y[1][l], y[1][4+l]
	cr, ci, dr, di := y[2][l], y[2][4+l], y[3][l], y[3][4+l]
	ar, ai, cr, ci = ar+cr, ai+ci, ar-cr, ai-ci
	br, bi, dr, di = br+dr, bi+di, br-dr, bi-di
	y[0][l], y[0][4+l] = ar+br, ai+bi
	y[1][l], y[1][4+l] = cr+di, ci-dr
	y[2][l], y[2][4+l] = ar-br, ai-bi
	y[3][l], y[3][4+l] = cr-di, ci+dr
}

// last4 is the pass of radix 4 over neighbours, whose factors are 1.
func last4(z []float64, avx2 bool) {
	if avx2 {
		last4AVX2(&z[0], len(z)/(8*Count))
		return
	}
	for ; len(z) > 0; z = z[8*Count:] {
		y := [4]*[8]float64{(*[8]float64)(z), (*[8]float64)(z[8:]), (*[8]float64)(z[16:]), (*[8]float64)(z[24:])}
		for l := range Count {
			butterfly(&y, l)
		}
	}
}

// last2 is the pass of radix 2 over neighbours.
func last2(z []float64, avx2 bool) {
	if avx2 {
		last2AVX2(&z[0], len(z)/(4*Count))
		return
	}
	for ; len(z) > 0; z = z[4*Count:] {
		a, b := (*[8]float64)(z), (*[8]float64)(z[8:])
		for l := range a {
			a[l], b[l] = a[l]+b[l], a[l]-b[l]
		}
	}
}

// separate returns 2·E[k] and 2·w^k·O[k] of one lane, of which E + w^k·O is X[k] and
// the conjugate of E − w^k·O is X[h−k].
func separate(z []float64, b *bin, l int) (er, ei, or, oi float64) {
	re, im := z[b.at+l], z[b.at+Count+l]
	mr, mi := z[b.mirror+l], z[b.mirror+Count+l]
	er, ei = re+mr, im-mi
	pr, pi := im+mi, mr-re
	return er, ei, pr*b.re - pi*b.im, pr*b.im + pi*b.re
}

// powers fills the bins 1 … h−1 of dst.
func powers(dst, z []float64, bins []bin, avx2 bool) {
	h := 2 * (len(bins) - 1)
	dst = dst[:Count*(h+1)]
	if avx2 {
		powersAVX2(&dst[Count], &dst[Count*(h-1)], &z[0], &bins[1], len(bins)-1)
		return
	}
	for k := 1; k < len(bins); k++ {
		for l := range Count {
			er, ei, or, oi := separate(z, &bins[k], l)
			re, im := er+or, ei+oi
			dst[Count*k+l] = 0.25 * (re*re + im*im)
			re, im = er-or, ei-oi
			dst[Count*(h-k)+l] = 0.25 * (re*re + im*im)
		}
	}
}

// coefficients fills the bins 1 … h−1 of dst.
func coefficients(dst, z []float64, bins []bin, avx2 bool) {
	h := 2 * (len(bins) - 1)
	dst = dst[:2*Count*(h+1)]
	if avx2 {
		coefficientsAVX2(&dst[2*Count], &dst[2*Count*(h-1)], &z[0], &bins[1], len(bins)-1)
		return
	}
	for k := 1; k < len(bins); k++ {
		low, high := dst[2*Count*k:], dst[2*Count*(h-k):]
		for l := range Count {
			er, ei, or, oi := separate(z, &bins[k], l)
			low[l], low[Count+l] = 0.5*(er+or), 0.5*(ei+oi)
			high[l], high[Count+l] = 0.5*(er-or), 0.5*(oi-ei)
		}
	}
}

// unload sets the rows, each as long as x has elements, to x[i] of each lane.
func unload(rows *[Count][]float64, x []float64, avx2 bool) {
	n := len(x) / Count
	a, b, c, d := rows[0][:n], rows[1][:n], rows[2][:n], rows[3][:n]
	i := 0
	if m := n &^ 3; avx2 && m > 0 {
		unloadAVX2(&a[0], &b[0], &c[0], &d[0], &x[0], m)
		i = m
	}
	for ; i < n; i++ {
		q := (*[Count]float64)(x[Count*i:])
		a[i], b[i], c[i], d[i] = q[0], q[1], q[2], q[3]
	}
}

// sum is Σ x[i] of each lane.
func sum(x []float64, avx2 bool) (sum [Count]float64) {
	if avx2 && len(x) > 0 {
		sumAVX2(&sum, &x[0], len(x)/Count)
		return sum
	}
	for ; len(x) > 0; x = x[Count:] {
		for l := range sum {
			sum[l] += x[l]
		}
	}
	return sum
}

// taper sets y to (x − mean)·window.
func taper(y, x, window []float64, mean *[Count]float64, avx2 bool) {
	x, y = x[:Count*len(window)], y[:Count*len(window)]
	if avx2 {
		taperAVX2(&y[0], &x[0], &window[0], mean, len(window))
		return
	}
	for i, h := range window {
		for l := range Count {
			y[Count*i+l] = (x[Count*i+l] - mean[l]) * h
		}
	}
}

// highest is the largest x[i] of each lane, of at least one.
func highest(x []float64, avx2 bool) (top [Count]float64) {
	if avx2 {
		highestAVX2(&top, &x[0], len(x)/Count)
		return top
	}
	copy(top[:], x)
	for ; len(x) > 0; x = x[Count:] {
		for l := range top {
			if x[l] > top[l] {
				top[l] = x[l]
			}
		}
	}
	return top
}

// fold prepares the transform of the even sequence x[0] … x[m], x[m−1] … x[1] by one of m
// real numbers y, and adds Σ cos(πk/m)·x[k], but for the ends, to sum. factors are the sine
// and the cosine of πk/m for k = 1 … m/2−1.
func fold(y, x, factors []float64, sum *[Count]float64, avx2 bool) {
	m := len(factors) + 2
	x, y = x[:Count*(m+1)], y[:Count*m]
	for l := range Count {
		y[l], y[Count*m/2+l] = 0.5*(x[l]+x[Count*m+l]), x[Count*m/2+l]
	}
	if avx2 {
		foldAVX2(&y[Count], &y[Count*(m-1)], &x[Count], &x[Count*(m-1)], &factors[0], sum, m/2-1)
		return
	}
	for k := 1; k < m/2; k++ {
		s, c := factors[2*k-2], factors[2*k-1]
		for l := range Count {
			a, b := x[Count*k+l], x[Count*(m-k)+l]
			mean, d := 0.5*(a+b), a-b
			sum[l] += c * d
			d *= s
			y[Count*k+l], y[Count*(m-k)+l] = mean-d, mean+d
		}
	}
}

// unfold sets x[2j] to Re Y[j] and x[2j+1] to odd − Im Y[0] − … − Im Y[j], each times its
// factor, for an even number of x. odd is overwritten.
func unfold(x, y, factors []float64, odd *[Count]float64, avx2 bool) {
	x, y = x[:Count*len(factors)], y[:Count*len(factors)]
	if avx2 {
		unfoldAVX2(&x[0], &y[0], &factors[0], odd, len(factors)/2)
		return
	}
	for i := 0; i < len(factors); i += 2 {
		for l := range odd {
			odd[l] -= y[Count*(i+1)+l]
			x[Count*i+l], x[Count*(i+1)+l] = y[Count*i+l]*factors[i], odd[l]*factors[i+1]
		}
	}
}
