package prior

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	_ "embed"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// Norms are the distributions of features of schema voice/1 in female and in male
// voices in each way of speaking, and their correlations within both, as
// [features.Extract] measures them. Norms of other programs do not fit:
// perturbation measures differ two- to threefold between them.
type Norms struct {
	Origin    models.Data `json:"origin"`
	Females   int         `json:"females"`
	Males     int         `json:"males"`
	SampledAt float64     `json:"sampled_at_s"` // seconds of speech; see models.Sampling
	Features  []Norm      `json:"features"`

	// Sex is the distribution of the logarithms of the features that distinguish the sexes.
	Sex []models.SexFeature `json:"sex"`

	Correlation [][]float64 `json:"correlation"` // of Features, in their order
}

// Norm is the distribution of one feature. A centre is the median; a scale is the
// interquartile range over 1.349, which is the standard deviation of a normal
// distribution, less the sampling error of the recordings.
type Norm struct {
	Name     string          `json:"name"`
	N        int             `json:"n"` // people of whom it was measured, in the way of speaking with the fewest
	Norms    models.Norms    `json:"norms"`
	Sampling models.Sampling `json:"sampling"`
	Noise    models.Noise    `json:"noise"`
}

//go:embed norms.json
var normsJSON []byte

// ShippedNorms returns the norms behind the shipped models.
func ShippedNorms() (*Norms, error) {
	var n Norms
	if err := json.Unmarshal(normsJSON, &n); err != nil {
		return nil, fmt.Errorf("prior: shipped norms: %w", err)
	}
	return &n, nil
}

// maxNorms is the size of the largest file of norms. Chosen: twenty times that of
// the shipped ones.
const maxNorms = 1 << 20

// ReadNorms reads a file that Norms.Write wrote.
func ReadNorms(path string) (*Norms, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("prior: norms: %w", err)
	}
	defer f.Close()
	d := json.NewDecoder(io.LimitReader(f, maxNorms))
	d.DisallowUnknownFields()
	var n Norms
	if err := d.Decode(&n); err != nil {
		return nil, fmt.Errorf("prior: norms %s: %w", path, err)
	}
	square := len(n.Correlation) == len(n.Features)
	for _, row := range n.Correlation {
		square = square && len(row) == len(n.Features)
	}
	if len(n.Features) == 0 || !square {
		return nil, fmt.Errorf("prior: norms %s: %d features and a matrix of correlations of another size", path, len(n.Features))
	}
	return &n, nil
}

func (n *Norms) index(feature string) int {
	return slices.IndexFunc(n.Features, func(f Norm) bool { return f.Name == feature })
}

// correlation is that of two features, both of which the norms have.
func (n *Norms) correlation(a, b string) float64 {
	return n.Correlation[n.index(a)][n.index(b)]
}

// leastNorm is how many recordings of each sex a norm needs. Chosen: the
// standard error of the median is then below a quarter of the standard
// deviation.
const leastNorm = 30

// shrinkage is how far the measured correlations are shrunk towards 0.
// Chosen as in the evidence behind the priors: 30 %, because they come from a
// hundred or so recordings.
const shrinkage = 0.3

// sexFeatures distinguish female from male voices: they are the two of the schema
// that differ most between them beside how they vary within them, pitch and
// the length of the vocal tract.
var sexFeatures = []string{"f0.median_hz", "formant.f3.median_hz"}

// A Person is the recordings of one voice that norms are measured on.
type Person struct {
	Sex    screen.Gender // Female or Male where it is known
	Alone  features.Vector
	Unique float64 // seconds of speech that no other part of the recordings repeats

	// Spoken is the features of one recording in each way of speaking, in the order
	// of screen.Speeches.
	Spoken [3]features.Vector
}

