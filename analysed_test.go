package voicescreen_test

import (
	"bytes"
	"math"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/store"
)

// TestResultsSayHowMuchWasAnalysed submits a stereo recording of 2.5 s where 2 s are
// analysed.
func TestResultsSayHowMuchWasAnalysed(t *testing.T) {
	eachStore(t, func(t *testing.T, st store.Store) {
		opts := testOptions()
		opts.Audio.MaxDuration = 2 * time.Second
		e := newEngine(t, st, opts)
		id := initiate(t, e, "u")
		if r, err := e.Result(t.Context(), id); err != nil || r.Duration != 0 || r.Analysed != 0 {
			t.Errorf("before the submission: got %+v, %v, want no duration", r, err)
		}
		file := encodeWAV(16000, 2, make([]float64, 2*40000))
		if _, err := e.Submit(t.Context(), id, bytes.NewReader(file), &voicescreen.SubmitOptions{Channel: 2}); err != nil {
			t.Fatal(err)
		}
		if r, err := e.Result(t.Context(), id); err != nil || r.Duration != 2.5 {
			t.Errorf("after the submission: got %+v, %v, want 2.5 s", r, err)
		}
		const sample = 1.0 / 16000
		if r := wait(t, e, id); r.Duration != 2.5 || math.Abs(r.Analysed-2) > sample {
			t.Errorf("got %v s analysed of %v, want 2 of 2.5", r.Analysed, r.Duration)
		}
	})
}
