package train

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/learn"
)

const (
	// svmBound is C of the support vector machine for a row of mean weight. Of
	// 1 and 2 neither is better by cross-validation; 2 is what the trial used
	// whose figures are known on recordings from elsewhere.
	svmBound = 2
	// kernelShare widens the kernel. By the inner cells (recordings and channel, AUC and
	// within source) ½ and 1 read 0.8685 and 0.8667; nested AUC 0.910 and 0.908, since
	// 2023 0.906 and 0.900.
	kernelShare = 0.5
	// bytePeak is how many steps the clip of a feature is in a support vector.
	bytePeak = 127
	// maxKernelRows bounds the rows that the machine is trained on, of which
	// the matrix has the square, in 4 bytes each. Chosen: 256 MiB.
	maxKernelRows = 8192
	// maxKernelBytes bounds the size of the support vectors in the file.
	// Chosen: in base64, with all else, below models.MaxFileSize.
	maxKernelBytes = 1_400_000
	// unfamiliar is the share of the recordings, each beside ranges of others, that
	// [screen.Unfamiliar] is said of. Chosen.
	unfamiliar = 0.01
)

// predictor is a fitted model before its calibration: the linear predictor of
// a logistic regression, and if the task has a kernel, the sum of it and a
// support vector machine, each over its standard deviation on the rows of the
// training.
type predictor struct {
	*Design
	linear *learn.Coefficients
	kernel *models.Kernel // nil if the predictor is linear
}

// score is the mean predictor of the segments of a recording: of all of them,
// where [models.Linear] leaves out those in which too little was measured, if
// there are others.
func (m *predictor) score(segments []features.Vector) float64 {
	var sum float64
	for _, v := range segments {
		sum += m.at(m.Row(v))
	}
	return sum / float64(len(segments))
}

// outside is the mean over the segments of the share of the measured features that lie
// outside their ranges in the training. It is what [models.File.Outside] bounds.
func (m *predictor) outside(segments []features.Vector) float64 {
	var sum float64
	for _, v := range segments {
		var out, measured float64
		for i, f := range m.features {
			if x := v.Values[m.columns[i]]; !math.IsNaN(x) {
				measured++
				out += float64(stats.Indicator(x < f.Low || x > f.High))
			}
		}
		sum += out / max(measured, 1)
	}
	return sum / float64(len(segments))
}

func (m *predictor) at(z []float64) float64 {
	eta := m.linear.Predict(z)
	if m.kernel != nil {
		eta += m.kernel.At(z)
	}
	return eta
}

// addKernel trains a support vector machine on the rows, or on so many of them
// that the file can hold it, and fuses it with the linear predictor.
func (m *predictor) addKernel(x [][]float64, positive []bool, weight []float64, workers int) error {
	plain := m.linear
	for most := maxKernelRows; ; most /= 2 {
		r := newKernelRows(m.Design, x, positive, weight, thinned(len(x), most))
		matrix := gram(r.z, r.gamma, workers)
		machine, err := svm(matrix, r.positive, r.bound)
		if err != nil {
			return err
		}
		linear := make([]float64, len(r.z))
		for k, i := range r.index {
			linear[k] = plain.Predict(x[i])
		}
		m.fuse(plain, machine, r, deviation(machine.margins(matrix)), deviation(linear))
		if len(m.kernel.Vectors) <= maxKernelBytes {
			return nil
		}
	}
}

// kernelRows are the rows of a machine, rounded to what the file can hold, so
// that the machine in the file is the one that was trained.
type kernelRows struct {
	index    []int    // into the rows of the training
	bytes    [][]int8 // in steps
	z        [][]float32
	positive []bool
	bound    []float64
	step     float64
	gamma    float64
}

func newKernelRows(d *Design, x [][]float64, positive []bool, weight []float64, index []int) *kernelRows {
	r := &kernelRows{index: index, step: d.clip / bytePeak}
	var total, square, sum, count float64
	for _, i := range index {
		total += weight[i]
	}
	for _, i := range index {
		b, z := make([]int8, len(x[i])), make([]float32, len(x[i]))
		for j, v := range x[i] {
			steps := math.Round(v / r.step)
			b[j], z[j] = int8(steps), float32(steps*r.step)
			sum += steps * r.step
			square += steps * r.step * steps * r.step
			count++
		}
		r.bytes, r.z, r.positive = append(r.bytes, b), append(r.z, z), append(r.positive, positive[i])
		r.bound = append(r.bound, svmBound*weight[i]/total*float64(len(index)))
	}
	// kernelShare/(features · variance of all values): scikit-learn's "scale" has 1.
	variance := square/count - (sum/count)*(sum/count)
	r.gamma = stats.Significant(kernelShare/(float64(len(d.features))*variance), 5)
	return r
}

// margins is the decision value of each row.
func (v *vectorMachine) margins(kernel [][]float32) []float64 {
	out := make([]float64, len(kernel))
	for k, row := range kernel {
		out[k] = v.intercept
		for j, c := range v.coefficients {
			if c != 0 {
				out[k] += c * float64(row[j])
			}
		}
	}
	return out
}

// fuse divides the machine and the plain linear predictor by their standard
// deviations and puts the support vectors together.
func (m *predictor) fuse(plain *learn.Coefficients, machine *vectorMachine, r *kernelRows, margin, linear float64) {
	m.linear = &learn.Coefficients{Intercept: plain.Intercept/linear + machine.intercept/margin}
	for _, w := range plain.Weights {
		m.linear.Weights = append(m.linear.Weights, w/linear)
	}
	m.kernel = &models.Kernel{Gamma: r.gamma, Step: r.step}
	for k, c := range machine.coefficients {
		if c == 0 {
			continue
		}
		m.kernel.Coefficients = append(m.kernel.Coefficients, stats.Significant(c/margin, 5))
		for _, b := range r.bytes[k] {
			m.kernel.Vectors = append(m.kernel.Vectors, byte(b))
		}
	}
}

// deviation is the standard deviation of x, 1 if that is 0.
func deviation(x []float64) float64 {
	if _, variance, _, _ := dsp.CentralMoments(x); variance > 0 {
		return math.Sqrt(variance)
	}
	return 1
}

// thinned returns the indices of n rows, at most so many, evenly spread.
func thinned(n, most int) []int {
	index := make([]int, 0, min(n, most))
	for k := range min(n, most) {
		index = append(index, k*n/min(n, most))
	}
	return index
}
