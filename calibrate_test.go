package voicescreen_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/shipped"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// labelledAt is when the labelled sessions were submitted.
var labelledAt = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// addLabelled stores sessions of n users whose PHQ-9 is 10 or more for two of
// five, the more so the slower they speak; with signal 0 it is not.
func addLabelled(t testing.TB, st store.Store, account string, n int, signal float64) {
	t.Helper()
	norms := shippedBayes(t, screen.Depression).Features
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range n {
		s := successOf(account, i, labelledAt)
		v := features.VoiceSchema().Vector(nil)
		var slow float64
		for _, f := range norms {
			z := rng.NormFloat64()
			if f.Name == "speech.rate_syl_s" {
				slow = -z
			}
			f.Put(v, f.Norms.Free.Female.Center+f.Norms.Free.Female.Scale*z)
		}
		s.Features = v.Map()
		s.Labels = screen.Labels{PHQ9: make([]int, 9), UpdatedAt: labelledAt}
		if rng.Float64() < 1/(1+math.Exp(0.5-signal*slow)) {
			s.Labels.PHQ9 = []int{2, 2, 2, 2, 2, 0, 0, 0, 0}
		}
		if err := st.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
}

// successOf is the analysed session of user i of an account, a woman.
func successOf(account string, i int, at time.Time) *store.Session {
	return &store.Session{
		Account: account, ID: fmt.Sprintf("%s-%d", account, i), UserID: fmt.Sprint("user ", i),
		Metadata: screen.Metadata{Gender: screen.Female}, Status: screen.StatusSuccess, Product: screen.DepressionAnxiety,
		CreatedAt: at, UpdatedAt: at, SubmittedAt: at,
	}
}

func shippedBayes(t testing.TB, c screen.Category) *models.BayesFile {
	t.Helper()
	scorers, err := shipped.Scorers()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scorers {
		if b, ok := s.(*models.Bayes); ok && b.File().Category == c {
			return b.File()
		}
	}
	t.Fatalf("no shipped model of %v", c)
	return nil
}

// learnedDocument is the store's document of learned models.
const learnedDocument = "learned-models"

// learnedIn returns the learned models of a store.
func learnedIn(t *testing.T, st store.Store) string {
	t.Helper()
	text, _, err := st.Document(t.Context(), learnedDocument)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// idle are the options of the tests, without workers.
func idle() *voicescreen.Options {
	o := testOptions()
	o.Workers = -1
	return o
}

// calibrate calibrates depression.
func calibrate(t *testing.T, e *voicescreen.Engine, o voicescreen.CalibrateOptions) *voicescreen.Calibration {
	t.Helper()
	o.Categories = []screen.Category{screen.Depression}
	got, err := e.Calibrate(t.Context(), &o)
	if err != nil {
		t.Fatal(err)
	}
	return got[0]
}

// switches waits until a version of the depression model is in use.
func switches(t *testing.T, e *voicescreen.Engine, want string) {
	t.Helper()
	for end := time.Now().Add(soon); inUse(t, e).Version != want; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("got version %s in use, want %s", inUse(t, e).Version, want)
		}
	}
}

