package train

import (
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/models/learn"
)

// A bench is the examples of all training rows by one recipe, made ready for many
// fits: their designs, and the matrix of the kernel between all of them.
type bench struct {
	*trainer
	recipe recipe
	model  *predictor // holds the design
	x      [][]float64
	first  []int // the first example of each row, and behind the last
	gamma  float64
	kernel [][]float32 // nil before prepare
}

// benches returns one of each of the first recipes.
func (n *nest) benches(count int) []*bench {
	out := make([]*bench, count)
	for k := range out {
		out[k] = n.bench(recipes[k])
	}
	return out
}

func (n *nest) bench(r recipe) *bench {
	b := &bench{trainer: n.trainer, recipe: r, model: &predictor{Design: n.design(stats.Indices(len(n.train)), &r)}}
	b.x, _, _ = n.examples(b.model, stats.Indices(len(n.train)))
	b.first = make([]int, len(n.train)+1)
	for i := range n.train {
		b.first[i+1] = b.first[i]
		for _, list := range [][][]features.Vector{n.vectors[i], n.made[i]} {
			for _, segments := range list {
				b.first[i+1] += len(segments)
			}
		}
	}
	return b
}

// prepare computes the matrix of the kernel.
func (b *bench) prepare(workers int) {
	all := stats.Indices(len(b.x))
	weight := make([]float64, len(b.x))
	for i := range weight {
		weight[i] = 1
	}
	r := newKernelRows(b.model.Design, b.x, make([]bool, len(b.x)), weight, all)
	b.gamma, b.kernel = r.gamma, gram(r.z, r.gamma, workers)
}

// fitted is a predictor of the rows of a bench, as [predictor] is of any vectors.
type fitted struct {
	*bench
	linear             *learn.Coefficients
	machine            *vectorMachine // nil without a kernel
	examples           []int          // of the training
	linearSD, marginSD float64
}

// fit fits the regression, and with a kernel the machine too, to the training rows
// with the given indices, in ascending order. It is fitRows, but for the design and
// the width of the kernel, which are those of the bench.
func (b *bench) fit(index []int, kernel bool) *fitted {
	x, y, w := b.trainer.examples(b.model, index)
	f := &fitted{bench: b, linear: fastLogistic(x, y, w, b.recipe.penalty), linearSD: 1}
	if !kernel {
		return f
	}
	for _, i := range index {
		for e := b.first[i]; e < b.first[i+1]; e++ {
			f.examples = append(f.examples, e)
		}
	}
	part := make([][]float32, len(f.examples))
	for k, e := range f.examples {
		part[k] = make([]float32, len(f.examples))
		row := b.kernel[e]
		for l, o := range f.examples {
			part[k][l] = row[o]
		}
	}
	bound := make([]float64, len(w))
	var total float64
	for _, v := range w {
		total += v
	}
	for k, v := range w {
		bound[k] = svmBound * v / total * float64(len(w))
	}
	var err error
	if f.machine, err = svm(part, y, bound); err != nil {
		f.machine = nil // does not converge: the regression alone
		return f
	}
	f.marginSD = deviation(f.machine.margins(part))
	linear := make([]float64, len(x))
	for k := range x {
		linear[k] = f.linear.Predict(x[k])
	}
	f.linearSD = deviation(linear)
	return f
}

// row is the score of a training row, of copy 0 or 1: as it is, or through its
// first channel.
func (f *fitted) row(i, copy int) float64 {
	e := f.first[i]
	for k := range copy {
		e += len(f.vectors[i][k])
	}
	var sum float64
	segments := len(f.vectors[i][copy])
	for s := range segments {
		sum += f.example(e + s)
	}
	return sum / float64(segments)
}

// example is the score of one example of the bench.
func (f *fitted) example(e int) float64 {
	s := f.linear.Predict(f.x[e]) / f.linearSD
	if f.machine == nil {
		return s
	}
	margin := f.machine.intercept
	for k, c := range f.machine.coefficients {
		if c != 0 {
			margin += c * float64(f.kernel[e][f.examples[k]])
		}
	}
	return s + margin/f.marginSD
}