// MeasureNorms computes the norms of terms, without their weights, over people.
// The sex of a person is Sex, where it is Female or Male, and otherwise
// classified by a mixture of two normal distributions of the logarithms of
// sexFeatures in Alone; see splitSexes. Correlations are Spearman's over the
// recordings that have both features, of the differences from the centre of sex and
// way of speaking, shrunk to 0 by 30 %. wobble is the sampling error of each term.
// It is an error if a feature was measured in fewer than 30 people of a sex or does
// not vary.
func MeasureNorms(people []Person, terms []models.BayesFeature, wobble []samplingError, origin models.Data) (*Norms, error) {
	alone, sex := make([]features.Vector, len(people)), make([]screen.Gender, len(people))
	for i, p := range people {
		alone[i], sex[i] = p.Alone, p.Sex
	}
	female, spread, err := splitSexes(alone, sex)
	if err != nil {
		return nil, err
	}
	n := &Norms{Origin: origin, Sex: spread, SampledAt: sampledAt, Correlation: make([][]float64, len(terms))}
	for _, f := range female {
		n.Females += stats.Indicator(f)
	}
	n.Males = len(people) - n.Females
	within := make([][]float64, len(terms))
	for i := range terms {
		var norm Norm
		if norm, within[i], err = measureNorm(people, female, &terms[i], &wobble[i]); err != nil {
			return nil, fmt.Errorf("prior: %s %w", terms[i].Name, err)
		}
		n.Features = append(n.Features, norm)
	}
	for i := range terms {
		n.Correlation[i] = make([]float64, len(terms))
		for j := range terms {
			n.Correlation[i][j] = 1
			if i != j {
				n.Correlation[i][j] = stats.Decimals((1-shrinkage)*spearman(within[i], within[j]), 4)
			}
		}
	}
	return n, nil
}

// measureNorm computes the norm of one term, and the differences of each person from the
// centre of sex and way of speaking in its scale, way by way.
func measureNorm(people []Person, female []bool, term *models.BayesFeature, wobble *samplingError) (Norm, []float64, error) {
	norm := Norm{Name: term.Name, N: len(people), Noise: term.Noise}
	var within []float64
	var z2 float64 // variance of z at sampledAt, mean over the norms
	for way, s := range screen.Speeches() {
		var part, few [2][]float64 // of male and female voices
		var by [2]float64
		for k := range people {
			sex := stats.Indicator(female[k])
			switch v := term.Value(people[k].Spoken[way]); {
			case !math.IsNaN(v):
				part[sex] = append(part[sex], v)
				by[sex] += wobble.at(&people[k], way)
			case term.Name == "pause.mean_s" || term.Name == "pause.sd_s":
				few[sex] = append(few[sex], math.Inf(-1)) // too few pauses: rather short than any
			}
		}
		norm.N = min(norm.N, len(part[0])+len(part[1]))
		spreads := [2]*models.Spread{&norm.Norms.Of(s).Male, &norm.Norms.Of(s).Female}
		for _, sex := range []int{1, 0} {
			measured := len(part[sex])
			if measured < leastNorm {
				return norm, nil, fmt.Errorf("was measured in %d people of a sex, want %d", measured, leastNorm)
			}
			var err error
			if *spreads[sex], err = robust(append(part[sex], few[sex]...), by[sex]/float64(measured)); err != nil {
				return norm, nil, err
			}
			z2 += wobble.variance[way] / (spreads[sex].Scale * spreads[sex].Scale) / 6
		}
		for k := range people {
			spread := spreads[stats.Indicator(female[k])]
			within = append(within, (term.Value(people[k].Spoken[way])-spread.Center)/spread.Scale)
		}
	}
	norm.Sampling = models.Sampling{Variance: stats.Significant(z2, 3), Falls: wobble.falls}
	return norm, within, nil
}

// leastTrue is the least share of the variance between recordings that is between
// people. Chosen: an estimate of the sampling error is not better than that.
const leastTrue = 0.5

// robust is the median of x, and its interquartile range over 1.349 without a sampling
// error of the given variance. It sorts x.
func robust(x []float64, sampling float64) (models.Spread, error) {
	slices.Sort(x)
	scale := (dsp.PercentileSorted(x, 75) - dsp.PercentileSorted(x, 25)) / 1.349
	if !(scale > 0) || math.IsInf(scale, 0) {
		return models.Spread{}, fmt.Errorf("does not vary")
	}
	scale = math.Sqrt(max(scale*scale-sampling, leastTrue*scale*scale))
	return models.Spread{Center: stats.Significant(dsp.PercentileSorted(x, 50), 5), Scale: stats.Significant(scale, 5)}, nil
}

