package train

import "github.com/voicescreen/voicescreen/internal/stats"

// A bench fits one recipe to many parts of the training rows. All fits share centre
// and scale of each feature over all training rows.
type bench struct {
	*trainer
	recipe *recipe
	design *Design
}

// benches returns one of each of the first recipes.
func (n *nest) benches(count int) []*bench {
	out := make([]*bench, count)
	for k := range out {
		out[k] = n.bench(&recipes[k])
	}
	return out
}

func (n *nest) bench(r *recipe) *bench {
	return &bench{trainer: n.trainer, recipe: r, design: n.design(stats.Indices(len(n.train)), r)}
}

// fit fits the training rows with the given indices, in ascending order, without the
// made voices that imitate a decoder that is tested. It is fitRows, but for the centres
// and scales, which are those of the bench.
func (b *bench) fit(index []int, tested decoderSet) *predictor {
	m := &predictor{Design: b.weighed(b.conditioned(b.design, index), b.recipe, index)}
	x, y, w := b.examples(m, index, tested)
	m.linear = fastLogistic(x, y, w, b.recipe.penalty)
	for _, kind := range manipulations {
		if x, y, w = b.manipulatedExamples(m, index, kind); len(x) > 0 {
			m.others = append(m.others, kind.rarely(fastLogistic(x, y, w, penalty)))
		}
	}
	return m
}

// row is the score of a copy of a training row: 0 as it is, 1 through its first channel.
func (b *bench) row(m *predictor, i, copy int) float64 {
	return b.toScore(m, i).score(b.vectors[i][copy])
}

// rows are the scores of a training row's first copies.
func (b *bench) rows(m *predictor, i, copies int) []float64 {
	out := make([]float64, copies)
	for copy := range out {
		out[copy] = b.row(m, i, copy)
	}
	return out
}
