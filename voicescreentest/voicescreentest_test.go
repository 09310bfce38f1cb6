package voicescreentest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store/bolt"
	"github.com/voicescreen/voicescreen/store/memory"
	"github.com/voicescreen/voicescreen/voicescreentest"
)

// A test of a program that embeds the engine: the scores and the time are known.
func Example() {
	ctx := context.Background()
	clock := voicescreentest.NewClock()
	st := memory.New(&memory.Options{Now: clock.Now})
	defer st.Close()
	scorer := voicescreentest.NewScorer(
		screen.Score{Category: screen.Depression, Probability: 0.75},
		screen.Score{Category: screen.Anxiety, Probability: 0.125},
	)
	engine, err := voicescreen.New(st, &voicescreen.Options{
		Store:   bolt.Options{Now: clock.Now},
		Scoring: voicescreen.ScoringOptions{Models: []models.Scorer{scorer}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close(ctx)

	session, err := engine.Initiate(ctx, voicescreen.InitiateRequest{UserID: "patient-17", Consent: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := engine.Submit(ctx, session, bytes.NewReader(voicescreentest.Recording()), nil); err != nil {
		fmt.Println(err)
		return
	}
	result, err := engine.Wait(ctx, session)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range result.Scores {
		fmt.Println(s.Category, s.Probability, s.Severity)
	}
	clock.Add(25 * time.Hour)
	err = engine.Feedback(ctx, session, voicescreen.Feedback{PHQ2: []int{1, 2}})
	fmt.Println(errors.Is(err, voicescreen.ErrTooLate))
	// Output:
	// depression 0.75 moderate_to_severe
	// anxiety 0.125 no_or_minimal
	// true
}

// Both recordings are what they say they are, for the limits and the shipped models
// of the engine.
func TestRecordings(t *testing.T) {
	st := memory.New(nil)
	t.Cleanup(func() { st.Close() })
	engine, err := voicescreen.New(st, &voicescreen.Options{Workers: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close(context.Background()) })
	for name, c := range map[string]struct {
		file   []byte
		length float64 // s, at least
		fails  map[screen.Category]string
	}{
		"whole": {voicescreentest.Recording(), 36, nil},
		"short": {voicescreentest.ShortRecording(), 5, map[screen.Category]string{screen.Depression: screen.CodeAudioLength, screen.Anxiety: screen.CodeAudioLength}},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := engine.Analyze(t.Context(), bytes.NewReader(c.file), nil)
			if err != nil {
				t.Fatal(err)
			}
			if a.Duration < c.length || a.Duration > c.length+2 || a.SampleRate != 44100 || a.Truncated {
				t.Errorf("got %v s at %d Hz, want %v s at 44100", a.Duration, a.SampleRate, c.length)
			}
			for _, category := range screen.Categories() {
				code := ""
				if f := a.Failures[category]; f != nil {
					code = f.Code
				}
				if code != c.fails[category] {
					t.Errorf("%v: got failure %q, want %q", category, code, c.fails[category])
				}
			}
			if len(a.Scores) != len(screen.Categories())-len(c.fails) {
				t.Errorf("got %d scores", len(a.Scores))
			}
		})
	}
	first := voicescreentest.Recording()
	first[100]++
	if bytes.Equal(first, voicescreentest.Recording()) {
		t.Error("a caller changed the recording of another")
	}
}

func TestScorer(t *testing.T) {
	s := voicescreentest.NewScorer()
	list, err := s.Score(t.Context(), &features.Recording{})
	if err != nil || len(list) != len(screen.Categories()) || len(s.Info().Categories) != len(list) {
		t.Fatalf("got %d scores and error %v, want one of each category", len(list), err)
	}
	for i, score := range list {
		if score.Category != s.Info().Categories[i] || score.Probability != 0.25 || score.Decision != screen.Negative || score.Coverage != 1 ||
			score.Model == "" || (score.Severity == 0) != (score.Category == screen.Deepfake) {
			t.Errorf("got %+v, want a whole score", score)
		}
	}
	failure := errors.New("no model")
	s.Fail(failure)
	if _, err := s.Score(t.Context(), nil); err != failure {
		t.Errorf("got error %v, want %v", err, failure)
	}
	s.Fail(nil)
	if _, err := s.Score(t.Context(), nil); err != nil || s.Calls() != 3 {
		t.Errorf("got error %v after %d calls, want none after 3", err, s.Calls())
	}
}
