package dam_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/dam"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store/memory"
)

const recording = "../../testdata/interview_en.wav" // 41 s of speech

// narrow is the shape of testdata/narrow.ckpt, whose weights are drawn from a seed.
var narrow = dam.Shape{Mels: 80, Frames: 1500, Width: 8, Heads: 2, Inner: 8, Layers: 2, Hidden: 4, Shared: 4, Task: 4}

// The published checkpoint in an engine. voicescreen.Open and serve take the same
// options.
func Example() {
	m, err := dam.Open("dam3.1.ckpt", nil)
	if err != nil {
		log.Fatal(err)
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
		fmt.Println(s.Category, s.Severity, s.Decision)
	}
}

// TestCheckpointInAnEngine goes the way of a user on seeded weights: a checkpoint that
// PyTorch wrote is converted, opened and given to an engine, which analyses a recording
// and keeps the result of a session.
func TestCheckpointInAnEngine(t *testing.T) {
	const checkpoint = "testdata/narrow.ckpt"
	sum, err := dam.Checksum(checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	var converted bytes.Buffer
	if err := dam.ConvertShape(&converted, checkpoint, narrow, "00"+sum[2:], false); !errors.Is(err, dam.ErrChecksum) || converted.Len() > 0 {
		t.Errorf("another checksum: got %v and %d bytes, want ErrChecksum and none", err, converted.Len())
	}
	if err := dam.ConvertShape(&converted, checkpoint, narrow, sum, false); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "narrow.model")
	if err := os.WriteFile(file, converted.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	speech, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	shipped := analyzed(t, nil, speech)
	var first []screen.Score
	for _, path := range []string{checkpoint, file} {
		if _, err := dam.Open(path, nil); !errors.Is(err, dam.ErrWeights) && !errors.Is(err, dam.ErrFile) {
			t.Errorf("%s: got %v, want an error: it does not have the published shape", path, err)
		}
		m, err := dam.OpenShape(path, narrow, nil)
		if err != nil {
			t.Fatal(err)
		}
		scores := analyzed(t, m, speech)
		if len(scores) != len(shipped) {
			t.Fatalf("%s: got %d scores, want the %d of the shipped models", path, len(scores), len(shipped))
		}
		for i, s := range scores {
			checkScore(t, s, shipped[i])
			if first != nil && s.Probability != first[i].Probability {
				t.Errorf("%v: got %v from the conversion, %v from the checkpoint", s.Category, s.Probability, first[i].Probability)
			}
		}
		first = scores
	}
}

// analyzed returns the scores of a recording by an engine with a model, through a
// session; without one for nil.
func analyzed(t *testing.T, m models.Scorer, speech []byte) []screen.Score {
	t.Helper()
	ctx := t.Context()
	var o voicescreen.Options
	if m != nil {
		o.Scoring.Models = []models.Scorer{m}
	}
	st := memory.New(nil)
	defer st.Close()
	e, err := voicescreen.New(st, &o)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.WithoutCancel(ctx))
	id, err := e.Initiate(ctx, voicescreen.InitiateRequest{UserID: "u", Consent: true})
	if err == nil {
		_, err = e.Submit(ctx, id, bytes.NewReader(speech), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Wait(ctx, id)
	if err != nil || r.Status != screen.StatusSuccess {
		t.Fatalf("got %+v, %v", r, err)
	}
	return r.Scores
}

// checkScore checks that a score is what DAM.md says of the model's.
func checkScore(t *testing.T, s, shipped screen.Score) {
	t.Helper()
	if s.Category != shipped.Category || s.Model != dam.Name || s.Version != dam.Version {
		t.Errorf("got %v by %s %s, want %v by dam 3.1", s.Category, s.Model, s.Version, shipped.Category)
	}
	if !(s.Probability > 0 && s.Probability < 1) || s.Severity == 0 || s.Decision == 0 || !math.IsNaN(s.Low) {
		t.Errorf("%v: got %+v, want a probability, a class, a decision and no interval", s.Category, s)
	}
	if len(s.Contributions) != 1 || s.Contributions[0].Feature != "dam."+s.Category.String() {
		t.Errorf("%v: got contributions %+v, want the raw score", s.Category, s.Contributions)
	}
}
