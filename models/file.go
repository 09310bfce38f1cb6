package models

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/voicescreen/voicescreen/screen"
)

// FileFormat is the format of the files of [Linear] models. The formats
// voicescreen-model/2 and 3 are of former versions, and [Load] refuses them.
const FileFormat = "voicescreen-model/1"

// MaxFileSize is the greatest size of a model file in bytes, 2 MiB. Chosen: many times
// the largest shipped file, and small enough to read at once.
const MaxFileSize = 2 << 20

// ErrModel is matched by every [FileError]: the model file is invalid.
var ErrModel = errors.New("models: model file does not fit")

// FileError is a fault of a model file. It matches ErrModel.
type FileError struct {
	Path   string // of the value at fault, such as "features[3].unit"; "" is the whole file
	Reason string
}

func (e *FileError) Error() string {
	if e.Path == "" {
		return ErrModel.Error() + ": " + e.Reason
	}
	return ErrModel.Error() + ": " + e.Path + ": " + e.Reason
}

// Is reports whether target is ErrModel.
func (e *FileError) Is(target error) bool { return target == ErrModel }

// File is the file of a [Linear] model: a linear predictor over named features,
//
//	η = intercept + Σ weight·z,  z = (x − center − Σ slope·u)/scale clipped to ±clip,
//
// where u are the covariates and their squares: what a person of this pitch has is
// center + Σ slope·u. A file with further predictors of the same z, each with an η of its
// own, says that a recording is positive in one way or another, and has ln Σ exp(η).
//
// η is calibrated, see [Calibration], and a link maps that to a
// probability. A feature that was not measured adds nothing. Files are JSON; a
// member that is missing, unknown, repeated or out of range makes [Load] refuse
// the file.
type File struct {
	Format        string          `json:"format"` // FileFormat
	Name          string          `json:"name"`
	Version       string          `json:"version"`
	Category      screen.Category `json:"category"`
	Schema        string          `json:"schema"` // name of the schema of the features
	Description   string          `json:"description"`
	Link          Link            `json:"link"`
	Intercept     float64         `json:"intercept"` // logits
	LogitSD       float64         `json:"logit_sd"`  // standard error, in logits, common to all recordings
	Clip          float64         `json:"clip"`      // > 0
	Calibration   *Calibration    `json:"calibration"`
	Prior         float64         `json:"prior,omitempty"` // share of positive recordings that the probability assumes, < 1; 0 if unknown
	Indeterminate Band            `json:"indeterminate"`
	IsCalibrated  bool            `json:"is_calibrated"` // on labelled recordings
	CalibratedOn  string          `json:"calibrated_on"` // which ones, in words; "" if not calibrated
	TrainedOn     []Data          `json:"trained_on"`
	Metrics       []Metric        `json:"metrics"`
	Licence       string          `json:"licence"` // of the weights

	// Outside is the greatest share of the measured features outside their ranges, 0
	// to 1, of a recording without the caution Unfamiliar. With 0 no recording has it.
	Outside float64 `json:"outside,omitempty"`

	// Covariates are what the center of a feature depends on, such as the pitch. They
	// are no terms of the predictor themselves.
	Covariates []Covariate `json:"covariates,omitempty"`

	// Others are the further predictors, of other ways of being positive.
	Others []Predictor `json:"others,omitempty"`

	Features []Feature `json:"features"`
}

// Predictor is a further predictor of a file. Its weights are in Feature.Others.
type Predictor struct {
	Of        string  `json:"of"`        // the way of being positive, in words
	Intercept float64 `json:"intercept"` // logits
}

// A Covariate is a feature x as u = (x − center)/scale clipped to ±clip, 0 where it was
// not measured.
type Covariate struct {
	Name   string  `json:"name"`
	Unit   string  `json:"unit"`
	Center float64 `json:"center"` // in Unit
	Scale  float64 `json:"scale"`  // in Unit, > 0
}

// Link is how a linear predictor η becomes probabilities.
type Link struct {
	Kind LinkKind `json:"kind"`

	// Thresholds are those of the proportional odds model (McCullagh 1980),
	// P(class > k) = 1/(1 + exp(θk − η)), ascending; one fewer than the
	// classes. Ordinal only.
	Thresholds []float64 `json:"thresholds,omitempty"`

	// Cuts are the ascending values of the calibrated η at which class k + 1
	// begins, one fewer than the classes. They differ from Thresholds because
	// at a low base rate the most probable class is almost always the lowest.
	// Ordinal only.
	Cuts []float64 `json:"cuts,omitempty"`

	// Decision is the index, from 1, of the threshold of Probability: 1 for
	// PHQ-9 ≥ 10, 2 for GAD-7 ≥ 10. Ordinal only.
	Decision int `json:"decision,omitempty"`
}

// LinkKind is the form of a Link.
type LinkKind uint8

const (
	Logit   LinkKind = iota + 1 // p = 1/(1 + exp(−η))
	Ordinal                     // proportional odds
)