// inUse is the depression score that the engine gives to a recording.
func inUse(t *testing.T, e *voicescreen.Engine) screen.Score {
	t.Helper()
	got, err := e.AnalyzeChannel(t.Context(), &features.Channel{Samples: threeSeconds(), Rate: 44100}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range got.Scores {
		if s.Category == screen.Depression {
			return s
		}
	}
	t.Fatalf("no depression score: %v", got.Failures[screen.Depression])
	return screen.Score{}
}

// TestCalibrateSwitchesAndReverts goes all the way on a store on disk: learn,
// score, restart, learn more, go back twice.
func TestCalibrateSwitchesAndReverts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "clinic.db")
	st, err := bolt.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	addLabelled(t, st, "a", 250, 1)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	open := func() *voicescreen.Engine {
		e, err := voicescreen.Open(path, idle())
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := open()
	if s := inUse(t, e); s.Calibrated {
		t.Fatalf("got %+v, want the shipped model at first", s)
	}
	found, err := e.Calibrate(t.Context(), nil)
	if err != nil || len(found) != 2 {
		t.Fatalf("got %v and error %v, want depression and anxiety", found, err)
	}
	first := found[0]
	if !first.Activated || first.Learned == nil || first.Learned.File.Labels.Sessions != 250 || first.Learned.File.Labels.Users != 250 {
		t.Fatalf("got %+v, want it learned and activated", first)
	}
	if a := found[1]; a.Activated || a.Learned != nil || !strings.Contains(a.Reason, "too few labels") || a.Skipped != 250 {
		t.Errorf("anxiety without labels: got %+v, want too few", a)
	}
	was := inUse(t, e)
	if !was.Calibrated || was.Version != first.Learned.File.Version || was.Probability < 0.2 {
		t.Errorf("got %+v, want a score of the learned model, near the base rate of 0.4", was)
	}
	closeEngine(t, e)

	e = open()
	if got := inUse(t, e); got.Version != was.Version || got.Probability != was.Probability {
		t.Errorf("after a restart: got %+v, want %+v", got, was)
	}
	backup := filepath.Join(filepath.Dir(path), "backup.db")
	if err := e.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	if err := e.Revert(screen.Depression); err != nil {
		t.Fatal(err)
	}
	copied, err := voicescreen.Open(backup, idle())
	if err != nil {
		t.Fatal(err)
	}
	if got := inUse(t, copied); got.Version != was.Version || got.Probability != was.Probability {
		t.Errorf("of the backup: got %+v, want %+v", got, was)
	}
	closeEngine(t, copied)
	if got := inUse(t, e); got.Calibrated {
		t.Errorf("got %+v after Revert, want the shipped model", got)
	}
	if err := e.Revert(screen.Depression); !errors.Is(err, voicescreen.ErrConflict) {
		t.Errorf("got error %v where nothing is left, want ErrConflict", err)
	}
	closeEngine(t, e)
}

// TestCalibrateKeepsWhatIsBetter says when the model in use stays.
func TestCalibrateKeepsWhatIsBetter(t *testing.T) {
	t.Parallel()
	st := newMemory(t)
	addLabelled(t, st, "a", 200, 1)
	addLabelled(t, st, "b", 120, 0)
	e := newEngine(t, st, idle())
	if got := calibrate(t, e, voicescreen.CalibrateOptions{DryRun: true}); got.Activated || got.Learned == nil || !got.Learned.Better {
		t.Errorf("got %+v, want it learned and not activated", got)
	}
	if got := calibrate(t, e, voicescreen.CalibrateOptions{Since: labelledAt.Add(time.Microsecond)}); got.Learned != nil {
		t.Errorf("got %+v from labels of before, want too few", got)
	}
	if got := calibrate(t, e, voicescreen.CalibrateOptions{Accounts: []string{"nobody"}}); got.Learned != nil {
		t.Errorf("got %+v of no account, want too few", got)
	}
	first := calibrate(t, e, voicescreen.CalibrateOptions{Accounts: []string{"a"}})
	if !first.Activated || first.Learned.File.Labels.Sessions != 200 || first.Learned.File.Labels.Accounts != 1 {
		t.Fatalf("got %+v, want the labels of one account learned", first)
	}
	again := calibrate(t, e, voicescreen.CalibrateOptions{Accounts: []string{"a"}})
	if again.Activated || !strings.Contains(again.Reason, "worse") || !strings.HasSuffix(again.Reason, again.Learned.Verdict()) {
		t.Errorf("got %+v from the same labels, want the model kept that has seen them all", again)
	}
	if got := inUse(t, e); got.Version != first.Learned.File.Version {
		t.Errorf("got version %s in use, want %s", got.Version, first.Learned.File.Version)
	}
}

