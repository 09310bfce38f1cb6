package spoof

// The loops over four frames at once. With avx2 they run in assembly, which gives the same
// bits where the processor does not fuse multiplication and addition; avx2 must be false
// without hasAVX2.

// laneLoad sets dst to the frames times the window, whose length is a multiple of 4.
func laneLoad(dst []float64, frames *[laneCount][]float64, window []float64, avx2 bool) {
	dst = dst[:laneCount*len(window)]
	a, b, c, d := frames[0][:len(window)], frames[1][:len(window)], frames[2][:len(window)], frames[3][:len(window)]
	if avx2 {
		laneLoadAVX2(&dst[0], &a[0], &b[0], &c[0], &d[0], &window[0], len(window))
		return
	}
	for i, w := range window {
		q := (*[laneCount]float64)(dst[laneCount*i:])
		q[0], q[1], q[2], q[3] = a[i]*w, b[i]*w, c[i]*w, d[i]*w
	}
}

// laneStage is one pass of radix 4 over blocks of equal length, with the factors w, w², w³
// of each butterfly.
func laneStage(z, w []float64, blocks int, avx2 bool) {
	q := len(w) / 6
	z = z[:8*laneCount*q*blocks]
	if avx2 {
		laneStageAVX2(&z[0], &w[0], q, blocks)
		return
	}
	for ; len(z) > 0; z = z[8*laneCount*q:] {
		for j := range q {
			t := (*[6]float64)(w[6*j:])
			var y [4]*[8]float64
			for r := range y {
				y[r] = (*[8]float64)(z[8*(j+r*q):])
			}
			for l := range laneCount {
				laneButterfly(&y, l)
				for r := 1; r <= 3; r++ {
					re, im := y[r][l], y[r][4+l]
					wr, wi := t[2*r-2], t[2*r-1]
					y[r][l], y[r][4+l] = re*wr-im*wi, re*wi+im*wr
				}
			}
		}
	}
}

// laneButterfly is the transform of four numbers, in place.
func laneButterfly(y *[4]*[8]float64, l int) {
	ar, ai, br, bi := y[0][l], y[0][4+l], y[1][l], y[1][4+l]
	cr, ci, dr, di := y[2][l], y[2][4+l], y[3][l], y[3][4+l]
	ar, ai, cr, ci = ar+cr, ai+ci, ar-cr, ai-ci
	br, bi, dr, di = br+dr, bi+di, br-dr, bi-di
	y[0][l], y[0][4+l] = ar+br, ai+bi
	y[1][l], y[1][4+l] = cr+di, ci-dr
	y[2][l], y[2][4+l] = ar-br, ai-bi
	y[3][l], y[3][4+l] = cr-di, ci+dr
}

// laneLast4 is the pass of radix 4 over neighbours, whose factors are 1.
func laneLast4(z []float64, avx2 bool) {
	if avx2 {
		laneLast4AVX2(&z[0], len(z)/(8*laneCount))
		return
	}
	for ; len(z) > 0; z = z[8*laneCount:] {
		y := [4]*[8]float64{(*[8]float64)(z), (*[8]float64)(z[8:]), (*[8]float64)(z[16:]), (*[8]float64)(z[24:])}
		for l := range laneCount {
			laneButterfly(&y, l)
		}
	}
}

// laneLast2 is the pass of radix 2 over neighbours.
func laneLast2(z []float64, avx2 bool) {
	if avx2 {
		laneLast2AVX2(&z[0], len(z)/(4*laneCount))
		return
	}
	for ; len(z) > 0; z = z[4*laneCount:] {
		a, b := (*[8]float64)(z), (*[8]float64)(z[8:])
		for l := range a {
			a[l], b[l] = a[l]+b[l], a[l]-b[l]
		}
	}
}