var linkKinds = screen.NewEnum[LinkKind]("link", "logit", "ordinal")

func (k LinkKind) String() string                { return linkKinds.String(k) }
func (k LinkKind) MarshalText() ([]byte, error)  { return linkKinds.MarshalText(k) }
func (k *LinkKind) UnmarshalText(b []byte) error { return linkKinds.Unmarshal(k, b) }

// Band is the indeterminate band of a model file, in terms of the probability. It is
// applied as [screen.Band.Of] says.
type Band = screen.Band

// Data is a source of a model.
type Data struct {
	Data    string `json:"data"` // its name, in words
	Rows    int    `json:"rows"` // number of recordings; 0 for other sources
	Licence string `json:"licence"`
}

// Metric is a measured figure, with its interval, data and split.
type Metric struct {
	Name     string  `json:"name"` // such as "auc"
	Value    float64 `json:"value"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Interval string  `json:"interval"` // the kind of interval from Low to High
	Data     string  `json:"data"`
	Split    string  `json:"split"`
	N        int     `json:"n"` // recordings
}

// Feature is one term of the linear predictor.
type Feature struct {
	Name     string  `json:"name"`
	Unit     string  `json:"unit"`
	Center   float64 `json:"center"` // in Unit
	Scale    float64 `json:"scale"`  // in Unit, > 0
	Weight   float64 `json:"weight"` // logits per Scale
	WeightSD float64 `json:"weight_sd"`

	// Others are the weights in the further predictors of the file, in their order.
	Others []float64 `json:"others,omitempty"`

	// Slopes are what Center grows by with u and u² of each covariate, in Unit: two for
	// each, in their order.
	Slopes []float64 `json:"slopes,omitempty"`

	// Low to High is the range of the feature over the training recordings, in Unit; see
	// File.Outside. A bound that is missing in a file is 0.
	Low  float64 `json:"low,omitempty"`
	High float64 `json:"high,omitempty"`
}

// Load reads a model file and returns its scorer, a [*Linear] or a [*Bayes]. An
// error about the contents of the file matches ErrModel.
func Load(r io.Reader) (Scorer, error) {
	b, format, err := readModel(r, FileFormat, BayesFormat)
	if err != nil {
		return nil, err
	}
	if format == BayesFormat {
		var f BayesFile
		if err := decode(b, &f); err != nil {
			return nil, err
		}
		return NewBayes(&f)
	}
	var f File
	if err := decode(b, &f); err != nil {
		return nil, err
	}
	return NewLinear(&f)
}

// LoadFile is [Load] for the file at path.
func LoadFile(path string) (Scorer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("models: open model file: %w", err)
	}
	defer f.Close()
	s, err := Load(f)
	if err != nil {
		return nil, fmt.Errorf("models: load %s: %w", path, err)
	}
	return s, nil
}

// Read reads and checks the file of a [Linear] model. An error about the
// contents of the file matches ErrModel.
func Read(r io.Reader) (*File, error) {
	b, _, err := readModel(r, FileFormat)
	if err != nil {
		return nil, err
	}
	var f File
	if err := decode(b, &f); err != nil {
		return nil, err
	}
	if err := f.Check(); err != nil {
		return nil, err
	}
	return &f, nil
}

// Write checks the file and writes it as indented JSON, with a line for each feature.
// Equal files give equal bytes. The error is a *FileError or one of w.
func (f *File) Write(w io.Writer) error {
	if err := f.Check(); err != nil {
		return err
	}
	head := *f
	head.Features = nil
	return writeModel(w, &head, newLines("features", f.Features))
}

// lines is a list of a model file that is written with a line for each element.
type lines struct {
	key    string // of the list, a member of the top object
	values []any
}

func newLines[T any](key string, list []T) lines {
	l := lines{key: key, values: make([]any, len(list))}
	for i, v := range list {
		l.values[i] = v
	}
	return l
}

// writeModel writes head, a model file in which the lists are nil, as indented JSON,
// and lists in their places.
func writeModel(w io.Writer, head any, lists ...lines) error {
	b, err := json.MarshalIndent(head, "", "  ")
	if err != nil {
		return fmt.Errorf("models: encode model file: %w", err)
	}
	text := string(b)
	for _, l := range lists {
		parts := make([]string, len(l.values))
		for i, v := range l.values {
			line, err := json.Marshal(v)
			if err != nil {
				return fmt.Errorf("models: encode model file: %w", err)
			}
			parts[i] = string(line)
		}
		key := `"` + l.key + `": ` // its quotes are not escaped, so it is not inside a text
		text = strings.Replace(text, key+"null", key+"[\n    "+strings.Join(parts, ",\n    ")+"\n  ]", 1)
	}
	if _, err := io.WriteString(w, text+"\n"); err != nil {
		return fmt.Errorf("models: write model file: %w", err)
	}
	return nil
}
