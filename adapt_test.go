package voicescreen_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// addRecorded stores sessions without labels of n users, whose features are shift
// standard deviations above the norms of free speech.
func addRecorded(t testing.TB, st store.Store, account string, n int, shift float64, at time.Time) {
	t.Helper()
	norms := shippedBayes(t, screen.Depression).Features
	rng := rand.New(rand.NewPCG(2, uint64(n)))
	for i := range n {
		v := features.VoiceSchema().Vector(nil)
		v.Values[v.Schema.Index("speech.duration_s")] = 1e9 // no sampling error
		for k := range norms {
			s := norms[k].Norms.Free.Female
			norms[k].Put(v, s.Center+s.Scale*(shift+rng.NormFloat64()))
		}
		s := successOf(account, i, at)
		s.Features = v.Map()
		if err := st.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
}

// adaptedDocument is the store's document of adapted models.
const adaptedDocument = "adapted-models"

// adapt adapts the norms of depression.
func adapt(t *testing.T, e *voicescreen.Engine, o voicescreen.AdaptOptions) *voicescreen.Adaptation {
	t.Helper()
	o.Categories = []screen.Category{screen.Depression}
	got, err := e.Adapt(t.Context(), &o)
	if err != nil {
		t.Fatal(err)
	}
	return got[0]
}

// TestAdaptSwitchesAndReverts goes all the way on a store on disk: adapt, score,
// restart, go back.
func TestAdaptSwitchesAndReverts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "clinic.db")
	st, err := bolt.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	addRecorded(t, st, "a", 150, 1, labelledAt)
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
	shipped := inUse(t, e)
	found, err := e.Adapt(t.Context(), nil)
	if err != nil || len(found) != 2 {
		t.Fatalf("got %v and error %v, want depression and anxiety", found, err)
	}
	first := found[0]
	if !first.Activated || first.Waits || first.Adapted == nil || first.Adapted.File.Adapted.People != 150 || !strings.Contains(first.Reason, "log density") {
		t.Fatalf("got %+v, want it adapted and activated, with the figure that decided", first)
	}
	was := inUse(t, e)
	if was.Calibrated || was.Version != first.Adapted.File.Version || was.Probability == shipped.Probability {
		t.Errorf("got %+v, want a score by the adapted norms; by the shipped %+v", was, shipped)
	}
	closeEngine(t, e)
	e = open()
	if got := inUse(t, e); got.Version != was.Version || got.Probability != was.Probability {
		t.Errorf("after a restart: got %+v, want %+v", got, was)
	}
	if err := e.RevertNorms(screen.Depression); err != nil {
		t.Fatal(err)
	}
	if got := inUse(t, e); got.Version != shipped.Version || got.Probability != shipped.Probability {
		t.Errorf("after RevertNorms: got %+v, want %+v", got, shipped)
	}
	if err := e.RevertNorms(screen.Depression); !errors.Is(err, voicescreen.ErrConflict) {
		t.Errorf("got error %v where nothing is left, want ErrConflict", err)
	}
	closeEngine(t, e)
}

// TestAdaptChooses says whose recordings count, and when the norms stay.
func TestAdaptChooses(t *testing.T) {
	t.Parallel()
	st := newMemory(t)
	addRecorded(t, st, "a", 60, 1, labelledAt)
	addRecorded(t, st, "few", 29, 1, labelledAt)
	addRecorded(t, st, "same", 40, 0, labelledAt)
	e := newEngine(t, st, idle())
	shipped := inUse(t, e).Version
	of := func(accounts ...string) voicescreen.AdaptOptions { return voicescreen.AdaptOptions{Accounts: accounts} }
	if got := adapt(t, e, of("few")); got.Activated || got.Adapted != nil || !strings.Contains(got.Reason, "29 people, want 30") {
		t.Errorf("29 people: got %+v, want too few", got)
	}
	if got := adapt(t, e, of("same")); got.Activated || got.Adapted == nil || !strings.Contains(got.Reason, "not higher") {
		t.Errorf("people of the norms: got %+v, want the norms kept", got)
	}
	if got := adapt(t, e, voicescreen.AdaptOptions{Accounts: []string{"a"}, DryRun: true}); got.Activated || !got.Adapted.Better || !strings.Contains(got.Reason, "as asked") {
		t.Errorf("dry run: got %+v, want better norms that are not used", got)
	}
	if got := adapt(t, e, voicescreen.AdaptOptions{Since: labelledAt.Add(time.Second)}); got.Adapted != nil {
		t.Errorf("recordings of before: got %+v, want too few people", got)
	}
	if got := inUse(t, e).Version; got != shipped {
		t.Errorf("got version %s in use, want the shipped one, %s", got, shipped)
	}
	if got := adapt(t, e, of("a")); !got.Activated || got.Adapted.File.Adapted.People != 60 || got.Adapted.File.Adapted.Accounts != 1 {
		t.Errorf("got %+v, want the norms of 60 people", got)
	}
}

