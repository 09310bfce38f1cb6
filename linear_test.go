package voicescreen_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
	"github.com/voicescreen/voicescreen/store/memory"
)

// Clients call two engines on one store at once, while workers of both analyse
// and others die. What each call returned, and when it was called and returned,
// must be explained by some order in which each call took effect at one moment
// in between: linearizability, which porcupine searches. The sessions are
// independent, so that each is searched for itself.

var (
	linearRuns = flag.Int("linear.runs", 5, "how many histories are checked for linearizability")
	linearOps  = flag.Int("linear.ops", cost.Sized(2000, 500), "calls in each of them")
)

const (
	linearClients = 16 // at once
	linearWindow  = 12 // sessions that are called, so that calls meet
)

// stage is where a session stands, as far as callers can see.
type stage uint8

const (
	absent stage = iota
	opened
	waiting
	succeeded
	failed
	erased
)

// seenSession is what callers see of a session, and the state of its model.
type seenSession struct {
	stage                  stage
	phq2, phq9, gad7, told string // the labels, as text; "" is none
}

// call is an operation on a session.
type call struct {
	name  string
	label voicescreen.Feedback
}

// answer is what came of it: an error or what was seen.
type answer struct {
	err  error // one of the sentinels, or nil
	seen seenSession
}

// sessionModel says what each call must answer in each state, and the state
// after it.
var sessionModel = porcupine.Model{
	Init:  func() any { return seenSession{} },
	Equal: func(a, b any) bool { return a == b },
	Step: func(state, input, output any) (bool, any) {
		return stepSession(state.(seenSession), input.(call), output.(answer))
	},
}

func stepSession(s seenSession, in call, out answer) (bool, any) {
	there := s.stage != absent && s.stage != erased
	if !there && in.name != "initiate" && in.name != "list" && in.name != "forget" {
		return out.err == voicescreen.ErrNotFound, s
	}
	after := s
	var want error
	switch in.name {
	case "initiate":
		after.stage = opened
		return s.stage == absent && out.err == nil, after
	case "submit":
		if s.stage != opened {
			want = voicescreen.ErrConflict
		} else {
			after.stage = waiting
		}
	case "submit what is no audio":
		want = voicescreen.ErrAudio
		if s.stage != opened {
			want = voicescreen.ErrConflict
		}
	case "finish": // by a worker
		after.stage = out.seen.stage
		return s.stage == waiting && (out.seen.stage == succeeded || out.seen.stage == failed), after
	case "read":
		return out.err == nil && out.seen == s, s
	case "wait":
		return out.err == nil && out.seen == s && s.stage >= succeeded, s
	case "list":
		if !there || s.stage == opened {
			return out.seen == seenSession{}, s
		}
		return out.seen == s, s
	case "feedback":
		if s.stage == opened {
			want = voicescreen.ErrConflict
		} else {
			after.give(in.label)
		}
	case "delete":
		after = seenSession{stage: erased}
	case "forget":
		if there {
			after = seenSession{stage: erased}
		}
	}
	return out.err == want, after
}

// give replaces a label; PHQ-2 and PHQ-9 replace each other.
func (s *seenSession) give(f voicescreen.Feedback) {
	switch {
	case f.PHQ2 != nil:
		s.phq2, s.phq9 = fmt.Sprint(f.PHQ2), ""
	case f.PHQ9 != nil:
		s.phq9, s.phq2 = fmt.Sprint(f.PHQ9), ""
	case f.GAD7 != nil:
		s.gad7 = fmt.Sprint(f.GAD7)
	default:
		s.told = f.Depression.String()
	}
}

// see is what a result shows.
func see(r *voicescreen.Result) (s seenSession) {
	s.stage = map[screen.Status]stage{
		screen.StatusInitiated: opened, screen.StatusProcessing: waiting,
		screen.StatusSuccess: succeeded, screen.StatusFailed: failed,
	}[r.Status]
	for _, f := range []voicescreen.Feedback{{PHQ2: r.Labels.PHQ2}, {PHQ9: r.Labels.PHQ9}, {GAD7: r.Labels.GAD7}} {
		if f.PHQ2 != nil || f.PHQ9 != nil || f.GAD7 != nil {
			s.give(f)
		}
	}
	if r.Labels.Depression != 0 {
		s.told = r.Labels.Depression.String()
	}
	return s
}

// concurrent is a history of calls at once.
type concurrent struct {
	t       *testing.T
	st      store.Store
	stores  []store.Store      // one for each engine; in memory and bolt the same
	clocks  []func() time.Time // of the machine of each engine; none where all are right
	engines []*voicescreen.Engine
	began   time.Time

	mu       sync.Mutex // protects what follows
	sessions []string   // in the order of their creation
	users    map[string]string
	made     map[string]int64 // when the call began that made it
	history  map[string][]porcupine.Operation
	forgets  []forgetting
}

// forgetting is a call of Forget, which is one on every session of a user that
// was being made or there when it ended.
type forgetting struct {
	user     string
	client   int
	from, to int64
	err      error
}

func (c *concurrent) now() int64 { return int64(time.Since(c.began)) }

// record adds an operation of a session.
func (c *concurrent) record(client int, id string, in call, from int64, out answer) {
	to := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.history[id] = append(c.history[id], porcupine.Operation{ClientId: client, Input: in, Output: out, Call: from, Return: to})
}

