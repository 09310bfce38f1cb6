package voicescreen_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
	"github.com/voicescreen/voicescreen/store/memory"
)

// Random histories of the whole engine against a model of it: what every call
// returns, and after every call all that is stored. The engines have no
// goroutines; workers, senders of notices and the sweep of old results are
// steps of the history like the calls, so that a history is the same again for
// the same seed. While an upload comes in, a recording is scored or a notice is
// sent, other steps happen. The model is history_model_test.go; that a fault
// does not pass is shown in history_fault_test.go.

// The world of the histories is small, so that steps meet.
var (
	worldAccounts = []string{"", "clinic"}
	worldUsers    = []string{"u", "v"}
)

const (
	worldLimit    = 4              // recordings in the queue
	worldLease    = time.Hour      // far longer than a history takes, so that no real time renews it
	worldRetain   = 48 * time.Hour // of results
	worldAttempts = 3              // at a recording
	worldNested   = 2              // steps within a step, at most
)

// fault names the fault to plant in the store. It is set when the tests run
// themselves.
var fault = flag.String("fault", "", "run the histories on a store with this fault")

// TestHistories runs five times as many histories as the flag rapid.checks
// says, by default 500 (300 under the race detector): four fifths of them on a
// store in memory with two engines and some 90 steps long. The others wait for
// the disk and are 30 steps long: on plain files with one engine, and on
// encrypted ones with one or two.
func TestHistories(t *testing.T) {
	for i := range 5 {
		name, kinds, rounds := "memory", []string{"memory"}, 3
		if i == 4 {
			name, kinds, rounds = "files", []string{"bolt", "encrypted"}, 1
		}
		t.Run(fmt.Sprint(name, i), func(t *testing.T) {
			dir := t.TempDir()
			rapid.Check(t, func(rt *rapid.T) {
				runHistory(rt, t.Context(), rapid.SampledFrom(kinds).Draw(rt, "store"), dir, rounds)
			})
		})
	}
	if testing.Short() || *fault != "" {
		return
	}
	for _, what := range mustReach { // histories of which nothing comes show nothing
		t.Logf("%d times: %s", reached[what], what)
		if reached[what] == 0 {
			t.Errorf("it never happened that %s", what)
		}
	}
}

// reached counts what histories came to, and mustReach is what is in every five
// hundred of them.
var (
	reached   = map[string]int{}
	mustReach = []string{
		"a recording is scored", "an attempt fails", "a recording has killed its workers", "a lease is lost",
		"the lease of a dead process is released", "an engine is closed during an analysis", "a session is submitted twice at once",
		"a session is erased while its upload comes", "the queue is full", "a label comes too late", "a label is replaced",
		"a listing goes on from a page", "a result is told", "a notice is sent by two", "a notice was too old", "a session expires",
	}
)

// history is one random history: the engines, and the model of what they must
// do.
type history struct {
	*rapid.T
	model
	ctx     context.Context
	now     *clock
	open    func() (store.Store, error) // nil if the store does not survive being closed
	st      *hookedStore
	engines []*player // two on one store, or one that has it to itself
	owned   bool
	depth   int // of steps within steps
	told    []string
	owners  []string // of leases, of all engines that ever had one

	attempts []*attempt // steps of workers under way, the innermost last
	sending  []*sending // steps of notifiers under way, likewise
}

// player is an engine of the history. Its engine is nil while it is down.
type player struct {
	*voicescreen.Engine
	work     context.Context // of the three
	worker   *voicescreen.Worker
	notifier *voicescreen.Notifier
	sweeper  *voicescreen.Sweeper

	owner   string // of its leases, once it had one
	uploads int
	closed  bool // by a step within one of its own

	receivers map[string]*receiver // by account
}

func runHistory(rt *rapid.T, ctx context.Context, kind, dir string, rounds int) {
	h := &history{T: rt, ctx: ctx, now: newClock()}
	faultClock = h.now
	h.model.sessions = map[string]*expected{}
	h.model.audio = map[string][]byte{}
	h.st = &hookedStore{h: h}
	if kind == "memory" {
		h.st.Store = planted(memory.New(&memory.Options{Now: h.now.Now}))
	} else {
		dir, err := os.MkdirTemp(dir, "")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir) // a test has as many as it has histories
		path := filepath.Join(dir, "history.db")
		opts := &bolt.Options{Now: h.now.Now}
		if kind == "encrypted" {
			opts.Key = bytes.Repeat([]byte{7}, bolt.KeySize)
		}
		h.open = func() (store.Store, error) { return bolt.Open(path, opts) }
		h.openAgain()
		h.owned = kind == "bolt" || rapid.Bool().Draw(rt, "owned")
	}
	h.tell()
	defer h.end()
	h.engines = []*player{{}, {}}
	if h.owned {
		h.engines = h.engines[:1]
	}
	for _, p := range h.engines {
		h.start(p)
	}
	for range rapid.IntRange(0, 4).Draw(rt, "sessions") {
		h.initiate()
	}
	for range rounds {
		rt.Repeat(h.actions())
	}
}

