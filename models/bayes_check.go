package models

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/screen"
)

// numShared is the number of thresholds among the parameters of a BayesFile.
const numShared = 3

// most is the greatest magnitude of a weight, a threshold, a clip or an entry of the
// covariance. Chosen: far above every plausible value, and far below the overflow
// of their sums and products.
const most = 1e4

func within(x float64) bool { return math.Abs(x) <= most } // false for NaN

// Check returns nil, or a *FileError with the first fault of the file.
func (f *BayesFile) Check() error {
	for _, c := range []struct {
		ok     bool
		path   string
		reason string
	}{
		{f.Format == BayesFormat, "format", "want " + BayesFormat},
		{f.Name != "", "name", "is empty"},
		{f.Version != "", "version", "is empty"},
		{f.Category == screen.Depression || f.Category == screen.Anxiety, "category", "want depression or anxiety"},
		{f.Schema == features.VoiceSchema().Name(), "schema", fmt.Sprintf("got %q, want %q", f.Schema, features.VoiceSchema().Name())},
		{ascending(f.Thresholds) && len(f.Thresholds) == len(BandScores), "thresholds", fmt.Sprintf("want %d ascending values within ±%g", len(BandScores), most)},
		{f.Indeterminate.Low >= 0, "indeterminate.low", "want 0 to 1"},
		{f.Indeterminate.High <= 1, "indeterminate.high", "want 0 to 1"},
		{f.Indeterminate.Low <= f.Indeterminate.High, "indeterminate", "want low ≤ high"},
		{within(f.Clip) && f.Clip > 0, "clip", fmt.Sprintf("want above 0 to %g", most)},
		{f.Baseline >= 0 && f.Baseline <= 1, "baseline", "want 0 to 1"},
		{within(f.SampledAt) && f.SampledAt > 0, "sampled_at_s", fmt.Sprintf("want above 0 to %g", most)},
		{f.IsCalibrated == (f.CalibratedOn != ""), "calibrated_on", "want a text if, and only if, is_calibrated"},
		{len(f.TrainedOn) > 0, "trained_on", "is empty"},
		{f.Licence != "", "licence", "is empty"},
	} {
		if !c.ok {
			return &FileError{c.path, c.reason}
		}
	}
	if err := f.checkCuts(); err != nil {
		return err
	}
	if err := f.Adapted.check(); err != nil {
		return err
	}
	if err := checkRecords(f.TrainedOn, f.Metrics); err != nil {
		return err
	}
	if err := f.checkFeatures(); err != nil {
		return err
	}
	n := len(f.Features)
	var c mat.Cholesky // its memory serves both
	if err := checkMatrix(&c, "correlation", f.Correlation, n); err != nil {
		return err
	}
	for i := range n {
		if f.Correlation[i][i] != 1 {
			return &FileError{fmt.Sprintf("correlation[%d][%d]", i, i), "want 1"}
		}
	}
	return checkMatrix(&c, "covariance", f.Covariance, n+numShared)
}

// check verifies the counts of an adaptation; nil is valid.
func (a *Adapted) check() error {
	switch {
	case a == nil:
		return nil
	case a.Sessions < 0:
		return &FileError{"adapted.sessions", "want at least 0"}
	case a.People < 0:
		return &FileError{"adapted.people", "want at least 0"}
	case a.Accounts < 0:
		return &FileError{"adapted.accounts", "want at least 0"}
	case !(a.BaseRate >= 0 && a.BaseRate < 1):
		return &FileError{"adapted.base_rate", "want 0 to below 1"}
	}
	return nil
}

// ascending reports whether x ascends strictly, with all values within ±most.
func ascending(x []float64) bool {
	for i, v := range x {
		if !within(v) || i > 0 && v <= x[i-1] {
			return false
		}
	}
	return true
}

