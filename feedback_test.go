package voicescreen_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

func TestFeedbackIsChecked(t *testing.T) {
	e := newEngine(t, newMemory(t), testOptions())
	zeros := func(n int) []int { return make([]int, n) }
	for name, c := range map[string]struct {
		f     voicescreen.Feedback
		field string
		says  string
	}{
		"no label":            {voicescreen.Feedback{}, "actual_score", "no label"},
		"two labels":          {voicescreen.Feedback{PHQ2: zeros(2), GAD7: zeros(7)}, "actual_score", "2 labels"},
		"empty PHQ-2":         {voicescreen.Feedback{PHQ2: []int{}}, "phq_2", "phq_2 has 0 items, want 2"},
		"PHQ-2 of three":      {voicescreen.Feedback{PHQ2: zeros(3)}, "phq_2", "phq_2 has 3 items, want 2"},
		"PHQ-9 of eight":      {voicescreen.Feedback{PHQ9: zeros(8)}, "phq_9", "phq_9 has 8 items, want 9"},
		"GAD-7 of eight":      {voicescreen.Feedback{GAD7: zeros(8)}, "gad_7", "gad_7 has 8 items, want 7"},
		"PHQ-9 item of 7":     {voicescreen.Feedback{PHQ9: []int{0, 1, 7, 0, 0, 0, 0, 0, 0}}, "phq_9", "phq_9 item 3 is 7, want 0 to 3"},
		"GAD-7 item below 0":  {voicescreen.Feedback{GAD7: []int{0, 0, 0, 0, 0, 0, -1}}, "gad_7", "gad_7 item 7 is -1, want 0 to 3"},
		"no interview result": {voicescreen.Feedback{Depression: 9}, "depression_binary", "not an interview result"},
	} {
		t.Run(name, func(t *testing.T) {
			// The label is looked at before the session.
			err := e.Feedback(t.Context(), "nosuchsession", c.f)
			var invalid *voicescreen.InvalidError
			if !errors.As(err, &invalid) || invalid.Fields[c.field] == "" || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %s and %q", err, c.field, c.says)
			}
		})
	}
}

func TestFeedbackRules(t *testing.T) {
	eachStore(t, func(t *testing.T, st store.Store) {
		now := newClock()
		opts := testOptions()
		setClock(opts, st, now)
		e := newEngine(t, st, opts)
		ctx := testContext(t)
		phq2 := voicescreen.Feedback{PHQ2: []int{3, 0}}
		phq9 := voicescreen.Feedback{PHQ9: []int{0, 1, 2, 3, 0, 1, 2, 3, 0}}
		gad7 := voicescreen.Feedback{GAD7: []int{3, 3, 3, 3, 3, 3, 3}}
		yes := voicescreen.Feedback{Depression: screen.InterviewPositive}

		if err := e.Feedback(ctx, "nosuchsession", phq2); !errors.Is(err, voicescreen.ErrNotFound) {
			t.Errorf("unknown session: got %v, want ErrNotFound", err)
		}
		id := initiate(t, e, "u")
		if err := e.Feedback(ctx, id, phq2); !errors.Is(err, voicescreen.ErrConflict) {
			t.Errorf("before the submission: got %v, want ErrConflict", err)
		}
		submit(t, e, id, tiny)
		wait(t, e, id) // its prediction failed: feedback is accepted all the same

		want := screen.Labels{}
		give := func(f voicescreen.Feedback, change func()) {
			t.Helper()
			now.Add(time.Second)
			if err := e.Feedback(ctx, id, f); err != nil {
				t.Errorf("%+v: %v", f, err)
			}
			change()
			want.UpdatedAt = now.Now().UTC()
			r, err := e.Result(ctx, id)
			if err != nil || !reflect.DeepEqual(r.Labels, want) || !r.UpdatedAt.Equal(want.UpdatedAt) {
				t.Errorf("after %+v: got %+v, %v, want %+v", f, r, err, want)
			}
		}
		give(phq2, func() { want.PHQ2 = phq2.PHQ2 })
		give(gad7, func() { want.GAD7 = gad7.GAD7 })
		give(phq9, func() { want.PHQ2, want.PHQ9 = nil, phq9.PHQ9 })
		give(yes, func() { want.Depression = screen.InterviewPositive })
		phq2.PHQ2 = []int{1, 1}
		give(phq2, func() { want.PHQ2, want.PHQ9 = []int{1, 1}, nil })
		phq2.PHQ2[0] = 2 // the caller's memory is not kept
		give(voicescreen.Feedback{Depression: screen.InterviewUndecided}, func() { want.Depression = screen.InterviewUndecided })

		r, err := e.Result(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		now.Add(r.SubmittedAt.Add(voicescreen.FeedbackWindow - time.Second).Sub(now.Now()))
		give(gad7, func() {}) // the last moment
		now.Add(time.Microsecond)
		if err := e.Feedback(ctx, id, gad7); !errors.Is(err, voicescreen.ErrTooLate) || !strings.Contains(err.Error(), "24 hours") {
			t.Errorf("a moment later: got %v, want ErrTooLate", err)
		}
		if r, err := e.Result(ctx, id); err != nil || !reflect.DeepEqual(r.Labels, want) {
			t.Errorf("after the window: got %+v, %v, want the labels as they were", r, err)
		}
	})
}

// A deepfake session takes no label: the error says so, and nothing changes.
func TestFeedbackOnADeepfakeSession(t *testing.T) {
	eachStore(t, func(t *testing.T, st store.Store) {
		e := newEngine(t, st, testOptions())
		ctx := testContext(t)
		id := initiate(t, e, "u")
		if _, err := e.Submit(ctx, id, bytes.NewReader(tiny), &voicescreen.SubmitOptions{Product: screen.DeepfakeBinary}); err != nil {
			t.Fatal(err)
		}
		before := wait(t, e, id)
		for _, f := range []voicescreen.Feedback{
			{PHQ2: make([]int, 2)}, {PHQ9: make([]int, 9)}, {GAD7: make([]int, 7)}, {Depression: screen.InterviewNegative},
		} {
			if err := e.Feedback(ctx, id, f); !errors.Is(err, voicescreen.ErrInvalid) || !strings.Contains(err.Error(), "deepfake") {
				t.Errorf("%+v: got %v, want ErrInvalid that names the product", f, err)
			}
		}
		if r, err := e.Result(ctx, id); err != nil || !reflect.DeepEqual(r, before) {
			t.Errorf("got %+v, %v, want the session as it was", r, err)
		}
	})
}
