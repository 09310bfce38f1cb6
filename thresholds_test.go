package voicescreen_test

import (
	"bytes"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store/memory"
)

// always are thresholds by which every depression score of an account is positive.
func always(account string) screen.AccountThresholds {
	zero := 0.0
	return screen.AccountThresholds{account: {screen.Depression: {Low: &zero, High: &zero}}}
}

func TestEnginesShareTheThresholdsOfTheirStore(t *testing.T) {
	st := memory.New(nil)
	t.Cleanup(func() { _ = st.Close() })
	opts := testOptions()
	opts.Scoring.Models = []models.Scorer{newFake(nil)}
	one, other := newEngine(t, st, opts), newEngine(t, st, opts)
	if got := other.Thresholds(); len(got) != 0 {
		t.Errorf("got thresholds %v, want none yet", got)
	}
	if err := one.SetThresholds(always("clinic")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the other engine uses them", func() bool { return len(other.Thresholds()["clinic"]) == 1 })
	for account, want := range map[string]screen.Decision{"clinic": screen.Positive, "other": screen.Indeterminate} {
		tenant := other.Tenant(account)
		id := initiate(t, tenant, "u")
		if _, err := tenant.Submit(t.Context(), id, bytes.NewReader(speech()), nil); err != nil {
			t.Fatal(err)
		}
		r, err := tenant.Wait(testContext(t), id)
		if err != nil || len(r.Scores) == 0 || r.Scores[0].Decision != want {
			t.Errorf("account %s: got %+v, %v, want the decision %v", account, r, err, want)
		}
	}
}

// Thresholds can be removed, and the next engine opens the store.
func TestThresholdsAreRemoved(t *testing.T) {
	st := memory.New(nil)
	t.Cleanup(func() { _ = st.Close() })
	one := newEngine(t, st, testOptions())
	for _, a := range []screen.AccountThresholds{always("clinic"), nil} {
		if err := one.SetThresholds(a); err != nil {
			t.Fatal(err)
		}
		if got := newEngine(t, st, testOptions()).Thresholds(); len(got) != len(a) {
			t.Errorf("got %v, want %v", got, a)
		}
	}
}

func TestSetThresholdsRefuses(t *testing.T) {
	st := memory.New(nil)
	t.Cleanup(func() { _ = st.Close() })
	e := newEngine(t, st, testOptions())
	nan := math.NaN()
	bad := screen.AccountThresholds{"": {screen.Deepfake: {Low: &nan, High: &nan}}}
	if err := e.SetThresholds(bad); !errors.Is(err, voicescreen.ErrInvalid) {
		t.Errorf("got %v, want ErrInvalid for what is not a number", err)
	}
	opts := testOptions()
	opts.Scoring.Thresholds = always("")
	given := newEngine(t, st, opts)
	if err := given.SetThresholds(always("clinic")); !errors.Is(err, voicescreen.ErrConflict) {
		t.Errorf("got %v, want ErrConflict where the options have thresholds", err)
	}
	if err := e.SetThresholds(always("clinic")); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond) // the document was read again
	if got := given.Thresholds(); len(got[""]) != 1 || len(got) != 1 {
		t.Errorf("got %v, want those of the options", got)
	}
}

func TestADamagedDocumentOfThresholdsIsNotOpened(t *testing.T) {
	st := memory.New(nil)
	t.Cleanup(func() { _ = st.Close() })
	if _, err := st.PutDocument(t.Context(), "thresholds", 0, []byte("{")); err != nil {
		t.Fatal(err)
	}
	if e, err := voicescreen.New(st, testOptions()); err == nil {
		_ = e.Close(t.Context())
		t.Error("got an engine, want an error")
	}
}