// separateLane returns 2·E[k] and 2·w^k·O[k] of one lane, of which E + w^k·O is X[k] and
// the conjugate of E − w^k·O is X[h−k].
func separateLane(z []float64, b *laneBin, l int) (er, ei, or, oi float64) {
	re, im := z[b.at+l], z[b.at+laneCount+l]
	mr, mi := z[b.mirror+l], z[b.mirror+laneCount+l]
	er, ei = re+mr, im-mi
	pr, pi := im+mi, mr-re
	return er, ei, pr*b.re - pi*b.im, pr*b.im + pi*b.re
}

// lanePower fills the bins 1 … h−1 of dst.
func lanePower(dst, z []float64, bins []laneBin, avx2 bool) {
	h := 2 * (len(bins) - 1)
	dst = dst[:laneCount*(h+1)]
	if avx2 {
		lanePowerAVX2(&dst[laneCount], &dst[laneCount*(h-1)], &z[0], &bins[1], len(bins)-1)
		return
	}
	for k := 1; k < len(bins); k++ {
		for l := range laneCount {
			er, ei, or, oi := separateLane(z, &bins[k], l)
			re, im := er+or, ei+oi
			dst[laneCount*k+l] = 0.25 * (re*re + im*im)
			re, im = er-or, ei-oi
			dst[laneCount*(h-k)+l] = 0.25 * (re*re + im*im)
		}
	}
}

// laneCoefficients fills the bins 1 … h−1 of dst.
func laneCoefficients(dst, z []float64, bins []laneBin, avx2 bool) {
	h := 2 * (len(bins) - 1)
	dst = dst[:2*laneCount*(h+1)]
	if avx2 {
		laneCoefficientsAVX2(&dst[2*laneCount], &dst[2*laneCount*(h-1)], &z[0], &bins[1], len(bins)-1)
		return
	}
	for k := 1; k < len(bins); k++ {
		low, high := dst[2*laneCount*k:], dst[2*laneCount*(h-k):]
		for l := range laneCount {
			er, ei, or, oi := separateLane(z, &bins[k], l)
			low[l], low[laneCount+l] = 0.5*(er+or), 0.5*(ei+oi)
			high[l], high[laneCount+l] = 0.5*(er-or), 0.5*(oi-ei)
		}
	}
}

// laneUnload sets the rows, each as long as x has elements, to x[i] of each lane.
func laneUnload(rows *[laneCount][]float64, x []float64, avx2 bool) {
	n := len(x) / laneCount
	a, b, c, d := rows[0][:n], rows[1][:n], rows[2][:n], rows[3][:n]
	i := 0
	if m := n &^ 3; avx2 && m > 0 {
		laneUnloadAVX2(&a[0], &b[0], &c[0], &d[0], &x[0], m)
		i = m
	}
	for ; i < n; i++ {
		q := (*[laneCount]float64)(x[laneCount*i:])
		a[i], b[i], c[i], d[i] = q[0], q[1], q[2], q[3]
	}
}

// laneSum is Σ x[i] of each lane.
func laneSum(x []float64, avx2 bool) (sum [laneCount]float64) {
	if avx2 && len(x) > 0 {
		laneSumAVX2(&sum, &x[0], len(x)/laneCount)
		return sum
	}
	for ; len(x) > 0; x = x[laneCount:] {
		for l := range sum {
			sum[l] += x[l]
		}
	}
	return sum
}

// laneDot is Σ w[i]·x[i] of each lane.
func laneDot(x, w []float64, avx2 bool) (sum [laneCount]float64) {
	x = x[:laneCount*len(w)]
	if avx2 && len(w) > 0 {
		laneDotAVX2(&sum, &x[0], &w[0], len(w))
		return sum
	}
	for i, w := range w {
		for l := range sum {
			sum[l] += w * x[laneCount*i+l]
		}
	}
	return sum
}

// laneTaper sets y to (x − mean)·taper.
func laneTaper(y, x, taper []float64, mean *[laneCount]float64, avx2 bool) {
	x, y = x[:laneCount*len(taper)], y[:laneCount*len(taper)]
	if avx2 {
		laneTaperAVX2(&y[0], &x[0], &taper[0], mean, len(taper))
		return
	}
	for i, h := range taper {
		for l := range laneCount {
			y[laneCount*i+l] = (x[laneCount*i+l] - mean[l]) * h
		}
	}
}

