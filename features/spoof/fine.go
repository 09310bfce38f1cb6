package spoof

import (
	"math"
	"slices"

	"github.com/voicescreen/voicescreen/dsp"
)

const (
	fineFrame = 2048 // samples: 7.8 Hz a bin
	fineHop   = 512
	fineChunk = 16    // frames of one sum, 0.5 s
	fineBlock = 3     // chunks of one mean, 1.5 s
	fineFloor = 1e-12 // added to every bin: far below the dither
	fineTrend = 31    // bins of the running median, 242 Hz
)

// fine fills fine.*: of the mean log power spectrum of blocks of fineBlock
// chunks less its running median, per band: standard deviation, maximum, mean
// of the eight highest bins and skewness, averaged over the blocks. Blocks
// have one length because a mean over more frames is smoother, and the measure
// would tell the duration.
func (v *vector) fine(f *fineSums) {
	lo, hi := v.frames(len(f.frames), fineChunk*fineHop, fineChunk*fineHop)
	var sum [4 * (len(fineBands) - 1)]float64
	blocks := 0.0
	for start := lo; start == lo || start+fineBlock <= hi; start += fineBlock {
		spectrum, n := make([]float64, fineFrame/2+1), 0.0
		for c := start; c < min(start+fineBlock, hi); c++ {
			for k, s := range f.sums[c] {
				spectrum[k] += s
			}
			n += f.frames[c]
		}
		if n == 0 || start > lo && n < fineBlock*fineChunk {
			break
		}
		for k := range spectrum {
			spectrum[k] /= n
		}
		for i, s := range fineStats(detrend(spectrum)) {
			sum[i] += s
		}
		blocks++
	}
	v.from("fine.band1.sd")
	for _, s := range sum {
		v.put(s / blocks)
	}
}

// fineSums holds the sums of the log power spectra of chunks of fineChunk
// frames, and of how many frames each is; only the last may have fewer.
type fineSums struct {
	sums   [][]float64
	frames []float64
}

// newFineSums computes them of x.
func newFineSums(x []float64) *fineSums {
	fft, window := dsp.NewFFT(fineFrame), dsp.PeriodicHann(fineFrame)
	n := frameCount(x, fineHop, fineFrame)
	chunks := (n + fineChunk - 1) / fineChunk
	f := &fineSums{sums: newTracks(chunks, fineFrame/2+1), frames: make([]float64, chunks)}
	frame, bins := make([]float64, fineFrame), make([]float64, fineFrame/2+1)
	for t := range n {
		windowed(frame, x, t*fineHop, window)
		fft.Power(bins, frame)
		for k := range bins {
			bins[k] += fineFloor
		}
		dsp.Log(bins, bins)
		sum := f.sums[t/fineChunk]
		for k, b := range bins {
			sum[k] += b
		}
		f.frames[t/fineChunk]++
	}
	return f
}

// detrend returns x less its running median over fineTrend values, fewer at
// the ends.
func detrend(x []float64) []float64 {
	y := make([]float64, len(x))
	const half = fineTrend / 2
	var window [fineTrend]float64
	w := append(window[:0], x[:min(half, len(x))]...)
	slices.Sort(w)
	for k := range x {
		if k > half {
			i, _ := slices.BinarySearch(w, x[k-half-1])
			w = slices.Delete(w, i, i+1)
		}
		if k+half < len(x) {
			i, _ := slices.BinarySearch(w, x[k+half])
			w = slices.Insert(w, i, x[k+half])
		}
		y[k] = x[k] - w[len(w)/2]
	}
	return y
}

// fineStats returns the features of one spectrum.
func fineStats(x []float64) []float64 {
	const width = float64(spoofRate) / fineFrame
	var out []float64
	for b := range len(fineBands) - 1 {
		band := slices.Clone(x[int(fineBands[b]/width):int(fineBands[b+1]/width)])
		dev, skew := spread(band)
		slices.Sort(band)
		out = append(out, dev, band[len(band)-1], dsp.Mean(band[len(band)-8:]), skew)
	}
	return out
}

// spread returns the standard deviation of x (divisor n) and its skewness.
func spread(x []float64) (dev, skew float64) {
	m := dsp.Mean(x)
	var s2, s3 float64
	for _, v := range x {
		s2 += (v - m) * (v - m)
		s3 += (v - m) * (v - m) * (v - m)
	}
	n := float64(len(x))
	dev = math.Sqrt(s2 / n)
	return dev, s3 / n / (dev * dev * dev)
}
