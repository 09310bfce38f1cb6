package models_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

func TestBayesFileRoundTrip(t *testing.T) {
	f := bayesFile()
	f.IsCalibrated, f.CalibratedOn, f.Labels = true, "labels", &models.Labels{Sessions: 3, Users: 2, Accounts: 1, PHQ9: 3, From: "2026-01-01", To: "2026-02-01"}
	f.Adapted = &models.Adapted{Sessions: 50, People: 40, Accounts: 2, From: "2026-01-01", To: "2026-02-01", BaseRate: 0.3}
	var first, second bytes.Buffer
	if err := f.Write(&first); err != nil {
		t.Fatal(err)
	}
	got, err := models.ReadBayes(bytes.NewReader(first.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Write(&second); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("got error %v and %s, want %s", err, second.Bytes(), first.Bytes())
	}
	s, err := models.Load(bytes.NewReader(first.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if info := s.Info(); !info.Calibrated || info.CalibratedOn != "labels" || !slices.Equal(info.Categories, []screen.Category{screen.Depression}) {
		t.Errorf("got %+v", info)
	}
	if _, err := models.Read(bytes.NewReader(first.Bytes())); !errors.Is(err, models.ErrModel) {
		t.Errorf("read as a linear model: got %v, want ErrModel", err)
	}
}

func TestBayesFileFaultsAreNamed(t *testing.T) {
	for path, change := range map[string]func(f *models.BayesFile){
		"format":                         func(f *models.BayesFile) { f.Format = models.FileFormat },
		"category":                       func(f *models.BayesFile) { f.Category = screen.Deepfake },
		"schema":                         func(f *models.BayesFile) { f.Schema = "spoof/1" },
		"thresholds":                     func(f *models.BayesFile) { f.Thresholds[1] = 1 },
		"cuts":                           func(f *models.BayesFile) { f.Cuts = f.Cuts[:1] },
		"cuts[0].score":                  func(f *models.BayesFile) { f.Cuts[0].Score = 5 },
		"cuts[1].probability":            func(f *models.BayesFile) { f.Cuts[1].Probability = 0.01 },
		"indeterminate":                  func(f *models.BayesFile) { f.Indeterminate.Low = 0.9 },
		"clip":                           func(f *models.BayesFile) { f.Clip = math.Inf(1) },
		"baseline":                       func(f *models.BayesFile) { f.Baseline = math.NaN() },
		"calibrated_on":                  func(f *models.BayesFile) { f.IsCalibrated = true },
		"features":                       func(f *models.BayesFile) { f.Features = nil },
		"features[0].name":               func(f *models.BayesFile) { f.Features[0].Name = "speech.tempo" },
		"features[0].unit":               func(f *models.BayesFile) { f.Features[0].Unit = "ms" },
		"features[1].norms.free.female":  func(f *models.BayesFile) { f.Features[1].Norms.Free.Female.Scale = 0 },
		"features[1].norms.reading.male": func(f *models.BayesFile) { f.Features[1].Norms.Reading.Male.Center = math.NaN() },
		"features[1].norms.picture.male": func(f *models.BayesFile) { f.Features[1].Norms.Picture.Male.Scale = -1 },
		"features[0].transform":          func(f *models.BayesFile) { f.Features[0].Transform = 9 },
		"features[0].of[1]": func(f *models.BayesFile) {
			f.Features[0].Name, f.Features[0].Of = "mean", []string{"pause.mean_s", "pause.ratio"}
		},
		"features[2].name":              func(f *models.BayesFile) { f.Features[2].Of = []string{"pause.mean_s"} },
		"features[0].sampling.variance": func(f *models.BayesFile) { f.Features[0].Sampling.Variance = -1 },
		"features[0].sampling.falls":    func(f *models.BayesFile) { f.Features[0].Sampling.Falls = math.NaN() },
		"features[0].noise.per_db":      func(f *models.BayesFile) { f.Features[0].Noise.PerDB = math.Inf(-1) },
		"features[0].noise.below_db":    func(f *models.BayesFile) { f.Features[0].Noise.Below = math.NaN() },
		"sampled_at_s":                  func(f *models.BayesFile) { f.SampledAt = 0 },
		"speech.free":                   func(f *models.BayesFile) { f.Speech.Free = math.NaN() },
		"speech":                        func(f *models.BayesFile) { f.Speech.Reading = 0.5 },
		"speech.by[0]":                  func(f *models.BayesFile) { f.Speech.By = []string{"pause.count_min"} },
		"features[2].weight":            func(f *models.BayesFile) { f.Features[2].Weight = 1e300 },
		"features[2].stability":         func(f *models.BayesFile) { f.Features[2].Stability = 1 },
		"sex[0].name":                   func(f *models.BayesFile) { f.Sex[0].Name = "voice" },
		"correlation":                   func(f *models.BayesFile) { f.Correlation[0][1], f.Correlation[1][0] = 2, 2 },
		"correlation[0][0]":             func(f *models.BayesFile) { f.Correlation[0][0] = 2 },
		"correlation[0][1]":             func(f *models.BayesFile) { f.Correlation[0][1] = 0.5 },
		"covariance":                    func(f *models.BayesFile) { f.Covariance = f.Covariance[:5] },
		"covariance[5]":                 func(f *models.BayesFile) { f.Covariance[5] = nil },
		"adapted.sessions":              func(f *models.BayesFile) { f.Adapted = &models.Adapted{Sessions: -1} },
		"adapted.people":                func(f *models.BayesFile) { f.Adapted = &models.Adapted{People: -1} },
		"adapted.accounts":              func(f *models.BayesFile) { f.Adapted = &models.Adapted{Accounts: -1} },
		"adapted.base_rate":             func(f *models.BayesFile) { f.Adapted = &models.Adapted{BaseRate: math.NaN()} },
		"trained_on":                    func(f *models.BayesFile) { f.TrainedOn = nil },
		"metrics[0]":                    func(f *models.BayesFile) { f.Metrics = []models.Metric{{}} },
	} {
		f := bayesFile()
		change(f)
		var fault *models.FileError
		if err := f.Check(); !errors.As(err, &fault) || fault.Path != path {
			t.Errorf("%s: got %v, want that path", path, err)
		}
	}
}

func TestLoadNamesFormatsAndMissingFields(t *testing.T) {
	var b bytes.Buffer
	if err := bayesFile().Write(&b); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"voicescreen-model/99": strings.Replace(b.String(), models.BayesFormat, "voicescreen-model/99", 1),
		"stability":            strings.Replace(b.String(), `"stability":0.75,`, "", 1),
		"pitch":                strings.Replace(b.String(), `"clip"`, `"pitch": 3, "clip"`, 1),
		"is there twice":       strings.Replace(b.String(), `"clip"`, `"clip": 3, "clip"`, 1),
	} {
		if _, err := models.Load(strings.NewReader(text)); !errors.Is(err, models.ErrModel) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v, want an ErrModel that names it", name, err)
		}
	}
}

func FuzzLoadBayes(f *testing.F) {
	var b bytes.Buffer
	if err := bayesFile().Write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(`{"format":"voicescreen-model/4"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := models.Load(bytes.NewReader(data))
		if err != nil {
			if !errors.Is(err, models.ErrModel) {
				t.Errorf("got %v, want an ErrModel", err)
			}
			return
		}
		if s, ok := s.(*models.Bayes); ok {
			got := scoreOf(t, s, &features.Recording{Features: constant(1)})
			if math.IsNaN(got.Probability + got.Low + got.High + got.Coverage) {
				t.Errorf("got %+v, want numbers", got)
			}
		}
	})
}
