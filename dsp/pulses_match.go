package dsp

import "math"

// largest is the largest magnitude of the samples from … to−1 of y.
func (p *Pulses) largest(from, to int) float64 {
	return highest(p.y[max(0, from):min(len(p.y), to)], magnitude, hasAVX)
}

// match returns the lag from lo to hi with the largest normalised correlation of
// the n samples of y from the index from on with those lag after (dir = 1) or
// before (dir = −1) them, and that correlation. The lag is 0 if y is too short.
func (p *Pulses) match(from, n, dir, lo, hi int) (lag int, r float64) {
	if from < 0 || from+n > len(p.y) {
		return 0, 0
	}
	if dir > 0 {
		hi = min(hi, len(p.y)-n-from)
	} else {
		hi = min(hi, from)
	}
	r = math.Inf(-1)
	if lo > hi {
		return 0, r
	}
	a := p.y[from : from+n]
	aa := dotProduct(a, a, hasAVX)
	p.corr = sized(p.corr, hi-lo+1)
	first, c := from+lo, 0 // where the correlations begin, and which is that of lag lo
	if dir < 0 {
		first, c = from-hi, hi-lo
	}
	correlate(p.corr, a, p.y[first:], hasAVX)
	at := from + dir*lo
	bb := dotProduct(p.y[at:at+n], p.y[at:at+n], hasAVX)
	for l := lo; ; l++ {
		if v := p.corr[c] / math.Sqrt(aa*bb); v > r {
			lag, r = l, v
		}
		if l == hi {
			return lag, r
		}
		in, out := at-1, at+n-1
		if dir > 0 {
			in, out = at+n, at
		}
		bb += p.y[in]*p.y[in] - p.y[out]*p.y[out]
		at += dir
		c += dir
	}
}

// fine returns the lag, in fractions of a sample and within slack samples of the
// coarse one, at which the excitation at i matches best the next excitation, and
// the gain from one to the other. T is the period in samples. If the excitations do
// not correlate it returns the coarse lag and the gain 0. A match beyond pulseSlack
// counts less by the factor pulseSlipLoss.
func (p *Pulses) fine(i, lag, dir int, T float64, slack int) (exact, gain float64) {
	m := int(math.Ceil(pulseWindow * T))
	reach := slack + interpPad + 1
	a := p.res.at(p.y, i-m, i+m+1)
	if a == nil {
		return float64(lag), 0
	}
	j := i + dir*lag
	b := p.res.other(p.y, j-m-reach, j+m+1+reach, i)
	if b == nil {
		return float64(lag), 0
	}
	p.corr = sized(p.corr, 2*reach+1)
	correlate(p.corr, a, b, hasAVX)
	best, height := -1, math.Inf(-1)
	for k, v := range p.corr {
		if k < reach-pulseSlack || k > reach+pulseSlack {
			v *= pulseSlipLoss
		}
		if k >= reach-slack && k <= reach+slack && v > height {
			best, height = k, v
		}
	}
	if best < 0 || !(p.corr[best] > 0) || p.corr[best] < p.corr[best-1] || p.corr[best] < p.corr[best+1] {
		return float64(lag), 0
	}
	at, v := p.interp.peak(p.corr, best)
	exact = float64(lag) + float64(dir)*(at-float64(reach))
	if !(exact >= 0.5*float64(lag)) { // too short for a period
		return float64(lag), 0
	}
	return exact, v / dotProduct(a, a, hasAVX)
}