// checkCuts verifies that each class but the first has a cut, and that scores and
// linear predictors of the cuts ascend. Every class can then occur, and a higher
// probability never gives a lower class.
func (f *BayesFile) checkCuts() error {
	want := len(f.Category.Severities()) - 1
	if len(f.Cuts) != want {
		return &FileError{"cuts", fmt.Sprintf("got %d, want %d", len(f.Cuts), want)}
	}
	last := math.Inf(-1)
	for i, c := range f.Cuts {
		path := fmt.Sprintf("cuts[%d]", i)
		k := slices.Index(BandScores[:], c.Score)
		if k != len(BandScores)-want+i {
			return &FileError{path + ".score", fmt.Sprintf("got %d, want %d", c.Score, BandScores[len(BandScores)-want+i])}
		}
		if !(c.Probability > 0 && c.Probability < 1) {
			return &FileError{path + ".probability", "want above 0 and below 1"}
		}
		eta := logit(c.Probability) + f.Thresholds[k]
		if eta < last {
			return &FileError{path + ".probability", "is below the cut of the class before"}
		}
		last = eta
	}
	return nil
}

// logit is the inverse of dsp.Logistic.
func logit(p float64) float64 { return math.Log(p) - math.Log1p(-p) }

// checkFeatures verifies the features against their schema.
func (f *BayesFile) checkFeatures() error {
	if len(f.Features) == 0 {
		return &FileError{"features", "are empty"}
	}
	seen := map[string]bool{}
	for i := range f.Features {
		x := &f.Features[i]
		path := fmt.Sprintf("features[%d]", i)
		if err := x.check(path); err != nil {
			return err
		}
		if seen[x.Name] {
			return &FileError{path + ".name", x.Name + " is there twice"}
		}
		seen[x.Name] = true
	}
	for i, x := range f.Sex {
		path := fmt.Sprintf("sex[%d]", i)
		at := features.VoiceSchema().Index(x.Name)
		switch {
		case at < 0:
			return &FileError{path + ".name", fmt.Sprintf("schema %s has no feature %q", f.Schema, x.Name)}
		case !x.Female.ok() || !x.Male.ok():
			return &FileError{path, "want finite numbers, the scales > 0"}
		}
	}
	return f.checkSpeech(seen)
}

// checkSpeech verifies the weights of the ways of speaking. has is the names of the
// features.
func (f *BayesFile) checkSpeech(has map[string]bool) error {
	var sum float64
	for i, w := range f.Speech.of() {
		if !(w >= 0 && w <= 1) {
			return &FileError{"speech." + screen.Speeches()[i].String(), "want 0 to 1"}
		}
		sum += w
	}
	if !(math.Abs(sum-1) <= weightsOff) {
		return &FileError{"speech", fmt.Sprintf("free, picture and reading sum to %g, want 1", sum)}
	}
	for i, name := range f.Speech.By {
		path := fmt.Sprintf("speech.by[%d]", i)
		switch {
		case !has[name]:
			return &FileError{path, fmt.Sprintf("the model has no feature %q", name)}
		case slices.Contains(f.Speech.By[:i], name):
			return &FileError{path, name + " is there twice"}
		}
	}
	return nil
}

// weightsOff is how far a sum of shares may be from 1: what decimals leave.
const weightsOff = 1e-6

