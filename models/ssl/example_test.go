package ssl_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/ssl"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store/memory"
)

// A converted model in an engine, which then uses it in the place of the shipped
// deepfake model. voicescreen.Open takes the same options.
func Example() {
	m, err := ssl.Open("mms_300m.model", nil)
	if err != nil {
		log.Fatal(err)
	}
	if i := m.Info(); i.NonCommercial {
		log.Printf("%s: %s", i.Name, i.Licence)
	}
	e, err := voicescreen.New(memory.New(nil), &voicescreen.Options{
		Scoring: voicescreen.ScoringOptions{Models: []models.Scorer{m}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close(context.Background())
	f, err := os.Open("recording.wav")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	a, err := e.Analyze(context.Background(), f, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range a.Scores {
		fmt.Println(s.Category, s.Probability, s.Decision)
	}
}

// TestDetectorInAnEngine goes the way of a user on seeded weights, of both kinds of
// published files: converted, opened and given to an engine, which keeps the result of a
// session.
func TestDetectorInAnEngine(t *testing.T) {
	for path, opts := range map[string]*ssl.Options{"testdata/tiny.ckpt": {Heads: 2}, "testdata/detector": nil} {
		m, err := ssl.Open(path, opts)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "m.model")
		var b bytes.Buffer
		if err := m.Write(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		converted, err := ssl.Open(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		first, second := deepfake(t, m), deepfake(t, converted)
		if first.Model != m.Info().Name || first.Version != m.Info().Version || !(first.Probability > 0 && first.Probability < 1) ||
			!math.IsNaN(first.Low) || first.Decision == 0 || first.Calibrated || first.Prior != 0 || len(first.Segments) != 1 {
			t.Errorf("%s: got %+v", path, first)
		}
		if first.Probability != second.Probability || first.Version != second.Version {
			t.Errorf("%s: got %+v from the conversion, want %+v", path, second, first)
		}
	}
}

// deepfake returns the deepfake score of a recording by an engine with a model, through
// a session.
func deepfake(t *testing.T, m models.Scorer) screen.Score {
	t.Helper()
	ctx := t.Context()
	speech, err := os.ReadFile("../../testdata/short_en.wav") // 4.7 s of speech
	if err != nil {
		t.Fatal(err)
	}
	st := memory.New(nil)
	defer st.Close()
	e, err := voicescreen.New(st, &voicescreen.Options{Scoring: voicescreen.ScoringOptions{Models: []models.Scorer{m}}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.WithoutCancel(ctx))
	id, err := e.Initiate(ctx, voicescreen.InitiateRequest{UserID: "u", Consent: true})
	if err == nil {
		_, err = e.Submit(ctx, id, bytes.NewReader(speech), &voicescreen.SubmitOptions{Product: screen.DeepfakeBinary})
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Wait(ctx, id)
	if err != nil || r.Status != screen.StatusSuccess {
		t.Fatalf("got %+v, %v", r, err)
	}
	for _, s := range r.Scores {
		if s.Category == screen.Deepfake {
			return s
		}
	}
	t.Fatalf("got %+v, want a deepfake score", r.Scores)
	return screen.Score{}
}
