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

// Norms are the centre and the scale of features of schema voice/1 in female
// and in male voices, and their correlations within sex, as [features.Extract]
// measures them on speech of no special kind. Norms of other programs do not
// fit: perturbation measures differ two- to threefold between them.
type Norms struct {
	Origin   models.Data `json:"origin"`
	Females  int         `json:"females"`
	Males    int         `json:"males"`
	Features []Norm      `json:"features"`

	// Sex is the distribution of the logarithms of the features that distinguish the sexes.
	Sex []models.SexFeature `json:"sex"`

	Correlation [][]float64 `json:"correlation"` // of Features, in their order
}

// Norm is the distribution of one feature: its median, and its interquartile
// range over 1.349, which is the standard deviation of a normal distribution.
type Norm struct {
	Name   string        `json:"name"`
	N      int           `json:"n"` // recordings in which it was measured
	Female models.Spread `json:"female"`
	Male   models.Spread `json:"male"`
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

// MeasureNorms computes the norms of the named features over vectors of
// schema voice/1, one a recording. The sex of each is taken from sex, where
// it is Female or Male, and otherwise classified by a mixture of two normal
// distributions of the logarithms of sexFeatures; see splitSexes. Correlations
// are Spearman's over the recordings that have both features, of the
// differences from the sex's centre, shrunk to 0 by 30 %. It is an error if a
// feature was measured in fewer than 30 recordings of a sex or does not vary.
func MeasureNorms(vectors []features.Vector, sex []screen.Gender, features []string, origin models.Data) (*Norms, error) {
	female, spread, err := splitSexes(vectors, sex)
	if err != nil {
		return nil, err
	}
	n := &Norms{Origin: origin, Sex: spread, Correlation: make([][]float64, len(features))}
	for _, f := range female {
		n.Females += stats.Indicator(f)
	}
	n.Males = len(vectors) - n.Females
	within := make([][]float64, len(features)) // differences from the centre of the sex
	for i, name := range features {
		x := column(vectors, name)
		norm := Norm{Name: name}
		for _, s := range []struct {
			is  bool
			dst *models.Spread
		}{{true, &norm.Female}, {false, &norm.Male}} {
			part := make([]float64, 0, len(x))
			for k, v := range x {
				if female[k] == s.is && !math.IsNaN(v) {
					part = append(part, v)
				}
			}
			if len(part) < leastNorm {
				return nil, fmt.Errorf("prior: %s was measured in %d recordings of a sex, want %d", name, len(part), leastNorm)
			}
			if *s.dst, err = robust(part); err != nil {
				return nil, fmt.Errorf("prior: %s %w", name, err)
			}
			norm.N += len(part)
		}
		n.Features = append(n.Features, norm)
		within[i] = make([]float64, len(x))
		for k, v := range x {
			within[i][k] = (v - norm.Male.Center) / norm.Male.Scale
			if female[k] {
				within[i][k] = (v - norm.Female.Center) / norm.Female.Scale
			}
		}
	}
	for i := range features {
		n.Correlation[i] = make([]float64, len(features))
		for j := range features {
			n.Correlation[i][j] = 1
			if i != j {
				n.Correlation[i][j] = stats.Decimals((1-shrinkage)*spearman(within[i], within[j]), 4)
			}
		}
	}
	return n, nil
}

// robust is the median of x and its interquartile range over 1.349. It sorts x.
func robust(x []float64) (models.Spread, error) {
	slices.Sort(x)
	scale := (dsp.PercentileSorted(x, 75) - dsp.PercentileSorted(x, 25)) / 1.349
	if !(scale > 0) {
		return models.Spread{}, fmt.Errorf("does not vary")
	}
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
