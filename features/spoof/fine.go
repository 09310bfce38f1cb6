package spoof

import (
	"slices"

	"github.com/voicescreen/voicescreen/dsp"
)

const (
	fineFrame = 2048 // samples: 7.8 Hz a bin
	fineBins  = fineFrame/2 + 1
	fineHop   = 512
	fineChunk = 16    // frames of one sum, 0.5 s
	fineBlock = 3     // chunks of one mean, 1.5 s
	fineFloor = 1e-12 // added to every bin: far below the dither
	fineTrend = 31    // bins of the running median, 242 Hz
	fineTop   = 8     // bins whose mean is the feature top8
)

// fineSums holds the sums of the log power spectra of chunks of fineChunk
// frames, and of how many frames each is; only the last may have fewer.
type fineSums struct {
	spectrum logSpectrum
	sums     table // one row a chunk
	frames   []float64
	floors   floors

	mean, flat, sorted []float64 // scratch: a spectrum, less its trend, and a band of that
}

func newFineSums() *fineSums {
	return &fineSums{
		spectrum: newLogSpectrum(fineFrame, fineFloor),
		mean:     make([]float64, fineBins), flat: make([]float64, fineBins), sorted: make([]float64, 0, fineBins),
	}
}

// measure computes the sums of x.
func (f *fineSums) measure(x []float64) {
	n := frameCount(len(x), fineHop, fineFrame)
	chunks := (n + fineChunk - 1) / fineChunk
	f.sums.reset(chunks, fineBins)
	f.frames = sized(f.frames, chunks)
	clear(f.frames)
	f.floors.reset(n)
	for t := range n {
		f.spectrum.measure(x, t*fineHop)
		dsp.Add(f.sums.tracks[t/fineChunk], f.spectrum.logs)
		f.frames[t/fineChunk]++
		f.floors.add(f.spectrum.logs, t, n)
	}
}

// fine fills fine.*: of the mean log power spectrum of blocks of fineBlock
// chunks less its running median, per band: standard deviation, maximum, mean
// of the eight highest bins and skewness, averaged over the blocks. Blocks
// have one length because a mean over more frames is smoother: otherwise the
// measures would depend on the duration.
func (v *vector) fine(f *fineSums) {
	lo, hi := v.frames(len(f.frames), fineChunk*fineHop, fineChunk*fineHop)
	var sum [len(fineBands) - 1][4]float64
	blocks := 0.0
	for start := lo; start == lo || start+fineBlock <= hi; start += fineBlock {
		clear(f.mean)
		n := 0.0
		for c := start; c < min(start+fineBlock, hi); c++ {
			for k, s := range f.sums.tracks[c] {
				f.mean[k] += s
			}
			n += f.frames[c]
		}
		if n == 0 || start > lo && n < fineBlock*fineChunk {
			break
		}
		for k := range f.mean {
			f.mean[k] /= n
		}
		detrend(f.flat, f.mean)
		for b := range sum {
			for i, s := range f.band(b) {
				sum[b][i] += s
			}
		}
		blocks++
	}
	v.from("fine.band1.sd")
	for _, stats := range sum {
		for _, s := range stats {
			v.put(s / blocks)
		}
	}
}

// band returns the features of one band of flat.
func (f *fineSums) band(b int) [4]float64 {
	const width = float64(rateHz) / fineFrame
	x := append(f.sorted[:0], f.flat[int(fineBands[b]/width):int(fineBands[b+1]/width)]...)
	dev, skew := shape(x)
	slices.Sort(x)
	return [4]float64{dev, x[len(x)-1], dsp.Mean(x[len(x)-fineTop:]), skew}
}

// detrend computes x less its running median over fineTrend values, fewer at
// the ends, into y, which is as long.
func detrend(y, x []float64) {
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
}