func TestCalibrateLeavesOutWhatIsNoLabel(t *testing.T) {
	st := newMemory(t)
	addLabelled(t, st, "a", 100, 1)
	change := func(id string, f func(*store.Session)) {
		if _, err := st.Update(t.Context(), "a", id, func(s *store.Session, _ time.Time) error { f(s); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	change("a-0", func(s *store.Session) {
		s.Labels = screen.Labels{Depression: screen.InterviewUndecided, UpdatedAt: labelledAt}
	})
	change("a-1", func(s *store.Session) { s.Labels.PHQ9[0] = 7 })
	change("a-2", func(s *store.Session) { s.Status, s.Features = screen.StatusFailed, nil })
	change("a-3", func(s *store.Session) { s.Labels = screen.Labels{} })
	change("a-4", func(s *store.Session) { s.Product = screen.DeepfakeBinary })
	change("a-5", func(s *store.Session) { s.Labels = screen.Labels{PHQ2: []int{1, 2}, UpdatedAt: labelledAt} })
	change("a-6", func(s *store.Session) { s.Labels.PHQ9, s.Labels.Depression = nil, screen.InterviewPositive })
	e := newEngine(t, st, idle())
	got := calibrate(t, e, voicescreen.CalibrateOptions{DryRun: true})
	if got.Skipped != 3 || got.Learned == nil {
		t.Fatalf("got %+v, want three labelled sessions skipped", got)
	}
	want := models.Labels{Sessions: 95, Users: 95, Accounts: 1, PHQ9: 93, PHQ2: 1, Interview: 1, From: "2026-05-01", To: "2026-05-01"}
	if *got.Learned.File.Labels != want {
		t.Errorf("got labels %+v, want %+v", *got.Learned.File.Labels, want)
	}
}

func TestCalibrateErrors(t *testing.T) {
	st := newMemory(t)
	e := newEngine(t, st, idle())
	if _, err := e.Calibrate(t.Context(), &voicescreen.CalibrateOptions{Categories: []screen.Category{screen.Deepfake}}); !errors.Is(err, voicescreen.ErrInvalid) {
		t.Errorf("deepfake: got %v, want ErrInvalid", err)
	}
	fake := newFake(func(context.Context, *features.Recording) ([]screen.Score, error) { return nil, nil })
	other := newEngine(t, st, &voicescreen.Options{Workers: -1, Scoring: voicescreen.ScoringOptions{Models: []models.Scorer{fake}}})
	if _, err := other.Calibrate(t.Context(), nil); !errors.Is(err, voicescreen.ErrConflict) {
		t.Errorf("a model that does not learn: got %v, want ErrConflict", err)
	}
	for i, text := range []string{"x", "{}", `{"format":"voicescreen-learned/1","models":{"depression":[{}]}}`} {
		if _, err := st.PutDocument(t.Context(), learnedDocument, uint64(i), []byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, err := voicescreen.New(st, nil); err == nil || !strings.Contains(err.Error(), "learned models") {
			t.Errorf("learned models %q: got error %v", text, err)
		}
	}
	st = newMemory(t)
	for _, rates := range []map[screen.Category]float64{{screen.Depression: 1}, {screen.Anxiety: math.NaN()}, {screen.Deepfake: 0.5}} {
		if _, err := voicescreen.New(st, &voicescreen.Options{Scoring: voicescreen.ScoringOptions{BaseRates: rates}}); !errors.Is(err, voicescreen.ErrInvalid) {
			t.Errorf("base rates %v: got %v, want ErrInvalid", rates, err)
		}
	}
}

// TestCalibrateLeavesGivenModels gives the engine a model of depression, of the
// kind that learns, where another one was learned before.
func TestCalibrateLeavesGivenModels(t *testing.T) {
	t.Parallel()
	st := newMemory(t)
	addLabelled(t, st, "a", 100, 1)
	opts := idle()
	learned := calibrate(t, newEngine(t, st, opts), voicescreen.CalibrateOptions{})
	if !learned.Activated {
		t.Fatalf("got %+v, want it learned and activated", learned)
	}
	before := learnedIn(t, st)
	if before == "" || strings.Contains(before, "user 1") {
		t.Errorf("got learned models %q, want some that name no user", before)
	}
	file := *shippedBayes(t, screen.Depression)
	file.Version = "given"
	given, err := models.NewBayes(&file)
	if err != nil {
		t.Fatal(err)
	}
	opts.Scoring.Models = []models.Scorer{given}
	e := newEngine(t, st, opts)
	found, err := e.Calibrate(t.Context(), nil)
	if err != nil || len(found) != 2 {
		t.Fatalf("got %v and error %v, want depression and anxiety", found, err)
	}
	if d := found[0]; d.Activated || d.Learned != nil || d.Skipped != 0 || !strings.Contains(d.Reason, "Options.Models") {
		t.Errorf("depression: got %+v, want it left as it was given", d)
	}
	if a := found[1]; !strings.Contains(a.Reason, "too few labels") {
		t.Errorf("anxiety: got %+v, want its labels looked at", a)
	}
	asked := &voicescreen.CalibrateOptions{Categories: []screen.Category{screen.Depression}}
	if _, err := e.Calibrate(t.Context(), asked); !errors.Is(err, voicescreen.ErrConflict) {
		t.Errorf("Calibrate: got error %v, want ErrConflict", err)
	}
	if err := e.Revert(screen.Depression); !errors.Is(err, voicescreen.ErrConflict) {
		t.Errorf("Revert: got error %v, want ErrConflict", err)
	}
	if got := inUse(t, e); got.Version != "given" {
		t.Errorf("got version %s in use, want the given one", got.Version)
	}
	if learnedIn(t, st) != before {
		t.Error("the learned models changed")
	}
}

// TestCalibrateReturnsWhatWasDone ends ctx when the first of two categories was
// learned and activated.
func TestCalibrateReturnsWhatWasDone(t *testing.T) {
	st := newMemory(t)
	addLabelled(t, st, "a", 100, 1)
	opts := idle()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	opts.Store.Now = func() time.Time {
		if ctx.Err() == nil && learnedIn(t, st) != "" { // not when the engine closes, after the test
			cancel()
		}
		return time.Now()
	}
	e := newEngine(t, st, opts)
	again := &voicescreen.CalibrateOptions{Categories: []screen.Category{screen.Depression, screen.Depression}}
	found, err := e.Calibrate(ctx, again)
	if !errors.Is(err, context.Canceled) || len(found) != 1 || !found[0].Activated {
		t.Fatalf("got %+v and error %v, want the first activated and %v", found, err, context.Canceled)
	}
	if got := inUse(t, e); got.Version != found[0].Learned.File.Version {
		t.Errorf("got version %s in use, want %s", got.Version, found[0].Learned.File.Version)
	}
}

// TestOtherEnginesSwitch calibrates for the first time while another engine has
// the same store, and that one reverts.
func TestOtherEnginesSwitch(t *testing.T) {
	t.Parallel()
	st := newMemory(t)
	addLabelled(t, st, "a", 100, 1)
	opts := idle()
	a, b := newEngine(t, st, opts), newEngine(t, st, opts)
	shipped := inUse(t, b).Version
	if err := a.Revert(screen.Depression); !errors.Is(err, voicescreen.ErrConflict) {
		t.Errorf("got error %v where nothing was learned, want ErrConflict", err)
	}
	if text := learnedIn(t, st); text != "" {
		t.Errorf("got learned models %q, want none", text)
	}
	first := calibrate(t, a, voicescreen.CalibrateOptions{})
	if !first.Activated {
		t.Fatalf("got %+v, want it learned and activated", first)
	}
	switches(t, b, first.Learned.File.Version)
	if err := b.Revert(screen.Depression); err != nil {
		t.Fatal(err)
	}
	switches(t, a, shipped)
}
