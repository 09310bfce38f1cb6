package models

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// FileFormat is the format of model files that this package reads and writes.
const FileFormat = "voicescreen-model/1"

// MaxFileSize is how many bytes a model file may have: 2 MiB. Chosen: a
// hundred times the largest shipped file, and small enough to be read whole.
const MaxFileSize = 2 << 20

// ErrModel is what every [FileError] is: the model file does not fit.
var ErrModel = errors.New("models: model file does not fit")

// FileError says where a model file is wrong. It matches ErrModel.
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

// Is says that a FileError is ErrModel.
func (e *FileError) Is(target error) bool { return target == ErrModel }

// File is a model of the kind that this package evaluates: a linear predictor
// over named features,
//
//	η = intercept + Σ weight·z,  z = (x − center)/scale held within ±clip,
//
// calibrated to a·η + b and mapped to a probability p by a link. A feature
// that was not measured adds nothing. Files are JSON; a field that is missing,
// unknown or out of range makes [Load] refuse the file.
type File struct {
	Format        string       `json:"format"` // FileFormat
	Name          string       `json:"name"`
	Version       string       `json:"version"`
	Category      Category     `json:"category"`
	Schema        string       `json:"schema"` // name of the schema of the features
	Description   string       `json:"description"`
	Link          Link         `json:"link"`
	Intercept     float64      `json:"intercept"` // logits
	LogitSD       float64      `json:"logit_sd"`  // standard error, in logits, of what is common to all recordings
	Clip          float64      `json:"clip"`      // > 0
	Calibration   *Calibration `json:"calibration"`
	Indeterminate Band         `json:"indeterminate"`
	IsCalibrated  bool         `json:"is_calibrated"` // on labelled recordings
	CalibratedOn  string       `json:"calibrated_on"` // which ones, in words; "" if not calibrated
	TrainedOn     []Data       `json:"trained_on"`
	Metrics       []Metric     `json:"metrics"`
	Licence       string       `json:"licence"` // of the weights
	Features      []Feature    `json:"features"`
}

// Link is how a linear predictor η becomes probabilities.
type Link struct {
	Kind LinkKind `json:"kind"`

	// Thresholds are those of the proportional odds model (McCullagh 1980),
	// P(class > k) = 1/(1 + exp(θk − η)), ascending; one fewer than
	// SeverityNames. Ordinal only.
	Thresholds []float64 `json:"thresholds,omitempty"`

	// Cuts are the ascending values of the calibrated η from which on class k + 1 is
	// reported, one fewer than SeverityNames. They are apart from Thresholds
	// because the most probable class is the lowest nearly always when the
	// base rate is low. Ordinal only.
	Cuts []float64 `json:"cuts,omitempty"`

	// Decision is the index, from 1, of the threshold that belongs to
	// Probability: 1 for PHQ-9 ≥ 10, 2 for GAD-7 ≥ 10. Ordinal only.
	Decision int `json:"decision,omitempty"`
}

// LinkKind is the form of a Link.
type LinkKind uint8

const (
	Logit   LinkKind = iota + 1 // p = 1/(1 + exp(−η))
	Ordinal                     // proportional odds
)

var linkNames = names{"logit", "ordinal"}

func (k LinkKind) String() string               { return linkNames.name(uint8(k), "LinkKind") }
func (k LinkKind) MarshalText() ([]byte, error) { return linkNames.marshal(uint8(k), "link") }
func (k *LinkKind) UnmarshalText(b []byte) error {
	v, err := linkNames.parse(b, "link")
	*k = LinkKind(v)
	return err
}

// Calibration maps η to A·η + B before the link (Platt 1999). A is positive.
type Calibration struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

// Band is the interval of probability in which the model does not decide:
// below Low the decision is negative, above High positive. 0 ≤ Low ≤ High ≤ 1.
type Band struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Data is something a model was made from.
type Data struct {
	Data    string `json:"data"` // which, in words
	Rows    int    `json:"rows"` // how many recordings; 0 if it is not made of recordings
	Licence string `json:"licence"`
}

// Metric is a figure that was measured, with all that gives it a meaning.
type Metric struct {
	Name     string  `json:"name"` // such as "auc"
	Value    float64 `json:"value"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Interval string  `json:"interval"` // what Low and High bound
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
}

// Load reads a model file and returns its scorer. An error that is about what
// the file says matches ErrModel.
func Load(r io.Reader) (Scorer, error) {
	f, err := Read(r)
	if err != nil {
		return nil, err
	}
	return NewLinear(f)
}

// LoadFile is Load for the file at path.
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

// Read reads and checks a model file.
func Read(r io.Reader) (*File, error) {
	b, err := io.ReadAll(io.LimitReader(r, MaxFileSize+1))
	if err != nil {
		return nil, fmt.Errorf("models: read model file: %w", err)
	}
	if len(b) > MaxFileSize {
		return nil, &FileError{Reason: fmt.Sprintf("more than %d bytes", MaxFileSize)}
	}
	var version struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(b, &version); err != nil {
		return nil, decodeError(err)
	}
	if version.Format != FileFormat {
		return nil, &FileError{"format", fmt.Sprintf("got %q, want %q", version.Format, FileFormat)}
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var f File
	if err := d.Decode(&f); err != nil {
		return nil, decodeError(err)
	}
	if err := checkOnce(b); err != nil {
		return nil, err
	}
	if err := checkPresent(b); err != nil {
		return nil, err
	}
	if err := f.Check(); err != nil {
		return nil, err
	}
	return &f, nil
}

// decodeError names the field that did not decode.
func decodeError(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return &FileError{wrong.Field, fmt.Sprintf("a %s does not fit", wrong.Value)}
	}
	return &FileError{"", err.Error()}
}

// Write writes the file as indented JSON, one feature a line, after checking
// it. Equal files give equal bytes.
func (f *File) Write(w io.Writer) error {
	if err := f.Check(); err != nil {
		return err
	}
	head := *f
	head.Features = []Feature{}
	b, err := json.MarshalIndent(&head, "", "  ")
	if err != nil {
		return fmt.Errorf("models: encode model file: %w", err)
	}
	out := bytes.NewBuffer(bytes.TrimSuffix(b, []byte("[]\n}")))
	for i := range f.Features {
		line, err := json.Marshal(&f.Features[i])
		if err != nil {
			return fmt.Errorf("models: encode model file: %w", err)
		}
		sep := ",\n    "
		if i == 0 {
			sep = "[\n    "
		}
		out.WriteString(sep)
		out.Write(line)
	}
	out.WriteString("\n  ]\n}\n")
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("models: write model file: %w", err)
	}
	return nil
}
