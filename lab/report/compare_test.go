package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/lab/report"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// compared returns the rows of drawn with the scores of a second model, which knows
// nothing.
func compared(n int) []report.Row {
	rng := rand.New(rand.NewPCG(3, 4))
	rows := drawn(n)
	for i := range rows {
		rows[i].Other.Probability = rng.Float64()
	}
	return rows
}

var second = models.Info{Name: "other", Version: "2"}

func TestCompare(t *testing.T) {
	rows, o := compared(120), report.Options{Seed: 1, Resamples: 200}
	r := report.New(screen.Deepfake, model, rows, o)
	if err := r.Compare(second, rows, o); err != nil {
		t.Fatal(err)
	}
	c := r.Against
	if c.Rows != 120 || c.Positive != 60 || c.Model != "other" || c.Version != "2" {
		t.Errorf("got %+v", c)
	}
	var a, b []float64
	var y []bool
	for _, x := range rows {
		a, b, y = append(a, x.Score.Probability), append(b, x.Other.Probability), append(y, x.Positive)
	}
	for i, want := range []struct {
		name string
		of   func([]float64) float64
	}{
		{"auc", func(s []float64) float64 { return stats.AUC(s, y) }},
		{"brier", func(s []float64) float64 { return stats.Brier(s, y) }},
		{"ece", func(s []float64) float64 { return stats.ECE(s, y, 10) }},
	} {
		f := c.Figures[i]
		if f.Name != want.name || float64(f.Value) != want.of(a) || float64(f.Other) != want.of(b) || f.Difference != f.Value-f.Other {
			t.Errorf("%s: got %+v, want %v and %v", want.name, f, want.of(a), want.of(b))
		}
		if f.Clusters == nil || !(f.Recordings.Low < f.Difference && f.Difference < f.Recordings.High) {
			t.Errorf("%s: got %+v, want both intervals, and the difference within", want.name, f)
		}
	}
	if f := c.Figures[0]; math.Abs(float64(c.DeLong.Difference-f.Difference)) > 1e-12 || !(c.DeLong.P < 0.01) || math.Abs(float64(c.DeLong.Low-f.Recordings.Low)) > 0.05 {
		t.Errorf("got %+v and DeLong %+v, want one difference and intervals that are close", f, c.DeLong)
	}
	var text, page bytes.Buffer
	if err := errors.Join(r.WriteText(&text), r.WriteHTML(&page)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"against   other 2, on 120 recordings", "DeLong    difference of the AUC +0.", "decide by the bootstrap", "AUC of m 1 is higher than that of other 2"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("got\n%s\nwant %q in it", &text, want)
		}
	}
	for _, want := range []string{"Against other 2", "120 recordings have a score of both", "DeLong", "AUC of m 1 is higher"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("page: want %q in it", want)
		}
	}
	var in struct {
		Against struct {
			Figures []struct{ Difference float64 }
			DeLong  struct{ P, Low, High float64 }
		}
	}
	if b, err := json.Marshal(r); err != nil || json.Unmarshal(b, &in) != nil || len(in.Against.Figures) != 3 || in.Against.DeLong.P != float64(c.DeLong.P) || in.Against.DeLong.High == 0 {
		t.Errorf("JSON: got %+v, %v", in, err)
	}
}

// TestCompareIsPaired compares a model with itself plus a little noise: the interval of
// the difference is far narrower than that of the AUC.
func TestCompareIsPaired(t *testing.T) {
	rows, o := compared(120), report.Options{Seed: 1, Resamples: 200}
	for i := range rows {
		rows[i].Cluster = ""
		rows[i].Other.Probability = rows[i].Score.Probability + 0.001*rows[i].Other.Probability
	}
	r := report.New(screen.Deepfake, model, rows, o)
	if err := r.Compare(second, rows, o); err != nil {
		t.Fatal(err)
	}
	auc, _ := r.Figure("auc")
	f := r.Against.Figures[0]
	if got, alone := f.Recordings.High-f.Recordings.Low, auc.Recordings.High-auc.Recordings.Low; f.Clusters != nil || !(got < alone/5) {
		t.Errorf("got an interval of the difference %v wide, of the AUC %v", got, alone)
	}
	if v := r.Verdict(); !strings.Contains(v, "do not show which") || r.IndependenceWarning() != "" {
		t.Errorf("got %q and %q, want no verdict and no warning", v, r.IndependenceWarning())
	}
}

func TestCompareWithoutPairs(t *testing.T) {
	o := report.Options{Gated: true, Resamples: 20}
	for name, c := range map[string]struct {
		change func(i int, x *report.Row)
		want   string
	}{
		"no pairs":    {func(i int, x *report.Row) { x.Other.Probability = math.NaN() }, "no recording has a score of both"},
		"all refused": {func(i int, x *report.Row) { x.Refused = "no_speech_error" }, "no recording"},
		"one class":   {func(i int, x *report.Row) { x.Positive = true }, "one class"},
		"one class scored by both": {func(i int, x *report.Row) {
			if x.Positive {
				x.Score.Probability = math.NaN()
			}
		}, "one class"},
	} {
		rows := compared(30)
		for i := range rows {
			c.change(i, &rows[i])
		}
		r := report.New(screen.Deepfake, model, rows, o)
		if err := r.Compare(second, rows, o); !errors.Is(err, report.ErrCompare) || !strings.Contains(err.Error(), c.want) || r.Against != nil {
			t.Errorf("%s: got %v, want ErrCompare about %q", name, err, c.want)
		}
	}
	rows := compared(30) // the recordings without a score of both are left out, and no others
	rows[3].Other.Probability = math.NaN()
	r := report.New(screen.Deepfake, model, rows, o)
	if err := r.Compare(second, rows, o); err != nil || r.Against.Rows != 26 || r.Rows != 27 {
		t.Errorf("got %+v, %v, want 26 of the 27 that are not refused", r.Against, err)
	}
}