// check verifies a feature, which is at path in its file.
func (x *BayesFeature) check(path string) error {
	if err := x.checkNames(path); err != nil {
		return err
	}
	for _, s := range screen.Speeches() {
		at := fmt.Sprintf("%s.norms.%s", path, s)
		switch norm := x.Norms.Of(s); {
		case !norm.Female.ok():
			return &FileError{at + ".female", "want finite numbers, the scale > 0"}
		case !norm.Male.ok():
			return &FileError{at + ".male", "want finite numbers, the scale > 0"}
		}
	}
	for _, c := range []struct {
		ok     bool
		path   string
		reason string
	}{
		{x.Transform.Valid(), "transform", "want identity, log or logit"},
		{x.Sampling.Variance >= 0 && within(x.Sampling.Variance), "sampling.variance", fmt.Sprintf("want 0 to %g", most)},
		{x.Sampling.Falls >= 0 && x.Sampling.Falls <= 2, "sampling.falls", "want 0 to 2"},
		{within(x.Noise.PerDB), "noise.per_db", fmt.Sprintf("want within ±%g", most)},
		{within(x.Noise.Below), "noise.below_db", fmt.Sprintf("want within ±%g", most)},
		{within(x.Weight), "weight", fmt.Sprintf("want within ±%g", most)},
		{x.Stability >= 0 && x.Stability < 1, "stability", "want 0 to below 1"},
	} {
		if !c.ok {
			return &FileError{path + "." + c.path, c.reason}
		}
	}
	return nil
}

// checkNames verifies name and unit of a feature, or of the features that it is the
// mean of.
func (x *BayesFeature) checkNames(path string) error {
	schema := features.VoiceSchema()
	if len(x.Of) == 0 {
		return checkName(schema, path, x.Name, x.Unit)
	}
	switch {
	case x.Name == "":
		return &FileError{path + ".name", "is empty"}
	case schema.Index(x.Name) >= 0:
		return &FileError{path + ".name", x.Name + " is a feature of the schema, want another name for a mean"}
	}
	for i, name := range x.Of {
		at := fmt.Sprintf("%s.of[%d]", path, i)
		k := schema.Index(name)
		if k < 0 {
			return &FileError{at, fmt.Sprintf("schema %s has no feature %q", schema.Name(), name)}
		}
		if _, unit := schema.Feature(k); unit != x.Unit {
			return &FileError{at, fmt.Sprintf("%s is in %q, not in %q", name, unit, x.Unit)}
		}
		if slices.Contains(x.Of[:i], name) {
			return &FileError{at, name + " is there twice"}
		}
	}
	return nil
}

func (s Spread) ok() bool { return dsp.Finite(s.Center) && dsp.Finite(s.Scale) && s.Scale > 0 }

// checkName verifies a feature's name and unit.
func checkName(schema *features.Schema, path, name, unit string) error {
	at := schema.Index(name)
	if at < 0 {
		return &FileError{path + ".name", fmt.Sprintf("schema %s has no feature %q", schema.Name(), name)}
	}
	if _, want := schema.Feature(at); want != unit {
		return &FileError{path + ".unit", fmt.Sprintf("%s is in %q, not in %q", name, want, unit)}
	}
	return nil
}

// symmetric makes a mat.Symmetric of the rows of a matrix.
type symmetric [][]float64

func (m symmetric) Dims() (rows, columns int) { return len(m), len(m) }
func (m symmetric) At(i, j int) float64       { return m[i][j] }
func (m symmetric) T() mat.Matrix             { return m }
func (m symmetric) SymmetricDim() int         { return len(m) }

// checkMatrix verifies that m has n rows and columns, is symmetric and positive
// definite.
func checkMatrix(c *mat.Cholesky, path string, m [][]float64, n int) error {
	if len(m) != n {
		return &FileError{path, fmt.Sprintf("got %d rows, want %d", len(m), n)}
	}
	for i, row := range m {
		at := fmt.Sprintf("%s[%d]", path, i)
		if len(row) != n {
			return &FileError{at, fmt.Sprintf("got %d numbers, want %d", len(row), n)}
		}
		for j, v := range row {
			if !within(v) {
				return &FileError{fmt.Sprintf("%s[%d]", at, j), fmt.Sprintf("want within ±%g", most)}
			}
		}
	}
	for i := range n {
		for j := i + 1; j < n; j++ {
			if m[i][j] != m[j][i] {
				return &FileError{fmt.Sprintf("%s[%d][%d]", path, i, j), "differs from the transposed element"}
			}
		}
	}
	if !c.Factorize(symmetric(m)) {
		return &FileError{path, "is not positive definite"}
	}
	return nil
}
