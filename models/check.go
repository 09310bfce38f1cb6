package models

import (
	"fmt"
	"slices"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/features/spoof"
)

// schemas holds every schema that a model file may name.
var schemas = map[string]*features.Schema{
	features.VoiceSchema().Name(): features.VoiceSchema(),
	spoof.Schema().Name():         spoof.Schema(),
}

// Check returns nil, or a *FileError with the first fault of the file.
func (f *File) Check() error {
	n := len(f.Category.Severities())
	for _, c := range []struct {
		ok     bool
		path   string
		reason string
	}{
		{f.Format == FileFormat, "format", "want " + FileFormat},
		{f.Name != "", "name", "is empty"},
		{f.Version != "", "version", "is empty"},
		{f.Category.Valid(), "category", "is unknown"},
		{dsp.Finite(f.Intercept), "intercept", "is not finite"},
		{dsp.Finite(f.LogitSD) && f.LogitSD >= 0, "logit_sd", "want a finite number ≥ 0"},
		{dsp.Finite(f.Clip) && f.Clip > 0, "clip", "want a finite number > 0"},
		{f.Calibration == nil || dsp.Finite(f.Calibration.A) && f.Calibration.A > 0, "calibration.a", "want a finite number > 0"},
		{f.Calibration == nil || dsp.Finite(f.Calibration.B), "calibration.b", "is not finite"},
		{f.Calibration == nil || f.Calibration.Half == 0 || dsp.Finite(f.Calibration.Half) && f.Calibration.Half > 0 && f.Link.Kind == Logit, "calibration.half", "want a finite number ≥ 0, and 0 but for the link logit"},
		{f.Prior >= 0 && f.Prior < 1, "prior", "want 0 or more and less than 1"},
		{f.Indeterminate.Low >= 0, "indeterminate.low", "want 0 to 1"},
		{f.Indeterminate.High <= 1, "indeterminate.high", "want 0 to 1"},
		{f.Indeterminate.Low <= f.Indeterminate.High, "indeterminate", "want low ≤ high"},
		{f.IsCalibrated == (f.CalibratedOn != ""), "calibrated_on", "want a text if, and only if, is_calibrated"},
		{f.Outside >= 0 && f.Outside <= 1, "outside", "want 0 to 1"},
		{len(f.TrainedOn) > 0, "trained_on", "is empty"},
		{f.Licence != "", "licence", "is empty"},
		{f.Link.Kind == Logit || f.Link.Kind == Ordinal, "link.kind", "is unknown"},
		{f.Link.Kind != Ordinal || n > 0, "link.kind", "the category has no classes"},
	} {
		if !c.ok {
			return &FileError{c.path, c.reason}
		}
	}
	if err := f.Link.check(n); err != nil {
		return err
	}
	if err := checkRecords(f.TrainedOn, f.Metrics); err != nil {
		return err
	}
	return f.checkFeatures()
}

// check verifies the parts of a link over n classes.
func (l *Link) check(n int) error {
	if l.Kind == Logit {
		if l.Thresholds != nil || l.Cuts != nil || l.Decision != 0 {
			return &FileError{"link", "a logit link has no thresholds, cuts or decision"}
		}
		return nil
	}
	if l.Decision < 1 || l.Decision >= n {
		return &FileError{"link.decision", fmt.Sprintf("got %d, want 1 to %d", l.Decision, n-1)}
	}
	for path, x := range map[string][]float64{"link.thresholds": l.Thresholds, "link.cuts": l.Cuts} {
		if len(x) != n-1 {
			return &FileError{path, fmt.Sprintf("got %d, want %d", len(x), n-1)}
		}
		if slices.ContainsFunc(x, func(v float64) bool { return !dsp.Finite(v) }) {
			return &FileError{path, "are not finite"}
		}
		for i := 1; i < len(x); i++ {
			if x[i] <= x[i-1] {
				return &FileError{fmt.Sprintf("%s[%d]", path, i), "want ascending values"}
			}
		}
	}
	return nil
}

