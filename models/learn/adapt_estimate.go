package learn

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/models"
)

// LeastCorrelated is how many people must have two features measured for their
// correlation to be adapted. Chosen: the standard error of a correlation of 0 is then
// 0.1.
const LeastCorrelated = 100

var (
	// meanLevel is what is expected of the differences of means from the norms, in
	// standard deviations, before any voice. Chosen: another microphone, language or prompt moves a
	// feature by half a standard deviation, for both sexes and all ways of speaking
	// alike, and by half of that for each apart.
	meanLevel = level{common: 0.5, own: 0.25}
	// scaleLevel is the same of the logarithms of the ratios of standard deviations.
	// Chosen: a third more or less.
	scaleLevel = level{common: 0.3, own: 0.15}
)

const (
	// correlationSD is how far a correlation is expected to be from the prior's before
	// any voice, as a standard deviation. Chosen: about as far as correlations differ
	// between samples; the standard error over 50 people.
	correlationSD = 0.14

	// leastScale is the least standard deviation, in those of the prior, that a group
	// is taken to have. Chosen: far below any that voices have.
	leastScale = 0.05

	// leastGroup is how many people of a group its own norm needs; otherwise it gets
	// what the others share. Chosen: a standard deviation of fewer is noise, and a norm
	// of one or two people would be about these.
	leastGroup = 5

	// mostMoved and mostScaled are the greatest difference of a mean, in standard
	// deviations, and the greatest ratio of standard deviations. Chosen: what differs
	// by more is another measure.
	mostMoved, mostScaled = 3.0, 4.0
)

// publishedShares are published shares of people with PHQ-9 or PHQ-8 ≥ 10, beside the
// 0.080 of the shipped depression model: NHANES 2009–2012, the general population,
// primary care, pupils (MMPsy), E-DAIC, and people recruited for a study (n = 7,034).
var publishedShares = []float64{0.076, 0.108, 0.143, 0.203, 0.316, 0.39}

// unknownShare returns the standard deviation of the threshold, in logits, in a
// population that is not that of the norms and whose base rate is not stated: the root
// mean square of the distances of publishedShares from the share of the norms. It is
// 1.19 for depression and 1.43 for anxiety, of which so many shares are not published.
func unknownShare(ofNorms float64) float64 {
	var square float64
	for _, share := range publishedShares {
		d := math.Log(share/(1-share)) - math.Log(ofNorms/(1-ofNorms))
		square += d * d / float64(len(publishedShares))
	}
	return math.Sqrt(square)
}

// estimate returns the prior with the norms of some voices, how far its means moved,
// and whether the correlation was adapted.
func (a *adapter) estimate(index []int) (f *models.BayesFile, moved float64, correlated bool, err error) {
	out := *a.prior
	out.Features, out.Sex = slices.Clone(a.prior.Features), slices.Clone(a.prior.Sex)
	n := len(out.Features)
	norms, found := make([][]models.Spread, n), make([]differences, n)
	for i := range out.Features {
		for g := range numGroups {
			norms[i] = append(norms[i], *spreadOf(&a.prior.Features[i], g))
		}
		found[i] = a.differences(index, norms[i], func(r *row) (value, noise float64) { return r.value[i], r.noise[i] }, (*row).ofGroup)
	}
	means, scales := levelsOf(found, a.expected)
	for i := range out.Features {
		got := found[i].norms(norms[i], means, scales, a.expected[i])
		for g, is := range got {
			off := (is.Center - norms[i][g].Center) / norms[i][g].Scale
			moved += off * off
			*spreadOf(&out.Features[i], g) = is
		}
	}
	moved = math.Sqrt(moved / float64(n*numGroups))
	for i := range out.Sex {
		x := &out.Sex[i]
		norms := []models.Spread{x.Female, x.Male}
		found := a.differences(index, norms, func(r *row) (value, noise float64) { return r.sex[i], 0 }, (*row).ofSex)
		got := found.norms(norms, meanLevel, scaleLevel, 0)
		x.Female, x.Male = got[0], got[1]
	}
	if out.Correlation, correlated, err = a.correlation(&out, index); err != nil {
		return nil, 0, false, err
	}
	if err := a.level(&out); err != nil {
		return nil, 0, false, err
	}
	return &out, moved, correlated, nil
}

// differences is what some voices say about the difference of each norm of a feature
// from the prior's: of the mean, in standard deviations, and of the logarithm of the
// standard deviation, with the variances of both, which are +Inf without data.
type differences struct {
	mean, meanVar, scale, scaleVar []float64
}

