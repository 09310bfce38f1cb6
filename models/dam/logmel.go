package dam

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
)

const (
	sampleRate = 16000           // Hz, of the model's input
	chunkTime  = 30              // s
	chunkLen   = 30 * sampleRate // samples of a chunk
	windowLen  = 400             // samples: 25 ms
	hop        = 160             // samples: 10 ms
	melFrames  = chunkLen / hop  // of a chunk; the last frame, which is all padding, is dropped
	melBands   = 80
	bins       = windowLen/2 + 1 // of the spectrum
	powerFloor = 1e-10           // least power of a band
	varFloor   = 1e-7            // added to a chunk's variance
	range10    = 8               // decades between the greatest power and the least that is kept
)

// expectedEnergy is the mean of each band over the speech that the model was
// trained on, as published with the model. Each chunk is shifted to it.
var expectedEnergy = [melBands]float64{
	0.34912264, 0.58558977, 0.7912451, 0.92767584, 0.98273695, 0.98439455, 0.9603633, 0.93906444, 0.9366281, 0.93200225,
	0.916437, 0.8928787, 0.8637211, 0.83265126, 0.79977655, 0.7778334, 0.7561299, 0.72997606, 0.70391226, 0.6800474,
	0.65755, 0.63536274, 0.61355984, 0.5923383, 0.5720056, 0.55244887, 0.53684795, 0.5221597, 0.5098636, 0.49923953,
	0.48908615, 0.47840047, 0.46758702, 0.47343993, 0.46268672, 0.4475126, 0.46747103, 0.45131385, 0.4635319, 0.44889897,
	0.45491976, 0.4373785, 0.43154317, 0.42194438, 0.41158468, 0.40096927, 0.3933149, 0.38795966, 0.38441542, 0.38454026,
	0.3815766, 0.3768835, 0.3719921, 0.3654539, 0.35399568, 0.3425986, 0.32823247, 0.31404305, 0.30564603, 0.29617435,
	0.29273877, 0.28560263, 0.27459458, 0.26876706, 0.25825337, 0.24759005, 0.24090728, 0.2344712, 0.22529823, 0.20880115,
	0.193578, 0.18290243, 0.17621627, 0.17087021, 0.16641389, 0.15932252, 0.14312662, 0.11790597, 0.08030523, 0.03747071,
}

// logMel computes the input of the encoders: the log-mel spectrum of Whisper
// (Radford et al. 2022, "Robust speech recognition via large-scale weak
// supervision", section 2.2). A chunk is normalised before, and its bands are
// shifted after that. It has gonum's FFT, since that of package dsp takes powers
// of two only, and the spectrum is a thousandth of the time of a chunk. It is not
// safe for concurrent use.
type logMel struct {
	fft    *fourier.FFT
	window [windowLen]float64
	bank   []triangle

	x     []float64 // the chunk with its padding
	frame [windowLen]float64
	spec  []complex128
	power [bins]float64
}

// triangle is one filter: its weights, beginning at bin first.
type triangle struct {
	first   int
	weights []float64
}

func newLogMel() *logMel {
	l := &logMel{fft: fourier.NewFFT(windowLen), bank: slaneyBank(), x: make([]float64, chunkLen+windowLen), spec: make([]complex128, bins)}
	for i := range l.window {
		l.window[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/windowLen) // Hann, periodic
	}
	return l
}

// slaneyBank returns Slaney's mel filters (Slaney 1998, "Auditory Toolbox",
// version 2), as librosa and Whisper have them: melBands triangles of area 1 on a
// frequency axis in Hz, with corners evenly spaced on Slaney's mel scale from 0 to
// half the sampling rate. Those of package dsp are HTK's, of height 1.
func slaneyBank() []triangle {
	corner := make([]float64, melBands+2) // Hz
	top := slaneyMel(sampleRate / 2)
	for i := range corner {
		corner[i] = slaneyHz(top * float64(i) / (melBands + 1))
	}
	bank := make([]triangle, melBands)
	for j := range bank {
		low, mid, high := corner[j], corner[j+1], corner[j+2]
		for k := range bins {
			f := float64(k) * sampleRate / windowLen
			w := min((f-low)/(mid-low), (high-f)/(high-mid))
			if w <= 0 {
				continue
			}
			t := &bank[j]
			if t.weights == nil {
				t.first = k
			}
			t.weights = append(t.weights, w*2/(high-low))
		}
	}
	return bank
}

