package spoof

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

// floorLeast is how many of the lowest values of a bin are kept: a tenth of the
// frames of a block, so that the last is the 10th percentile.
const floorLeast = 5

// floors holds of each block of fineBlock chunks the 10th percentile of the log
// power of each bin: the spectrum between the sounds of a voice.
type floors struct {
	blocks table // one row a block
	least  table // the lowest power of each bin in the first row, the next in the second, …
}

const floorBlock = fineBlock * fineChunk // frames

// reset makes room for n frames.
func (f *floors) reset(n int) {
	f.blocks.reset((n+floorBlock-1)/floorBlock, fineBins)
	f.least.reset(floorLeast, fineBins)
}

// add takes the power spectrum of frame t of n, the frames in order, and overwrites it.
func (f *floors) add(power []float64, t, n int) {
	if t%floorBlock == 0 {
		for i := range f.least.values {
			f.least.values[i] = math.Inf(1)
		}
	}
	for _, row := range f.least.tracks {
		dsp.Order(row, power)
	}
	if t%floorBlock == floorBlock-1 || t == n-1 {
		rank := t % floorBlock / 10
		dsp.Log(f.blocks.tracks[t/floorBlock], f.least.tracks[rank])
	}
}

// floor fills fine.whole.* and fine.floor.*: per band standard deviation, maximum, mean
// of the eight highest bins and skewness, of the mean log power spectrum of the whole part
// and of the mean of the blocks' 10th percentiles, each less its running median.
func (v *vector) floor(f *fineSums) {
	lo, hi := v.frames(len(f.frames), fineChunk*fineHop, fineChunk*fineHop)
	clear(f.mean)
	n := 0.0
	for c := lo; c < hi; c++ {
		for k, s := range f.sums.tracks[c] {
			f.mean[k] += s
		}
		n += f.frames[c]
	}
	v.from("fine.whole.band1.sd")
	v.shapes(f, n)
	const size = floorBlock * fineHop
	lo, hi = v.frames(len(f.floors.blocks.tracks), size, size)
	clear(f.mean)
	for _, row := range f.floors.blocks.tracks[lo:hi] {
		for k, s := range row {
			f.mean[k] += s
		}
	}
	v.shapes(f, float64(hi-lo))
}

// shapes puts the measures of the bands of mean over n, which may be 0.
func (v *vector) shapes(f *fineSums, n float64) {
	if n == 0 {
		v.next += 4 * (len(fineBands) - 1)
		return
	}
	for k := range f.mean {
		f.mean[k] /= n
	}
	detrend(f.flat, f.mean)
	for b := range len(fineBands) - 1 {
		s := f.band(b)
		v.put(s[:]...)
	}
}
