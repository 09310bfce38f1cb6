package spoof

import "math"

// filterLanes holds the coefficients b0, b1, b2, a1, a2 of eight second-order sections, as the
// assembly reads them. Sections that are not used are 0.
type filterLanes [5][8]float64

// set sets the sections from the lane first on.
func (c *filterLanes) set(first int, sections []biquad) {
	for i, q := range sections {
		for k, v := range [5]float64{q.b0, q.b1, q.b2, q.a1, q.a2} {
			c[k][first+i] = v
		}
	}
}

// filtfilt filters x in place forwards and backwards, so that the phase is zero and the
// attenuation is twice that of the cascade.
func filtfilt(x []float64, cascade *[5]biquad, avx2 bool) {
	const least, size = 10, 8 // samples that the assembly needs; bytes of one
	if n := len(x); avx2 && n >= least {
		var c filterLanes
		c.set(0, cascade[:])
		cascadeAVX2(&x[0], n, size, &c)
		cascadeAVX2(&x[n-1], n, -size, &c)
		return
	}
	var z [5]memory
	for i, v := range x {
		x[i] = step(v, cascade[:], z[:])
	}
	z = [5]memory{}
	for i := len(x) - 1; i >= 0; i-- {
		x[i] = step(x[i], cascade[:], z[:])
	}
}

// A memory is what a section y[n] = b0·x[n] + b1·x[n−1] + b2·x[n−2] − a1·y[n−1] − a2·y[n−2]
// keeps from sample to sample: y[n−1], and the terms of the coming sample that do not wait
// for the latest.
type memory struct{ y, second, both float64 } // second: b2·x − a2·y; both: b1·x + second

// step passes one sample through the sections. The processor overlaps them: from one
// output of a section to the next it waits for one product and one difference.
func step(v float64, cascade []biquad, z []memory) float64 {
	z = z[:len(cascade)]
	for s := range cascade {
		q, m := &cascade[s], &z[s]
		y := (q.b0*v + m.both) - q.a1*m.y
		m.both = q.b1*v + m.second
		m.second = q.b2*v - q.a2*y
		m.y = y
		v = y
	}
	return v
}

// envelopesOf computes the envelopes a and b of x in two bands: the RMS of coherenceStep
// samples, but for a factor. x has coherenceStep times as many samples as a and b, or
// some more.
func envelopesOf(a, b, x []float64, cascades *[2][4]biquad, avx2 bool) {
	b = b[:len(a)]
	x = x[:coherenceStep*len(a)]
	if avx2 && len(a) >= 3 {
		var c filterLanes
		c.set(0, cascades[0][:])
		c.set(4, cascades[1][:])
		envelopesAVX2(&a[0], &b[0], &x[0], len(a), &c)
		return
	}
	for band, out := range [2][]float64{a, b} {
		var z [4]memory
		for i := range out {
			var sum float64
			for _, v := range x[coherenceStep*i : coherenceStep*(i+1)] {
				y := step(v, cascades[band][:], z[:])
				sum += y * y
			}
			out[i] = math.Sqrt(sum)
		}
	}
}
