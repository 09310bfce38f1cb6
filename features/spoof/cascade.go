package spoof

// filterLanes holds the coefficients b0, b1, b2, a1, a2 of eight second-order sections, as the
// assembly reads them. Sections that are not used are 0.
type filterLanes [5][8]float64

// set sets the sections of the first lanes.
func (c *filterLanes) set(sections []biquad) {
	for i, q := range sections {
		for k, v := range [5]float64{q.b0, q.b1, q.b2, q.a1, q.a2} {
			c[k][i] = v
		}
	}
}

// filtfilt filters x in place forwards and backwards, so that the phase is zero and the
// attenuation is twice that of the cascade.
func filtfilt(x []float64, cascade *[5]biquad, avx2 bool) {
	const least, size = 10, 8 // samples that the assembly needs; bytes of one
	if n := len(x); avx2 && n >= least {
		var c filterLanes
		c.set(cascade[:])
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