// Slaney's mel scale is linear below slaneyCorner and logarithmic above.
const (
	slaneyStep   = 200.0 / 3 // Hz a mel below the corner
	slaneyCorner = 1000.0    // Hz
)

var slaneyLog = math.Log(6.4) / 27 // of the frequency, a mel above the corner

func slaneyMel(hz float64) float64 {
	if hz < slaneyCorner {
		return hz / slaneyStep
	}
	return slaneyCorner/slaneyStep + math.Log(hz/slaneyCorner)/slaneyLog
}

func slaneyHz(mel float64) float64 {
	if corner := slaneyCorner / slaneyStep; mel >= corner {
		return slaneyCorner * math.Exp(slaneyLog*(mel-corner))
	}
	return mel * slaneyStep
}

// chunks scales a recording at sampleRate to mean 0 and peak 1, in place, and
// divides it into chunks of chunkLen samples; the last may be shorter. The chunks
// share x.
func chunks(x []float64) [][]float64 {
	var mean, peak float64
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for i := range x {
		x[i] -= mean
		peak = max(peak, math.Abs(x[i]))
	}
	if peak > 0 {
		for i := range x {
			x[i] /= peak
		}
	}
	var out [][]float64
	for len(x) > 0 {
		n := min(len(x), chunkLen)
		out = append(out, x[:n])
		x = x[n:]
	}
	return out
}

// compute writes the log-mel spectrum of a chunk into dst, [melBands × melFrames]
// in row-major order. A chunk shorter than chunkLen is padded with zeros. It
// panics if dst has another length, or if the chunk is longer.
func (l *logMel) compute(dst []float32, chunk []float64) {
	if len(dst) != melBands*melFrames || len(chunk) > chunkLen {
		panic("dam: chunk or spectrum of the wrong length")
	}
	l.load(chunk)
	top := math.Inf(-1)
	for t := range melFrames {
		for i, w := range l.window {
			l.frame[i] = w * l.x[t*hop+i]
		}
		l.fft.Coefficients(l.spec, l.frame[:])
		for k, c := range l.spec {
			l.power[k] = real(c)*real(c) + imag(c)*imag(c)
		}
		for j := range l.bank {
			f := &l.bank[j]
			var e float64
			for i, w := range f.weights {
				e += w * l.power[f.first+i]
			}
			v := math.Log10(max(e, powerFloor))
			top = max(top, v)
			dst[j*melFrames+t] = float32(v)
		}
	}
	for j := range melBands {
		row := dst[j*melFrames:][:melFrames]
		var mean float64
		for t, v := range row {
			row[t] = float32((max(float64(v), top-range10) + 4) / 4)
			mean += float64(row[t]) / melFrames
		}
		shift := expectedEnergy[j] - mean
		for t, v := range row {
			row[t] = float32(float64(v) + shift)
		}
	}
}

// load pads a chunk with zeros to chunkLen, normalises it to zero mean and unit
// variance, and adds its mirror image at both ends.
func (l *logMel) load(chunk []float64) {
	const pad = windowLen / 2
	y := l.x[pad : pad+chunkLen]
	clear(y[copy(y, chunk):])
	var mean, square float64
	for _, v := range y {
		mean += v / chunkLen
	}
	for _, v := range y {
		square += (v - mean) * (v - mean) / chunkLen
	}
	scale := 1 / math.Sqrt(square+varFloor)
	for i := range y {
		y[i] = (y[i] - mean) * scale
	}
	for i := 1; i <= pad; i++ {
		l.x[pad-i] = y[i]
		l.x[pad+chunkLen-1+i] = y[chunkLen-1-i]
	}
}
