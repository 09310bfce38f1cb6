package voicescreen_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// What a probability means is the account's to say, in its sessions alone.
func TestThresholdsOfAnAccount(t *testing.T) {
	always, never := 0.0, 1.0
	opts := testOptions()
	opts.Scoring.Models = []models.Scorer{newFake(nil)}
	opts.Scoring.Thresholds = screen.AccountThresholds{
		"a": {screen.Depression: {Low: &always, High: &always, Classes: []float64{0, 0}}},
		"b": {screen.Depression: {Low: &never, High: &never, Classes: []float64{2, 2}}},
	}
	e := newEngine(t, newMemory(t), opts)
	for account, want := range map[string]struct {
		decision screen.Decision
		severity screen.Severity
	}{"a": {screen.Positive, 3}, "b": {screen.Negative, 1}} {
		a := e.Tenant(account)
		id := initiate(t, a, "u")
		if _, err := a.Submit(t.Context(), id, bytes.NewReader(speech()), nil); err != nil {
			t.Fatal(err)
		}
		r, err := a.Wait(testContext(t), id)
		if err != nil || len(r.Scores) == 0 {
			t.Fatalf("got %+v, %v", r, err)
		}
		if s := r.Scores[0]; s.Decision != want.decision || s.Severity != want.severity {
			t.Errorf("account %s: got %v, class %v, want %v, class %v", account, s.Decision, s.Severity, want.decision, want.severity)
		}
	}
}

func TestThresholdsThatCannotBeApplied(t *testing.T) {
	opts := testOptions()
	opts.Scoring.Thresholds = screen.AccountThresholds{"a": {screen.Anxiety: {Classes: []float64{0.5}}}}
	if _, err := voicescreen.New(newMemory(t), opts); !errors.Is(err, voicescreen.ErrInvalid) {
		t.Errorf("got %v, want ErrInvalid", err)
	}
}