// TestAdaptDropsErasedUsers adapts again after users were erased.
func TestAdaptDropsErasedUsers(t *testing.T) {
	t.Parallel()
	st := newMemory(t)
	addRecorded(t, st, "a", 100, 1, labelledAt)
	e := newEngine(t, st, idle())
	first := adapt(t, e, voicescreen.AdaptOptions{})
	if !first.Activated {
		t.Fatalf("got %+v, want it activated", first)
	}
	for i := range 40 {
		if err := e.Tenant("a").Forget(t.Context(), fmt.Sprint("user ", i)); err != nil {
			t.Fatal(err)
		}
	}
	second := adapt(t, e, voicescreen.AdaptOptions{})
	if !second.Activated || second.Adapted.File.Adapted.People != 60 {
		t.Fatalf("got %+v, want the norms of the 60 who are left", second)
	}
	rest := newMemory(t)
	addRecorded(t, rest, "a", 100, 1, labelledAt)
	other := newEngine(t, rest, idle())
	for i := range 40 {
		if err := other.Tenant("a").Forget(t.Context(), fmt.Sprint("user ", i)); err != nil {
			t.Fatal(err)
		}
	}
	never := adapt(t, other, voicescreen.AdaptOptions{})
	for i := range never.Adapted.File.Features {
		a, b := never.Adapted.File.Features[i].Norms, second.Adapted.File.Features[i].Norms
		if d := math.Abs(a.Free.Female.Center-b.Free.Female.Center) / a.Free.Female.Scale; d > 1e-5 {
			t.Errorf("feature %d: got norms %g off those that never saw the erased users", i, d)
		}
	}
	text, _, err := st.Document(t.Context(), adaptedDocument)
	if err != nil || len(text) == 0 || strings.Contains(string(text), "user 7") {
		t.Errorf("got %d bytes of adapted models and error %v, want some that name no user", len(text), err)
	}
}

// TestCalibrateLearnsOnAdaptedNorms adapts, learns, and adapts again under the learned
// model.
func TestCalibrateLearnsOnAdaptedNorms(t *testing.T) {
	t.Parallel()
	st := newMemory(t)
	addLabelled(t, st, "labels", 250, 1)
	addRecorded(t, st, "a", 200, 1, labelledAt)
	e := newEngine(t, st, idle())
	norms := adapt(t, e, voicescreen.AdaptOptions{Accounts: []string{"a"}})
	if !norms.Activated || norms.Waits {
		t.Fatalf("got %+v, want it activated", norms)
	}
	learned := calibrate(t, e, voicescreen.CalibrateOptions{})
	if !learned.Activated || learned.Learned.File.Adapted == nil || learned.Learned.File.Features[0].Norms != norms.Adapted.File.Features[0].Norms {
		t.Fatalf("got %+v, want a model learned on the adapted norms", learned)
	}
	if got := inUse(t, e); !got.Calibrated || got.Version != learned.Learned.File.Version {
		t.Errorf("got %+v in use, want the learned model", got)
	}
	again := adapt(t, e, voicescreen.AdaptOptions{Accounts: []string{"labels", "a"}})
	if !again.Activated || !again.Waits {
		t.Errorf("got %+v, want norms for the next calibration", again)
	}
	if got := inUse(t, e); got.Version != learned.Learned.File.Version {
		t.Errorf("got version %s in use, want the learned model unchanged, %s", got.Version, learned.Learned.File.Version)
	}
	next := calibrate(t, e, voicescreen.CalibrateOptions{DryRun: true})
	if next.Learned.File.Features[0].Norms != again.Adapted.File.Features[0].Norms {
		t.Error("the next calibration does not begin with the new norms")
	}
	if err := e.RevertNorms(screen.Depression); err != nil {
		t.Fatal(err)
	}
	if got := inUse(t, e); got.Version != learned.Learned.File.Version {
		t.Errorf("after RevertNorms: got version %s in use, want the learned model unchanged", got.Version)
	}
	if err := e.Revert(screen.Depression); err != nil {
		t.Fatal(err)
	}
	if got := inUse(t, e); got.Version != norms.Adapted.File.Version {
		t.Errorf("after both: got version %s in use, want the first adapted norms, %s", got.Version, norms.Adapted.File.Version)
	}
}