// laneSquares is Σ x[i]² of each lane.
func laneSquares(x []float64, avx2 bool) (sum [laneCount]float64) {
	if avx2 && len(x) > 0 {
		laneSquaresAVX2(&sum, &x[0], len(x)/laneCount)
		return sum
	}
	for ; len(x) > 0; x = x[laneCount:] {
		for l := range sum {
			sum[l] += x[l] * x[l]
		}
	}
	return sum
}

// laneChange is Σ (x[i] − b[i])² of each lane, where b are the numbers of the frames two
// before: the last two of before, and the first two of x.
func laneChange(x, before []float64, avx2 bool) (sum [laneCount]float64) {
	before = before[:len(x)]
	if avx2 && len(x) > 0 {
		laneChangeAVX2(&sum, &x[0], &before[0], len(x)/laneCount)
		return sum
	}
	for i := 0; i < len(x); i += laneCount {
		old := [laneCount]float64{before[i+2], before[i+3], x[i], x[i+1]}
		for l := range sum {
			d := x[i+l] - old[l]
			sum[l] += d * d
		}
	}
	return sum
}

// laneHighest is the largest x[i] of each lane, of at least one.
func laneHighest(x []float64, avx2 bool) (top [laneCount]float64) {
	if avx2 {
		laneHighestAVX2(&top, &x[0], len(x)/laneCount)
		return top
	}
	copy(top[:], x)
	for ; len(x) > 0; x = x[laneCount:] {
		for l := range top {
			if x[l] > top[l] {
				top[l] = x[l]
			}
		}
	}
	return top
}

// laneFold prepares the transform of the even sequence x[0] … x[m], x[m−1] … x[1] by one of m
// real numbers y, and adds Σ cos(πk/m)·x[k], but for the ends, to sum. factors are the sine
// and the cosine of πk/m for k = 1 … m/2−1.
func laneFold(y, x, factors []float64, sum *[laneCount]float64, avx2 bool) {
	m := len(factors) + 2
	x, y = x[:laneCount*(m+1)], y[:laneCount*m]
	for l := range laneCount {
		y[l], y[laneCount*m/2+l] = 0.5*(x[l]+x[laneCount*m+l]), x[laneCount*m/2+l]
	}
	if avx2 {
		laneFoldAVX2(&y[laneCount], &y[laneCount*(m-1)], &x[laneCount], &x[laneCount*(m-1)], &factors[0], sum, m/2-1)
		return
	}
	for k := 1; k < m/2; k++ {
		s, c := factors[2*k-2], factors[2*k-1]
		for l := range laneCount {
			a, b := x[laneCount*k+l], x[laneCount*(m-k)+l]
			mean, d := 0.5*(a+b), a-b
			sum[l] += c * d
			d *= s
			y[laneCount*k+l], y[laneCount*(m-k)+l] = mean-d, mean+d
		}
	}
}

// laneUnfold sets x[2j] to Re Y[j] and x[2j+1] to odd − Im Y[0] − … − Im Y[j], each times its
// factor, for an even number of x. odd is overwritten.
func laneUnfold(x, y, factors []float64, odd *[laneCount]float64, avx2 bool) {
	x, y = x[:laneCount*len(factors)], y[:laneCount*len(factors)]
	if avx2 {
		laneUnfoldAVX2(&x[0], &y[0], &factors[0], odd, len(factors)/2)
		return
	}
	for i := 0; i < len(factors); i += 2 {
		for l := range odd {
			odd[l] -= y[laneCount*(i+1)+l]
			x[laneCount*i+l], x[laneCount*(i+1)+l] = y[laneCount*i+l]*factors[i], odd[l]*factors[i+1]
		}
	}
}
