package lanes

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

// LFCCOptions are the settings of an [LFCC], all of which are needed.
type LFCCOptions struct {
	Filters   int     // triangular filters, evenly spaced in Hz, and as many coefficients
	Low, High float64 // band of the filters in Hz, up to half the sampling rate
	Frame     int     // length of a frame in samples, a multiple of 4
	FFTLen    int     // points of the transform, a power of two of at least the frame
	Floor     float64 // added to the energy of a filter before the logarithm, > 0
}

// An LFCC computes the linear-frequency cepstral coefficients of four frames as the
// countermeasure baselines of ASVspoof do (M. Sahidullah, T. Kinnunen and C. Hanilçi, "A
// comparison of features for synthetic speech detection", Interspeech 2015), without
// pre-emphasis, with natural logarithms, and with a c0 that is √2 times as large:
//
//   - P[k] = |X[k]|² of the frame under a symmetric Hamming window, with zeros behind.
//   - E[m] = Σ P[k]·triangle m at bin k, triangles of height 1 evenly spaced in Hz from Low
//     to High.
//   - c[j] = √(2/M)·Σ ln(E[m] + Floor)·cos(πj·(m + ½)/M), for the M filters.
//
// It owns its scratch, allocates nothing after [NewLFCC], and is not safe for concurrent use.
type LFCC struct {
	Logs         []float64 // ln(E[m] + Floor) of the latest frames, a group of lanes for each filter
	Coefficients []float64 // c[0], c[1], … of the latest frames, likewise

	spectrum *Spectrum
	floor    float64
	first    []int       // of each edge of the filters, the first bin at or above it
	weights  [][]float64 // of the bins first[j] to first[j+2]−1 in filter j
	dct      [][]float64
}

// NewLFCC returns an LFCC of samples at sr Hz. It panics if an option is impossible.
func NewLFCC(sr float64, o *LFCCOptions) *LFCC {
	if o.Filters < 1 || !(o.Low >= 0 && o.Low < o.High && o.High <= sr/2) || !(o.Floor > 0) {
		panic("lanes: LFCC with impossible options")
	}
	f := &LFCC{
		Logs: make([]float64, Count*o.Filters), Coefficients: make([]float64, Count*o.Filters),
		spectrum: NewSpectrum(dsp.Hamming(o.Frame), o.FFTLen), floor: o.Floor, first: make([]int, o.Filters+2),
	}
	width := (o.High - o.Low) / float64(o.Filters+1)
	position := func(bin int) float64 { return (float64(bin)*sr/float64(o.FFTLen) - o.Low) / width }
	for j := range f.first {
		f.first[j] = 1
		for f.first[j] < o.FFTLen/2 && position(f.first[j]) < float64(j) {
			f.first[j]++
		}
	}
	m := float64(o.Filters)
	for j := range o.Filters {
		var w, cosines []float64
		for k := f.first[j]; k < f.first[j+2]; k++ {
			w = append(w, 1-math.Abs(position(k)-float64(j+1)))
		}
		for i := range o.Filters {
			cosines = append(cosines, math.Sqrt(2./m)*math.Cos(math.Pi*float64(j)*(float64(i)+0.5)/m))
		}
		f.weights, f.dct = append(f.weights, w), append(f.dct, cosines)
	}
	return f
}

// Measure measures four frames of x, which are chosen as by [Spectrum.Measure], and returns
// the sum of the power of each in the bins below the upper edge of the filters.
func (f *LFCC) Measure(x []float64, start, hop, count int) (power [Count]float64) {
	f.spectrum.Measure(x, start, hop, count)
	for j, w := range f.weights {
		e := Dot(f.spectrum.Bins(f.first[j], f.first[j+2]), w)
		copy(f.Logs[Count*j:], e[:])
	}
	dsp.AddConstant(f.Logs, f.floor)
	dsp.Log(f.Logs, f.Logs)
	for j, cosines := range f.dct {
		c := Dot(f.Logs, cosines)
		copy(f.Coefficients[Count*j:], c[:])
	}
	return Sum(f.spectrum.Bins(0, f.first[len(f.first)-1]))
}