func TestAdaptErrors(t *testing.T) {
	st := newMemory(t)
	e := newEngine(t, st, idle())
	if _, err := e.Adapt(t.Context(), &voicescreen.AdaptOptions{Categories: []screen.Category{screen.Deepfake}}); !errors.Is(err, voicescreen.ErrInvalid) {
		t.Errorf("deepfake: got %v, want ErrInvalid", err)
	}
	file := *shippedBayes(t, screen.Depression)
	given, err := models.NewBayes(&file)
	if err != nil {
		t.Fatal(err)
	}
	opts := idle()
	opts.Scoring.Models = []models.Scorer{given}
	other := newEngine(t, st, opts)
	if _, err := other.Adapt(t.Context(), &voicescreen.AdaptOptions{Categories: []screen.Category{screen.Depression}}); !errors.Is(err, voicescreen.ErrConflict) {
		t.Errorf("a given model: got %v, want ErrConflict", err)
	}
	if err := other.RevertNorms(screen.Depression); !errors.Is(err, voicescreen.ErrConflict) {
		t.Errorf("RevertNorms of a given model: got %v, want ErrConflict", err)
	}
	for i, text := range []string{"x", "{}", `{"format":"voicescreen-learned/1","models":{}}`, `{"format":"voicescreen-adapted/1","models":{"depression":[{}]}}`} {
		if _, err := st.PutDocument(t.Context(), adaptedDocument, uint64(i), []byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, err := voicescreen.New(st, nil); err == nil || !strings.Contains(err.Error(), "adapted models") {
			t.Errorf("adapted models %q: got error %v", text, err)
		}
	}
}

// TestOtherEnginesUseAdaptedNorms adapts while another engine has the same store, and
// that one goes back.
func TestOtherEnginesUseAdaptedNorms(t *testing.T) {
	t.Parallel()
	st := newMemory(t)
	addRecorded(t, st, "a", 60, 1, labelledAt)
	a, b := newEngine(t, st, idle()), newEngine(t, st, idle())
	shipped := inUse(t, b).Version
	first := adapt(t, a, voicescreen.AdaptOptions{})
	if !first.Activated {
		t.Fatalf("got %+v, want it activated", first)
	}
	switches(t, b, first.Adapted.File.Version)
	if err := b.RevertNorms(screen.Depression); err != nil {
		t.Fatal(err)
	}
	switches(t, a, shipped)
}

// scanStore calls during in Scan.
type scanStore struct {
	store.Store
	during func()
}

func (s *scanStore) Scan(ctx context.Context, after string, limit int) ([]*store.Session, error) {
	s.during()
	return s.Store.Scan(ctx, after, limit)
}

// TestOneAdaptationAtATime calls Adapt and Calibrate while an Adapt reads the store. Dry
// runs exclude one another, as do the other calls; neither kind excludes the other.
func TestOneAdaptationAtATime(t *testing.T) {
	t.Parallel()
	for _, dry := range []bool{false, true} {
		t.Run(fmt.Sprintf("dry=%v", dry), func(t *testing.T) {
			t.Parallel()
			st := &scanStore{Store: newMemory(t), during: func() {}}
			e := newEngine(t, st, idle())
			calls := func(dry bool) [2]error {
				_, err := e.Adapt(t.Context(), &voicescreen.AdaptOptions{DryRun: dry})
				_, other := e.Calibrate(t.Context(), &voicescreen.CalibrateOptions{DryRun: dry})
				return [2]error{err, other}
			}
			scans := 0
			st.during = func() {
				if scans++; scans > 1 { // of the calls below
					return
				}
				if errs := calls(dry); !errors.Is(errs[0], voicescreen.ErrConflict) || !errors.Is(errs[1], voicescreen.ErrConflict) {
					t.Errorf("the same kind: got errors %v, want ErrConflict twice", errs)
				}
				if errs := calls(!dry); errs != [2]error{} {
					t.Errorf("the other kind: got errors %v, want none", errs)
				}
			}
			if _, err := e.Adapt(t.Context(), &voicescreen.AdaptOptions{DryRun: dry}); err != nil {
				t.Fatal(err)
			}
			if scans != 3 {
				t.Errorf("got %d scans, want those of three calls", scans)
			}
		})
	}
}

// TestDryRunBesideCalibration learns at the same time with and without a change: neither
// sees the other.
func TestDryRunBesideCalibration(t *testing.T) {
	t.Parallel()
	st := newMemory(t)
	addLabelled(t, st, "a", 60, 0.8)
	addRecorded(t, st, "b", 60, 1, labelledAt)
	e := newEngine(t, st, idle())
	var work sync.WaitGroup
	for _, dry := range []bool{true, false} {
		work.Go(func() {
			adapted, err := e.Adapt(t.Context(), &voicescreen.AdaptOptions{Categories: []screen.Category{screen.Depression}, DryRun: dry})
			if err != nil || len(adapted) != 1 || adapted[0].Activated == dry {
				t.Errorf("Adapt, dry run %v: got %+v (%v), want it activated where it is none", dry, adapted, err)
			}
			learned, err := e.Calibrate(t.Context(), &voicescreen.CalibrateOptions{Categories: []screen.Category{screen.Depression}, DryRun: dry})
			if err != nil || len(learned) != 1 || learned[0].Learned == nil || dry && learned[0].Activated {
				t.Errorf("Calibrate, dry run %v: got %+v (%v)", dry, learned, err)
			}
		})
	}
	work.Wait()
}