// actions are the steps of a history, each as often as is its share in it, or
// somewhat more the earlier it stands: rapid sorts them by name, and prefers
// the first.
func (h *history) actions() map[string]func(*rapid.T) {
	actions := map[string]func(*rapid.T){"": h.check}
	for n, a := range []struct {
		name  string
		share int
		do    func()
	}{
		{"submit", 5, h.submit}, {"work", 8, h.work}, {"initiate", 3, h.initiate}, {"feedback", 4, h.feedback}, {"notices", 3, h.notices},
		{"time", 4, h.advance}, {"die", 2, h.die}, {"results", 2, h.results}, {"result", 1, h.result}, {"wait", 1, h.wait}, {"restart", 2, h.restart},
		{"expire", 1, h.expire}, {"reopen", 1, h.reopen}, {"wanted", 1, h.tell}, {"delete", 1, h.remove}, {"forget", 1, h.forget},
	} {
		for i := range a.share {
			actions[fmt.Sprintf("%c%d %s", 'a'+n, i, a.name)] = func(*rapid.T) { a.do() }
		}
	}
	return actions
}

// end closes everything, also after a history that failed.
func (h *history) end() {
	for _, p := range h.engines {
		if p.Engine != nil {
			_ = p.Close(context.Background())
		}
	}
	if err := h.st.Store.Close(); err != nil && !errors.Is(err, store.ErrClosed) {
		h.Errorf("Close: %v", err)
	}
}

// measurers are used by one engine after the other: making one takes longer
// than what it measures here.
var measurers = [4]*features.Measurer{}

func init() {
	for i := range measurers {
		measurers[i] = features.NewMeasurer()
	}
}

// options are those of all engines of the history.
func (h *history) options(p *player) *voicescreen.Options {
	opts := &voicescreen.Options{
		Workers: -1,
		Queue:   voicescreen.QueueOptions{Limit: worldLimit, Lease: worldLease, Attempts: worldAttempts, Poll: time.Millisecond},
		Audio:   voicescreen.AudioOptions{MaxBytes: maxWorldBytes, Limits: features.Limits{MinSpeech: 50 * time.Millisecond, MinSNR: math.Inf(-1), MaxClipped: 1, MinBandwidth: -1}},
		Scoring: voicescreen.ScoringOptions{Models: []models.Scorer{newFake(h.score(p))}},
		NewID:   func() string { h.made++; return fmt.Sprintf("s%03d", h.made) },
		Results: voicescreen.ResultOptions{
			OnResult: func(_ context.Context, account string, r *voicescreen.Result) {
				h.told = append(h.told, fmt.Sprint(account, "/", r.SessionID, " ", r.Status))
			},
			Retain: worldRetain,
			Notify: voicescreen.NotifyOptions{Accounts: func() []string { return h.wanted }, Send: h.send(p)},
		},
	}
	opts.Store.Now = h.now.Now
	return opts
}

// start starts an engine anew.
func (h *history) start(p *player) {
	h.now.Add(time.Microsecond) // a process takes its time to start: no two of them lease at one time
	*p = player{receivers: map[string]*receiver{}}
	e, err := voicescreen.NewIdle(h.st, h.options(p), h.owned)
	if err != nil {
		h.Fatal(err)
	}
	p.Engine = e
	p.work, p.worker, p.notifier, p.sweeper = e.Background()
}

func (h *history) time() time.Time { return h.now.Now().UTC().Truncate(time.Microsecond) }

// player draws an engine that is up.
func (h *history) player() *player {
	var up []*player
	for _, p := range h.engines {
		if p.Engine != nil && !p.closed {
			up = append(up, p)
		}
	}
	if len(up) == 0 {
		return nil
	}
	return up[rapid.IntRange(0, len(up)-1).Draw(h.T, "engine")]
}

// target draws a session: mostly one that fits, sometimes any that there is,
// one that was, one of another account, or none at all.
func (h *history) target(fits func(*expected) bool) (account, id string) {
	if rapid.IntRange(0, 15).Draw(h.T, "any") == 0 {
		return rapid.SampledFrom(worldAccounts).Draw(h.T, "account"), fmt.Sprintf("s%03d", rapid.IntRange(0, h.made).Draw(h.T, "session"))
	}
	all := slices.Sorted(maps.Keys(h.sessions))
	fitting := slices.DeleteFunc(slices.Clone(all), func(id string) bool { return !fits(h.sessions[id]) })
	switch {
	case len(fitting) > 0 && rapid.IntRange(0, 7).Draw(h.T, "unfit") > 0:
		id = rapid.SampledFrom(fitting).Draw(h.T, "session")
	case len(all) > 0:
		id = rapid.SampledFrom(all).Draw(h.T, "session")
	default:
		return "", "s000"
	}
	return h.sessions[id].account, id
}

func anySession(*expected) bool { return true }

// meanwhile makes other steps happen within one, and some of p's own.
func (h *history) meanwhile(more ...func()) {
	if h.depth > 0 {
		return
	}
	h.depth++
	defer func() { h.depth-- }()
	steps := append([]func(){h.submit, h.work, h.advance, h.feedback, h.work, h.advance, h.notices, h.work, h.remove, h.submit, h.die, h.expire, h.forget, h.results}, more...)
	for range rapid.IntRange(0, worldNested).Draw(h.T, "meanwhile") {
		rapid.SampledFrom(steps).Draw(h.T, "step")()
	}
}

// want ends the history if a call did not return the error it must, or one
// that matches another.
func (h *history) want(call string, got, want error) {
	h.Helper()
	if want == nil && got != nil || !errors.Is(got, want) {
		h.Fatalf("%s: got error %v, want %v", call, got, want)
	}
}
