package voicescreen_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/internal/proof/pgserver"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/postgres"
)

var replicaRaces = flag.Int("races.replicas", 20, "for how many sessions submissions race over three replicas")

// wrongClocks are those of the machines of three replicas: one is right, and two are
// an hour off.
var wrongClocks = []func() time.Time{time.Now, offClock(time.Hour), offClock(-time.Hour)}

func offClock(by time.Duration) func() time.Time {
	return func() time.Time { return time.Now().Add(by) }
}

// replicas are engines on stores of their own in one database.
type replicas struct {
	t       *testing.T
	server  *pgserver.Server
	name    string // of the database
	stores  []store.Store
	engines []*voicescreen.Engine
}

// newReplicas starts three engines in a new database, on stores with the fault that
// plant adds, if it is not nil.
func newReplicas(t *testing.T, server *pgserver.Server, name string, opts *voicescreen.Options, plant func(i int, st store.Store) store.Store) *replicas {
	t.Helper()
	if _, err := server.SQL(t.Context(), "postgres", "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	r := &replicas{t: t, server: server, name: name}
	for i, now := range wrongClocks {
		pg, err := postgres.Open(t.Context(), server.URL(name), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := pg.Close(); err != nil {
				t.Error(err)
			}
		})
		var st store.Store = pg
		if plant != nil {
			st = plant(i, st)
		}
		its := *opts
		its.Store.Now = now
		r.stores = append(r.stores, st)
		r.engines = append(r.engines, newEngine(t, st, &its))
	}
	return r
}

// sql runs statements in the database.
func (r *replicas) sql(statements string) string {
	r.t.Helper()
	out, err := r.server.SQL(r.t.Context(), r.name, statements)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// race makes 32 submissions race for each of some sessions, over all replicas. It
// returns what is wrong then.
func (r *replicas) race(sessions int) (faults []string) {
	const racers = 32
	for range sessions {
		id := initiate(r.t, r.engines[0], "u")
		errs := make([]error, racers)
		start := make(chan struct{})
		var all sync.WaitGroup
		for i := range racers {
			all.Go(func() {
				<-start
				_, errs[i] = r.engines[i%len(r.engines)].Submit(r.t.Context(), id, bytes.NewReader(tiny), nil)
			})
		}
		close(start)
		all.Wait()
		won := 0
		for _, err := range errs {
			switch {
			case err == nil:
				won++
			case !errors.Is(err, voicescreen.ErrConflict):
				faults = append(faults, fmt.Sprintf("got error %v, want nil or %v", err, voicescreen.ErrConflict))
			}
		}
		if won != 1 {
			faults = append(faults, fmt.Sprintf("got %d winners of %d, want one", won, racers))
		}
	}
	if n := r.sql("SELECT count(*) FROM voicescreen.audio"); n != fmt.Sprint(sessions) {
		faults = append(faults, fmt.Sprintf("got %s recordings, want %d", n, sessions))
	}
	if n, err := r.stores[0].Due(r.t.Context()); err != nil || n != sessions {
		faults = append(faults, fmt.Sprintf("got %d sessions that wait and error %v, want %d", n, err, sessions))
	}
	return faults
}

// clock makes each replica begin, submit and analyse sessions, accept labels and
// erase what is old. It returns what is not as it is with right clocks.
func (r *replicas) clock() (faults []string) {
	ctx := r.t.Context()
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	label := voicescreen.Feedback{PHQ2: []int{1, 2}}
	for i, e := range r.engines {
		for k, c := range []struct {
			age      string
			accepted bool
		}{{"23.5 hours", true}, {"24.5 hours", false}} {
			id := initiate(r.t, e, fmt.Sprint("user", i, k))
			submit(r.t, r.engines[(i+1)%len(r.engines)], id, tiny)
			wait(r.t, r.engines[(i+2)%len(r.engines)], id)
			// The analysis begins and ends by the server's clock.
			if n := r.sql(`SELECT count(*) FROM voicescreen.sessions
				WHERE abs(extract(epoch FROM clock_timestamp() - created_at)) < 600 AND created_at <= submitted_at AND submitted_at <= updated_at
				AND updated_at <= clock_timestamp() AND id = '` + id + `'`); n != "1" {
				fault("replica %d: the times of its session are not those of the server", i)
			}
			r.sql(`UPDATE voicescreen.sessions SET submitted_at = clock_timestamp() - interval '` + c.age + `' WHERE id = '` + id + `'`)
			if err := e.Feedback(ctx, id, label); (err == nil) != c.accepted || err != nil && !errors.Is(err, voicescreen.ErrTooLate) {
				fault("replica %d: a label after %s: got error %v, want success: %v", i, c.age, err, c.accepted)
			}
		}
	}
	return append(faults, r.leases()...)
}

// leases returns what is wrong with leases: one of a replica ends for all others at
// the same time.
func (r *replicas) leases() (faults []string) {
	ctx := r.t.Context()
	for i, st := range r.stores {
		s := &store.Session{Account: "other", ID: fmt.Sprint("leased ", i), UserID: "u", Status: screen.StatusProcessing, Product: screen.DepressionAnxiety,
			Owner: "worker of another process", Token: 1, Attempts: 1, Due: time.Now().Add(time.Minute), SubmittedAt: time.Now()}
		if err := st.Create(ctx, s); err != nil {
			r.t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond) // ten polls of each engine
		if got, err := st.Get(ctx, s.Account, s.ID); err != nil || got.Owner != s.Owner {
			faults = append(faults, fmt.Sprintf("a lease of a minute was taken at once: %v", err))
		}
		if err := r.engines[0].Tenant("other").Delete(ctx, s.ID); err != nil {
			r.t.Fatal(err)
		}
	}
	return faults
}

// TestReplicasOnPostgreSQL has 32 submissions race for each session over three
// replicas, two of which have a clock that is an hour off, and then looks at all that
// depends on a clock. Planted faults must be found.
func TestReplicasOnPostgreSQL(t *testing.T) {
	server := postgresServer(t)
	racing := testOptions()
	racing.Workers, racing.Queue.Limit = -1, 1<<20
	working := testOptions()
	t.Run("races", func(t *testing.T) {
		for _, fault := range newReplicas(t, server, "races", racing, nil).race(*replicaRaces) {
			t.Error(fault)
		}
	})
	t.Run("clocks", func(t *testing.T) {
		for _, fault := range newReplicas(t, server, "clocks", working, nil).clock() {
			t.Error(fault)
		}
	})
	t.Run("races with a planted fault", func(t *testing.T) {
		plant := func(_ int, st store.Store) store.Store { return faults["two submissions win"](st) }
		if got := newReplicas(t, server, "races_fault", racing, plant).race(5); len(got) == 0 {
			t.Error("the fault was not found")
		}
	})
	t.Run("clocks with a planted fault", func(t *testing.T) {
		if got := newReplicas(t, server, "clocks_fault", working, itsOwnClock).clock(); len(got) == 0 {
			t.Error("the fault was not found")
		}
	})
}

// itsOwnClock makes a replica judge labels by the clock of its machine.
func itsOwnClock(i int, st store.Store) store.Store {
	return onUpdate(func(s *store.Session, now time.Time, change store.Change) error {
		if s.Status.Final() {
			now = wrongClocks[i]().Truncate(time.Microsecond)
		}
		return change(s, now)
	})(st)
}
