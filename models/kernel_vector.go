package models

// The loops over the support vectors of a [Kernel], which are signed bytes. With avx2 they
// run in assembly, which gives the same bits where the processor does not fuse
// multiplication and addition; avx2 must be false without hasAVX2.

// distance is Σ (x[i] − v[i])², in eight sums that do not depend on one another.
func distance(x []float64, v []byte, avx2 bool) float64 {
	v = v[:len(x)]
	n := len(x) &^ 7
	var s float64
	if avx2 && n > 0 {
		s = distanceAVX2(&x[0], &v[0], n)
	} else {
		var lanes [8]float64
		for j := 0; j+8 <= len(x); j += 8 {
			p, q := (*[8]float64)(x[j:j+8]), (*[8]byte)(v[j:j+8])
			for i := range lanes {
				e := p[i] - float64(int8(q[i]))
				lanes[i] += e * e
			}
		}
		s = (lanes[0] + lanes[4]) + (lanes[1] + lanes[5]) + (lanes[2] + lanes[6]) + (lanes[3] + lanes[7])
	}
	for j := n; j < len(x); j++ {
		e := x[j] - float64(int8(v[j]))
		s += e * e
	}
	return s
}

// weigh adds c·v[i] to each sum[i].
func weigh(sum []float64, v []byte, c float64, avx2 bool) {
	v = v[:len(sum)]
	j := 0
	if n := len(sum) &^ 7; avx2 && n > 0 {
		weighAVX2(&sum[0], &v[0], c, n)
		j = n
	}
	for ; j < len(sum); j++ {
		sum[j] += c * float64(int8(v[j]))
	}
}