// sexSteps is the number of iterations: EM of two well separated
// distributions needs ten or so.
const sexSteps = 100

// splitSexes classifies voices as female or male: those whose sex is given as it
// says, and the others by the mixture of two normal distributions, independent
// in the logarithms of sexFeatures and equally frequent, that EM (Dempster et
// al. 1977) finds from the median of the pitch as the first boundary. It
// returns the distributions too.
func splitSexes(vectors []features.Vector, sex []screen.Gender) (female []bool, spread []models.SexFeature, err error) {
	x := make([][]float64, len(sexFeatures))
	for i, name := range sexFeatures {
		for _, v := range column(vectors, name) {
			x[i] = append(x[i], math.Log(v)) // NaN stays
		}
		trim(x[i])
	}
	share := make([]float64, len(vectors)) // probability that the voice is female
	sorted := slices.DeleteFunc(slices.Clone(x[0]), math.IsNaN)
	slices.Sort(sorted)
	for k, v := range x[0] {
		share[k] = float64(stats.Indicator(v > dsp.PercentileSorted(sorted, 50)))
	}
	spread = make([]models.SexFeature, len(sexFeatures))
	for range sexSteps {
		for k := range share {
			switch {
			case k < len(sex) && sex[k] == screen.Female:
				share[k] = 1
			case k < len(sex) && sex[k] == screen.Male:
				share[k] = 0
			}
		}
		for i, name := range sexFeatures {
			f, m := weighted(x[i], share, 1), weighted(x[i], share, -1)
			if !(f.Scale > 0) || !(m.Scale > 0) {
				return nil, nil, fmt.Errorf("prior: %s does not tell two sexes apart", name)
			}
			spread[i] = models.SexFeature{Name: name, Female: f, Male: m}
		}
		for k := range share {
			var odds float64
			for i, s := range spread {
				if v := x[i][k]; !math.IsNaN(v) {
					odds += logDensity(s.Female, v) - logDensity(s.Male, v)
				}
			}
			share[k] = dsp.Logistic(odds)
		}
	}
	female = make([]bool, len(vectors))
	for k := range share {
		female[k] = share[k] > 0.5
		if k < len(sex) && (sex[k] == screen.Female || sex[k] == screen.Male) {
			female[k] = sex[k] == screen.Female
		}
	}
	for i := range spread {
		s := &spread[i]
		s.Female = models.Spread{Center: stats.Significant(s.Female.Center, 5), Scale: stats.Significant(s.Female.Scale, 5)}
		s.Male = models.Spread{Center: stats.Significant(s.Male.Center, 5), Scale: stats.Significant(s.Male.Scale, 5)}
	}
	return female, spread, nil
}

// trim draws the lowest and the highest twentieth of x in: there a pitch is as
// often a mistake of an octave as a voice.
func trim(x []float64) {
	sorted := slices.DeleteFunc(slices.Clone(x), math.IsNaN)
	slices.Sort(sorted)
	lo, hi := dsp.PercentileSorted(sorted, 5), dsp.PercentileSorted(sorted, 95)
	for i := range x {
		x[i] = min(max(x[i], lo), hi) // NaN stays
	}
}

// weighted is the mean and the standard deviation of the x that are not NaN,
// weighted by share, or by 1 − share if side is negative.
func weighted(x, share []float64, side float64) models.Spread {
	var n, sum, square float64
	for k, v := range x {
		w := share[k]
		if side < 0 {
			w = 1 - w
		}
		if math.IsNaN(v) {
			continue
		}
		n, sum, square = n+w, sum+w*v, square+w*v*v
	}
	return models.Spread{Center: sum / n, Scale: math.Sqrt(square/n - sum*sum/n/n)}
}

func logDensity(s models.Spread, x float64) float64 {
	z := (x - s.Center) / s.Scale
	return -z*z/2 - math.Log(s.Scale)
}

func column(vectors []features.Vector, name string) []float64 {
	x := make([]float64, len(vectors))
	for i, v := range vectors {
		x[i] = v.Get(name)
	}
	return x
}
