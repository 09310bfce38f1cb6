package spoof

import (
	"math"
	"slices"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/dsp/lanes"
)

const (
	fineFrame = 2048 // samples: 7.8 Hz a bin
	fineBins  = fineFrame/2 + 1
	fineHop   = 512
	fineChunk = 16    // frames of one sum, 0.5 s; a multiple of lanes.Count
	fineBlock = 3     // chunks of one percentile, 1.5 s
	fineFloor = 1e-12 // added to every bin: far below the dither
	fineTrend = 31    // bins of the running median, 242 Hz
	fineTop   = 8     // bins whose mean is the feature top8
)

// fineSums holds the sums of the log power spectra of chunks of fineChunk
// frames, and of how many frames each is; only the last may have fewer.
type fineSums struct {
	spectrum *lanes.Spectrum
	power    [lanes.Count][]float64 // of four frames
	sums     table                  // one row a chunk
	frames   []float64
	floors   floors

	mean, flat []float64 // scratch: a spectrum, and less its trend
}

func newFineSums() *fineSums {
	return &fineSums{
		spectrum: lanes.NewSpectrum(dsp.PeriodicHann(fineFrame), fineFrame), power: rowsOf(fineBins),
		mean: make([]float64, fineBins), flat: make([]float64, fineBins),
	}
}

// rowsOf returns a row of n numbers for each of the frames that are measured at once.
func rowsOf(n int) (rows [lanes.Count][]float64) {
	for l := range rows {
		rows[l] = make([]float64, n)
	}
	return rows
}

// measure computes the sums of x.
func (f *fineSums) measure(x []float64) {
	n := frameCount(len(x), fineHop, fineFrame)
	chunks := (n + fineChunk - 1) / fineChunk
	f.sums.reset(chunks, fineBins)
	clear(f.sums.values)
	f.frames = sized(f.frames, chunks)
	clear(f.frames)
	f.floors.reset(n)
	for t := 0; t < n; t += lanes.Count {
		f.spectrum.Measure(x, t*fineHop, fineHop, n-t)
		dsp.AddConstant(f.spectrum.Power, fineFloor)
		lanes.Unload(&f.power, f.spectrum.Power)
		there := f.power[:min(lanes.Count, n-t)]
		product := append(f.mean[:0], there[0]...)
		for _, power := range there[1:] {
			dsp.Multiply(product, product, power)
		}
		dsp.Add(f.sums.tracks[t/fineChunk], dsp.Log(product, product)) // Σ log p = log Π p
		f.frames[t/fineChunk] += float64(len(there))
		for l, power := range there {
			f.floors.add(power, t+l, n)
		}
	}
}

// band returns the features of one band of flat.
func (f *fineSums) band(b int) [4]float64 {
	const width = float64(rateHz) / fineFrame
	x := f.flat[int(fineBands[b]/width):int(fineBands[b+1]/width)]
	dev, skew := shape(x)
	top := highest(x)
	return [4]float64{dev, top[fineTop-1], dsp.Mean(top[:]), skew}
}

// highest returns the highest values of x, ascending.
func highest(x []float64) (top [fineTop]float64) {
	for i := range top {
		top[i] = math.Inf(-1)
	}
	for _, v := range x {
		if !(v > top[0]) {
			continue
		}
		i := 0
		for ; i+1 < fineTop && top[i+1] < v; i++ {
			top[i] = top[i+1]
		}
		top[i] = v
	}
	return top
}

// detrend computes x less its running median over fineTrend values, fewer at
// the ends, into y, which is as long.
func detrend(y, x []float64) {
	const half = fineTrend / 2
	var window [fineTrend]float64 // sorted
	w := append(window[:0], x[:min(half, len(x))]...)
	slices.Sort(w)
	for k := range x {
		switch {
		case k <= half: // one more
			if k+half < len(x) {
				w = append(w, math.Inf(1))
				replace(w, len(w)-1, x[k+half])
			}
		case k+half < len(x):
			replace(w, placeOf(w, x[k-half-1]), x[k+half])
		default: // one less
			i := placeOf(w, x[k-half-1])
			w = slices.Delete(w, i, i+1)
		}
		y[k] = x[k] - w[len(w)/2]
	}
}

// placeOf is the number of values of the sorted w, at most fineTrend, that are less than v,
// which is one of w.
func placeOf(w []float64, v float64) int {
	n := 0
	for step := (fineTrend + 1) / 2; step > 0; step /= 2 {
		if n+step < len(w) && w[n+step-1] < v {
			n += step
		}
	}
	return n
}

// replace puts v in the place of w[i] and keeps w sorted.
func replace(w []float64, i int, v float64) {
	for ; i > 0 && w[i-1] > v; i-- {
		w[i] = w[i-1]
	}
	for ; i+1 < len(w) && w[i+1] < v; i++ {
		w[i] = w[i+1]
	}
	w[i] = v
}
