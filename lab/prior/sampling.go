package prior

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// sampledAt is the duration of speech in seconds that sampling errors are given at.
const sampledAt = 60

// A samplingError is the variance of a transformed feature between recordings of one
// person in one state, in each way of speaking: variance·(sampledAt/T)^falls on T
// seconds of speech.
type samplingError struct {
	timed    bool
	variance [3]float64 // at sampledAt
	falls    float64
}

// at returns the variance in the recording of a person in one way of speaking. Of
// speech that was repeated only the first time counts, except for pauses, which were
// drawn anew.
func (e *samplingError) at(p *Person, way int) float64 {
	seconds := p.Spoken[way].Get("speech.duration_s")
	if !e.timed {
		seconds = min(seconds, p.Unique)
	}
	if e.variance[way] == 0 || math.IsNaN(seconds) {
		return e.variance[way]
	}
	return e.variance[way] * math.Pow(sampledAt/max(seconds, 1), e.falls)
}

// A split is recordings of one person in one state, of equal duration.
type split []features.Vector

// leastParts is how many seconds of clips a person needs for two halves.
const leastParts = 10

// splitVoices makes splits of the people with the most speech in each way of speaking:
// of each with leastParts seconds two halves, and of the one with most of all parts of
// 20 and 80 s, each with the same pauses drawn anew.
func splitVoices(voices []*heard) (splits [3][]split) {
	type job struct {
		from    []piece
		sp      speaker
		seconds float64
		to      *features.Vector
	}
	var jobs []job
	longest := slices.MaxFunc(voices, func(a, b *heard) int { return cmp.Compare(a.seconds, b.seconds) })
	for way, s := range screen.Speeches() {
		cut := func(v *heard, parts int, sp speaker) {
			each := v.seconds / float64(parts)
			vectors := make(split, parts)
			for k := range parts {
				var part []piece
				for i := k; i < len(v.clips); i += parts {
					part = append(part, v.clips[i]...)
				}
				if len(part) > 0 {
					jobs = append(jobs, job{part, sp, each * (sp.pause.mean() + sp.stretch.mean()) / sp.stretch.mean(), &vectors[k]})
				}
			}
			splits[way] = append(splits[way], vectors)
		}
		for i, v := range voices {
			rng := rand.New(rand.NewPCG(2, uint64(3*i+way)))
			switch {
			case v == longest:
				for range 2 {
					sp := drawSpeaker(s, v.side(), rng)
					for _, seconds := range []float64{20, 80} {
						if parts := int(v.seconds / seconds); parts > 1 {
							cut(v, parts, sp)
						}
					}
				}
			case v.seconds >= leastParts && len(v.clips) >= 2:
				cut(v, 2, drawSpeaker(s, v.side(), rng))
			}
		}
	}
	inParallel(len(jobs), func(i int, a *dsp.Analyzer) {
		j := jobs[i]
		x := assemble(j.from, j.sp, min(j.seconds, 300), rand.New(rand.NewPCG(3, uint64(i))))
		*j.to = features.Extract(a.Analyze(x))
	})
	return splits
}

// The exponents that a sampling error may fall with. Chosen: 1 is that of independent
// seconds; below 0.4 the estimate is rather one of a few recordings.
const leastFalls, mostFalls = 0.4, 1

// measureError fits the sampling error of a feature to splits in each way of speaking:
// the logarithm of the variance within a split over the logarithm of the seconds of
// speech, weighted by degrees of freedom. A feature that does not measure pauses has
// one error in all ways.
func measureError(x *models.BayesFeature, splits [3][]split) samplingError {
	e := samplingError{timed: timed(x.Name)}
	var all [3]points
	for way := range splits {
		all[way] = variancesWithin(x, splits[way])
	}
	if !e.timed {
		one := slices.Concat(all[0], all[1], all[2])
		all = [3]points{one, one, one}
	}
	// One exponent, from the slopes within each way.
	var sxx, sxy float64
	for _, p := range all {
		n, u, y := p.mean()
		for _, q := range p {
			sxx += q.freedom * (q.u - u) * (q.u - u)
			sxy += q.freedom * (q.u - u) * (q.y - y)
		}
		if n == 0 {
			return samplingError{timed: e.timed, falls: mostFalls}
		}
	}
	e.falls = mostFalls
	if slope := -sxy / sxx; dsp.Finite(slope) {
		e.falls = stats.Decimals(min(max(slope, leastFalls), mostFalls), 2)
	}
	for way, p := range all {
		_, u, y := p.mean()
		e.variance[way] = math.Exp(y + e.falls*u)
	}
	return e
}

// points are logarithms of variances y, at the logarithms u of the seconds of speech over
// sampledAt, with their degrees of freedom.
type points []struct{ u, y, freedom float64 }

// mean returns the sum of the degrees of freedom, and the means weighted by them.
func (p points) mean() (n, u, y float64) {
	for _, q := range p {
		n, u, y = n+q.freedom, u+q.freedom*q.u, y+q.freedom*q.y
	}
	return n, u / n, y / n
}

// variancesWithin pools the variances within splits by the seconds of speech, in steps of a
// factor of √2.
func variancesWithin(x *models.BayesFeature, splits []split) points {
	const steps = 40
	var bins [steps]struct{ variance, freedom, seconds float64 }
	for _, s := range splits {
		var value []float64
		var seconds float64
		for _, v := range s {
			if v.Schema == nil {
				continue
			}
			if y := x.Value(v); dsp.Finite(y) {
				value, seconds = append(value, y), seconds+v.Get("speech.duration_s")
			}
		}
		if len(value) < 2 {
			continue
		}
		seconds /= float64(len(value))
		b := &bins[min(max(int(math.Round(2*math.Log2(seconds))), 0), steps-1)]
		sd, f := dsp.SD(value), float64(len(value)-1)
		b.variance, b.freedom, b.seconds = b.variance+f*sd*sd, b.freedom+f, b.seconds+f*math.Log(seconds)
	}
	var out points
	for _, b := range bins {
		if b.variance > 0 {
			out = append(out, struct{ u, y, freedom float64 }{b.seconds/b.freedom - math.Log(sampledAt), math.Log(b.variance / b.freedom), b.freedom})
		}
	}
	return out
}