// differences measures the differences from norms, given the value of each voice with
// the variance of its sampling error, and its share in each norm.
func (a *adapter) differences(index []int, norms []models.Spread, value func(*row) (value, noise float64), share func(*row, int) float64) differences {
	n := len(norms)
	d := differences{make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
	for g, norm := range norms {
		var s weighted
		var noise float64
		for _, i := range index {
			r := &a.rows[i]
			x, v := value(r)
			if w := r.weight * share(r, g); w > 0 && !math.IsNaN(x) {
				s.add((x-norm.Center)/norm.Scale, w)
				noise += w * v
			}
		}
		l := huber(s, leastScale)
		d.meanVar[g], d.scaleVar[g] = math.Inf(1), math.Inf(1)
		if !(l.people >= leastGroup && dsp.Finite(l.mean)) {
			continue
		}
		d.mean[g], d.meanVar[g] = l.mean, meanVariance*l.sd*l.sd/l.people
		d.scale[g], d.scaleVar[g] = math.Log(l.sd/math.Sqrt(1+noise/l.people)), scaleVariance/(l.people-1)
	}
	return d
}

// levelsOf returns how far means and scales of all features are found to differ. The
// features' means are expected at the given differences.
func levelsOf(found []differences, expected []float64) (means, scales level) {
	var mean, meanVar, scale, scaleVar [][]float64
	for _, d := range found {
		mean, meanVar = append(mean, d.mean), append(meanVar, d.meanVar)
		scale, scaleVar = append(scale, d.scale), append(scaleVar, d.scaleVar)
	}
	return meanLevel.fit(mean, meanVar, expected), scaleLevel.fit(scale, scaleVar, make([]float64, len(found)))
}

// norms returns the norms of the feature, in place of norms. Expected is the difference
// of the means before any voice.
func (d *differences) norms(norms []models.Spread, means, scales level, expected float64) []models.Spread {
	mean, scale := means.shrink(d.mean, d.meanVar, expected), scales.shrink(d.scale, d.scaleVar, 0)
	out := make([]models.Spread, len(norms))
	for g, norm := range norms {
		ratio := math.Exp(min(max(scale[g], -math.Log(mostScaled)), math.Log(mostScaled)))
		out[g] = models.Spread{
			Center: stats.Significant(norm.Center+norm.Scale*min(max(mean[g], -mostMoved), mostMoved), normDigits),
			Scale:  stats.Significant(norm.Scale*ratio, normDigits),
		}
	}
	return out
}

// normDigits is how many digits norms are rounded to.
const normDigits = 7

// correlation returns the correlation of f, whose norms are those of the voices, as
// adapted to them. With v the sampling variance of a correlation r over n people,
// (1 − r²)²/n (Fisher 1915), and τ² the variance of the differences from the prior's
// correlations, each is the mean of the prior's and the one found, weighted by v and
// τ² (see spreadOfCorrelations).
func (a *adapter) correlation(f *models.BayesFile, index []int) (r [][]float64, adapted bool, err error) {
	n := len(f.Features)
	z := make([][]float64, len(index))
	for k, i := range index {
		z[k] = a.standard(f, &a.rows[i])
	}
	found, variance := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil) // a variance of 0 is no data
	for i := range n {
		for j := range i {
			var w, ii, ij, jj, vi, vj float64
			for k, v := range index {
				x, y, r := z[k][i], z[k][j], &a.rows[v]
				if math.IsNaN(x) || math.IsNaN(y) {
					continue
				}
				w += r.weight
				ii, ij, jj = ii+r.weight*x*x, ij+r.weight*x*y, jj+r.weight*y*y
				vi, vj = vi+r.weight*r.noise[i], vj+r.weight*r.noise[j]
			}
			if w < LeastCorrelated || ii == 0 || jj == 0 {
				continue
			}
			// Of the variances the sampling errors' part is left out.
			more := math.Sqrt((1 + vi/w) * (1 + vj/w))
			found.SetSym(i, j, min(max(ij/math.Sqrt(ii*jj)*more, -mostCorrelated), mostCorrelated))
			r := a.prior.Correlation[i][j] / more // as it is seen
			variance.SetSym(i, j, more*more*(1-r*r)*(1-r*r)/w)
			adapted = true
		}
	}
	if !adapted {
		return a.prior.Correlation, false, nil
	}
	for t2 := a.spreadOfCorrelations(found, variance); ; t2 /= 2 {
		s := mat.NewSymDense(n, nil)
		for i := range n {
			s.SetSym(i, i, 1)
			for j := range i {
				r := a.prior.Correlation[i][j]
				if v := variance.At(i, j); v > 0 {
					r = (v*r + t2*found.At(i, j)) / (v + t2)
				}
				s.SetSym(i, j, stats.Significant(r, normDigits))
			}
		}
		var e mat.EigenSym
		if e.Factorize(s, false) && e.Values(nil)[0] >= leastEigenvalue || t2 < 1e-12 {
			return rowsOf(s), true, nil
		}
	}
}