// sentinel returns the error of the package that err is.
func (c *concurrent) sentinel(err error) error {
	for _, s := range []error{voicescreen.ErrNotFound, voicescreen.ErrConflict, voicescreen.ErrAudio} {
		if errors.Is(err, s) {
			return s
		}
	}
	if err != nil {
		c.t.Errorf("got error %v", err)
	}
	return err
}

// TestLinearizable checks five histories of 2000 calls (500 under the race detector), or
// what the flags say.
func TestLinearizable(t *testing.T) {
	for run := range *linearRuns {
		kind := []string{"memory", "bolt", "memory", "encrypted", "memory"}[run%5]
		t.Run(fmt.Sprint(kind, run), func(t *testing.T) {
			st := openKind(t, kind)
			if plant := concurrentFaults[*fault]; plant != nil {
				st = plant(st)
			}
			c := &concurrent{t: t, st: st, stores: []store.Store{st, st}, began: time.Now(), users: map[string]string{}, made: map[string]int64{}, history: map[string][]porcupine.Operation{}}
			c.run(*linearOps, rand.New(rand.NewPCG(7, uint64(run))))
			c.check()
		})
	}
}

func openKind(t *testing.T, kind string) store.Store {
	var st store.Store = memory.New(nil)
	if kind != "memory" {
		opts := &bolt.Options{}
		if kind == "encrypted" {
			opts.Key = bytes.Repeat([]byte{7}, bolt.KeySize)
		}
		var err error
		if st, err = bolt.Open(filepath.Join(t.TempDir(), "linear.db"), opts); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { st.Close() })
	return st
}

// run makes the clients call, and ends when all is analysed.
func (c *concurrent) run(ops int, rnd *rand.Rand) {
	opts := testOptions()
	opts.Audio.Limits.MinSpeech = 50 * time.Millisecond
	opts.Queue.Limit = 1 << 20
	opts.Queue.Attempts = 100 // most workers that die do so on purpose
	opts.Scoring.Models = []models.Scorer{c.scorer()}
	opts.Results.OnResult = func(_ context.Context, _ string, r *voicescreen.Result) {
		c.mu.Lock()
		from := c.made[r.SessionID]
		c.mu.Unlock()
		c.record(linearClients, r.SessionID, call{name: "finish"}, from, answer{seen: seenSession{stage: see(r).stage}})
	}
	for i, st := range c.stores {
		its := *opts
		if i < len(c.clocks) {
			its.Store.Now = c.clocks[i]
		}
		c.engines = append(c.engines, newEngine(c.t, st, &its))
	}
	dying := make(chan struct{})
	var all, rogue sync.WaitGroup
	rogue.Go(func() { c.die(dying) })
	for client := range linearClients {
		r := rand.New(rand.NewPCG(rnd.Uint64(), 1))
		all.Go(func() {
			for range ops / linearClients {
				c.one(client, r)
			}
		})
	}
	all.Wait()
	close(dying)
	rogue.Wait()
	eventually(c.t, "the queue is empty", func() bool { n, err := c.st.Due(c.t.Context()); return n == 0 && err == nil })
	for _, e := range c.engines {
		closeEngine(c.t, e) // so that OnResult was called for all
	}
}

// scorer fails every fourth time, in one way or the other.
func (c *concurrent) scorer() *fakeScorer {
	var f *fakeScorer
	f = newFake(func(ctx context.Context, in *features.Recording) ([]screen.Score, error) {
		switch f.calls.Load() % 8 {
		case 0:
			panic("scorer")
		case 4:
			return nil, errBroken
		}
		return newFake(nil).Score(ctx, in)
	})
	return f
}

// die takes sessions as workers do that are never heard of again, for a moment.
func (c *concurrent) die(done chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-done:
			return
		case <-time.After(2 * time.Millisecond):
		}
		_, err := c.st.Next(c.t.Context(), func(s *store.Session, _ time.Time) error {
			s.Status, s.Owner, s.Due = screen.StatusProcessing, "dead", time.Now().Add(5*time.Millisecond)
			s.Token++
			s.Attempts++
			return nil
		})
		if err != nil && !errors.Is(err, store.ErrNoneDue) {
			c.t.Errorf("Next: %v", err)
		}
	}
}

// check searches the order of the calls of each session.
func (c *concurrent) check() {
	for _, f := range c.forgets {
		for id, user := range c.users {
			if user == f.user && c.made[id] < f.to {
				c.history[id] = append(c.history[id], porcupine.Operation{ClientId: f.client, Input: call{name: "forget"}, Output: answer{err: f.err}, Call: f.from, Return: f.to})
			}
		}
	}
	operations := 0
	for _, id := range slices.Sorted(maps.Keys(c.history)) {
		operations += len(c.history[id])
		if got := porcupine.CheckOperationsTimeout(sessionModel, c.history[id], soon); got != porcupine.Ok {
			text := ""
			for _, op := range c.history[id] {
				text += fmt.Sprintf("\n%12d to %12d client %2d: %+v -> %+v", op.Call, op.Return, op.ClientId, op.Input, op.Output)
			}
			c.t.Errorf("session %s: the history is %v, want Ok:%s", id, got, text)
		}
	}
	c.t.Logf("%d operations on %d sessions", operations, len(c.history))
}