// checkRecords verifies the training data and the figures of a model.
func checkRecords(trainedOn []Data, metrics []Metric) error {
	for i, d := range trainedOn {
		if d.Data == "" || d.Licence == "" || d.Rows < 0 {
			return &FileError{fmt.Sprintf("trained_on[%d]", i), "want data, licence and rows ≥ 0"}
		}
	}
	for i, m := range metrics {
		path := fmt.Sprintf("metrics[%d]", i)
		if m.Name == "" || m.Interval == "" || m.Data == "" || m.Split == "" || m.N <= 0 {
			return &FileError{path, "want name, interval, data, split and n > 0"}
		}
		if !dsp.Finite(m.Value) || !(m.Low <= m.Value && m.Value <= m.High) || !dsp.Finite(m.Low) || !dsp.Finite(m.High) {
			return &FileError{path, "want finite low ≤ value ≤ high"}
		}
	}
	return nil
}

// checkFeatures verifies the features against their schema, name and unit.
func (f *File) checkFeatures() error {
	schema, ok := schemas[f.Schema]
	if !ok {
		return &FileError{"schema", fmt.Sprintf("unknown schema %q", f.Schema)}
	}
	if len(f.Features) == 0 {
		return &FileError{"features", "are empty"}
	}
	seen := map[string]bool{}
	for i, x := range f.Covariates {
		if err := checkMeasure(schema, seen, fmt.Sprintf("covariates[%d]", i), x); err != nil {
			return err
		}
	}
	if err := f.checkOthers(); err != nil {
		return err
	}
	for i, x := range f.Features {
		path := fmt.Sprintf("features[%d]", i)
		if err := checkMeasure(schema, seen, path, Covariate{x.Name, x.Unit, x.Center, x.Scale}); err != nil {
			return err
		}
		switch {
		case !dsp.Finite(x.Weight):
			return &FileError{path + ".weight", "is not finite"}
		case !dsp.Finite(x.WeightSD) || x.WeightSD < 0:
			return &FileError{path + ".weight_sd", "want a finite number ≥ 0"}
		case len(x.Others) != len(f.Others):
			return &FileError{path + ".others", fmt.Sprintf("got %d, want one for each of %d further predictors", len(x.Others), len(f.Others))}
		case slices.ContainsFunc(x.Others, func(w float64) bool { return !dsp.Finite(w) }):
			return &FileError{path + ".others", "are not finite"}
		case len(x.Slopes) != 2*len(f.Covariates):
			return &FileError{path + ".slopes", fmt.Sprintf("got %d, want two for each of %d covariates", len(x.Slopes), len(f.Covariates))}
		case slices.ContainsFunc(x.Slopes, func(s float64) bool { return !dsp.Finite(s) }):
			return &FileError{path + ".slopes", "are not finite"}
		case !dsp.Finite(x.Low) || !dsp.Finite(x.High) || x.Low > x.High:
			return &FileError{path, "want a finite low ≤ high"}
		}
	}
	return nil
}

// checkOthers verifies the further predictors.
func (f *File) checkOthers() error {
	for i, o := range f.Others {
		path := fmt.Sprintf("others[%d]", i)
		switch {
		case o.Of == "":
			return &FileError{path + ".of", "is empty"}
		case !dsp.Finite(o.Intercept):
			return &FileError{path + ".intercept", "is not finite"}
		}
	}
	return nil
}

// checkMeasure verifies name, unit, centre and scale of a measure, and adds it to those
// that were seen.
func checkMeasure(schema *features.Schema, seen map[string]bool, path string, x Covariate) error {
	if err := checkName(schema, path, x.Name, x.Unit); err != nil {
		return err
	}
	switch {
	case seen[x.Name]:
		return &FileError{path + ".name", x.Name + " is there twice"}
	case !dsp.Finite(x.Center):
		return &FileError{path + ".center", "is not finite"}
	case !dsp.Finite(x.Scale) || x.Scale <= 0:
		return &FileError{path + ".scale", "want a finite number > 0"}
	}
	seen[x.Name] = true
	return nil
}