// spreadOfCorrelations returns the variance of the differences of correlations from the
// prior's, empirical Bayes: the mean of (found − prior)² less the sampling variance over
// all pairs with data, not below 0, and correlationSD² as levelFeatures more features.
func (a *adapter) spreadOfCorrelations(found, variance *mat.SymDense) float64 {
	n := len(a.prior.Features)
	var sum, pairs float64
	for i := range n {
		for j := range i {
			if v := variance.At(i, j); v > 0 {
				d := found.At(i, j) - a.prior.Correlation[i][j]
				sum, pairs = sum+d*d-v, pairs+1
			}
		}
	}
	features := 2 * pairs / float64(n-1) // n if all pairs have data
	return (levelFeatures*correlationSD*correlationSD + features*max(sum/pairs, 0)) / (levelFeatures + features)
}

const (
	// mostCorrelated is the greatest magnitude of a correlation that is found.
	mostCorrelated = 0.98
	// leastEigenvalue is the least eigenvalue of an adapted correlation: below it the
	// prior's part grows. Chosen: below that of the shipped ones.
	leastEigenvalue = 0.02
)

func rowsOf(s *mat.SymDense) [][]float64 {
	n := s.SymmetricDim()
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, n)
		for j := range out[i] {
			out[i][j] = s.At(i, j)
		}
	}
	return out
}

// standard returns the standardised features of a row by the norms of f, clipped,
// each the mean over the norms that the row may belong to; NaN for what was not
// measured.
func (a *adapter) standard(f *models.BayesFile, r *row) []float64 {
	z := make([]float64, len(f.Features))
	for i := range z {
		if math.IsNaN(r.value[i]) {
			z[i] = math.NaN()
			continue
		}
		for g, share := range r.share {
			if share > 0 {
				s := spreadOf(&f.Features[i], g)
				z[i] += share * min(max((r.value[i]-s.Center)/s.Scale, -f.Clip), f.Clip)
			}
		}
	}
	return z
}

// level moves thresholds and cuts of f, whose correlation is new, so that in its
// population of norms the base rate and the shares of the classes are those of the
// prior. It raises the variance of the threshold to that of an unknown population, for
// which models.Bayes.WithBaseRate puts that of a known one.
func (a *adapter) level(f *models.BayesFile) error {
	was, err := models.NewBayes(a.prior)
	if err != nil {
		return err
	}
	is, err := models.NewBayes(f)
	if err != nil {
		return err
	}
	share := shareOf(was)
	sd := unknownShare(share)
	f.Covariance = withThreshold(f.Covariance, len(f.Features), stats.Significant(sd*sd, normDigits))
	ratio := is.Spread() / was.Spread()
	if !(ratio > 0) || math.IsInf(ratio, 0) || ratio == 1 {
		return nil
	}
	move := models.NormalThreshold(is.Spread(), share) - models.NormalThreshold(was.Spread(), share)
	f.Thresholds = slices.Clone(f.Thresholds)
	for k := range f.Thresholds {
		f.Thresholds[k] = stats.Significant(f.Thresholds[k]+move, normDigits)
	}
	moved := func(p float64, k int) float64 { // the same share of people is below it
		if p <= 0 || p >= 1 {
			return p
		}
		eta := math.Log(p) - math.Log1p(-p) + a.prior.Thresholds[k]
		return stats.Significant(dsp.Logistic(ratio*eta-f.Thresholds[k]), normDigits)
	}
	f.Cuts = slices.Clone(f.Cuts)
	for i, c := range f.Cuts {
		f.Cuts[i].Probability = moved(c.Probability, slices.Index(models.BandScores[:], c.Score))
	}
	f.Indeterminate.Low = moved(f.Indeterminate.Low, models.DecisionBand)
	f.Indeterminate.High = moved(f.Indeterminate.High, models.DecisionBand)
	return nil
}

// withThreshold returns the covariance m with the given variance of parameter i, and
// no covariances, or m if that variance is larger already.
func withThreshold(m [][]float64, i int, variance float64) [][]float64 {
	if m[i][i] >= variance {
		return m
	}
	out := make([][]float64, len(m))
	for k := range m {
		out[k] = slices.Clone(m[k])
		out[k][i] = 0
	}
	clear(out[i])
	out[i][i] = variance
	return out
}

// ofGroup returns the probability of a norm given a row.
func (r *row) ofGroup(g int) float64 { return r.share[g] }

// ofSex returns the probability of a sex, 0 for female, given a row.
func (r *row) ofSex(sex int) float64 {
	var sum float64
	for g, share := range r.share {
		if g*2/numGroups == sex {
			sum += share
		}
	}
	return sum
}
