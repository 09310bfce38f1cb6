package console

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/internal/throttle"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

const (
	// summaryAge is how old a summary, or a pass that failed, may be before a page has a
	// new one made. Chosen: a pass over 10,000 sessions takes about a second.
	summaryAge = time.Minute

	// summaryWait is how long a page waits for a new summary before it shows the former
	// one. Chosen: a quarter of the 200 ms that a page may take, and longer than the pass
	// over some hundred sessions.
	summaryWait = 50 * time.Millisecond

	// summaryTime bounds one pass over the sessions. Chosen: millions of them.
	summaryTime = 10 * time.Minute
)

// A summary is what the sessions of an account say together. It holds counts and figures,
// and nothing of one person. It is immutable.
type summary struct {
	At        time.Time // the end of the pass
	Sessions  int
	Damaged   int // sessions that cannot be read
	Status    []tally
	Failures  []tally // by code
	Models    []modelUse
	Median    time.Duration // from a recording to its result; 0 without results
	Slow      time.Duration // that 5 of 100 results took longer than
	Agreement []*agreement
}

// A tally is how many sessions have something.
type tally struct {
	Name string
	N    int
}

// A modelUse is one version of a model in the scores.
type modelUse struct {
	Category       screen.Category
	Model, Version string
	Calibrated     bool
	N              int
	First, Last    time.Time
}

// A pass collects what a summary is made of.
type pass struct {
	sessions int
	status   map[string]int
	failures map[string]int
	models   map[[3]string]*modelUse
	times    []time.Duration
	pairs    map[screen.Category][]pair
}

// summarize makes the summary of an account.
func summarize(ctx context.Context, a *voicescreen.Account) (*summary, error) {
	p := &pass{status: map[string]int{}, failures: map[string]int{}, models: map[[3]string]*modelUse{}, pairs: map[screen.Category][]pair{}}
	s := &summary{}
	for r, err := range a.All(ctx) {
		var damaged *store.DamagedError
		if errors.As(err, &damaged) {
			s.Damaged = damaged.Records
			continue
		}
		if err != nil {
			return nil, err
		}
		p.add(r)
	}
	s.Sessions = p.sessions
	s.Status, s.Failures = tallies(p.status), tallies(p.failures)
	for _, m := range p.models {
		s.Models = append(s.Models, *m)
	}
	slices.SortFunc(s.Models, func(a, b modelUse) int {
		return cmp.Or(cmp.Compare(a.Category, b.Category), b.Last.Compare(a.Last), cmp.Compare(a.Model+a.Version, b.Model+b.Version))
	})
	if slices.Sort(p.times); len(p.times) > 0 {
		s.Median, s.Slow = p.times[len(p.times)/2], p.times[len(p.times)*95/100]
	}
	for _, c := range []screen.Category{screen.Depression, screen.Anxiety} {
		s.Agreement = append(s.Agreement, agree(c, p.pairs[c]))
	}
	return s, nil
}

// add counts one session.
func (p *pass) add(r *voicescreen.Result) {
	p.sessions++
	p.status[r.Status.String()]++
	if r.Failure != nil {
		p.failures[r.Failure.Code]++
	}
	if r.Status.Final() && r.Labels.UpdatedAt.IsZero() { // a label is a later change
		p.times = append(p.times, r.UpdatedAt.Sub(r.SubmittedAt))
	}
	for i := range r.Scores {
		x := &r.Scores[i]
		key := [3]string{x.Category.String(), x.Model, x.Version}
		m := p.models[key]
		if m == nil {
			m = &modelUse{Category: x.Category, Model: x.Model, Version: x.Version, Calibrated: x.Calibrated, First: r.SubmittedAt}
			p.models[key] = m
		}
		m.N++
		if r.SubmittedAt.Before(m.First) {
			m.First = r.SubmittedAt
		}
		if r.SubmittedAt.After(m.Last) {
			m.Last = r.SubmittedAt
		}
		if pr, ok := newPair(r, x); ok {
			p.pairs[x.Category] = append(p.pairs[x.Category], pr)
		}
	}
}

// tallies returns counts, the largest first.
func tallies(of map[string]int) (all []tally) {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		all = append(all, tally{name, of[name]})
	}
	slices.SortStableFunc(all, func(a, b tally) int { return b.N - a.N })
	return all
}

// summaries keeps the summary of each account that was asked for, and makes new ones in
// the background. It is safe for concurrent use.
type summaries struct {
	ctx    context.Context // of the passes
	now    func() time.Time
	log    *slog.Logger
	failed throttle.Line // of a pass

	mu sync.Mutex // protects of
	of map[string]*kept
}

// kept is the last summary of an account.
type kept struct {
	last *summary      // nil before the first
	err  error         // of the last pass
	at   time.Time     // the end of the last pass, also of a failed one; zero before the first
	done chan struct{} // closed at the end of the pass under way; nil without one
}

func newSummaries(ctx context.Context, now func() time.Time, log *slog.Logger) *summaries {
	return &summaries{ctx: ctx, now: now, log: log, of: map[string]*kept{}}
}

// get returns the summary of an account. If it is old, a new one is made; get waits for
// that a moment, and returns the former one, nil before the first, if it takes longer. The
// error is that of the last pass, if none has succeeded.
func (s *summaries) get(ctx context.Context, name string, a *voicescreen.Account) (*summary, error) {
	s.mu.Lock()
	k := s.of[name]
	if k == nil {
		k = &kept{}
		s.of[name] = k
	}
	if k.done == nil && (k.at.IsZero() || s.now().Sub(k.at) >= summaryAge) {
		k.done = make(chan struct{})
		go s.renew(k, a)
	}
	done := k.done
	s.mu.Unlock()
	if done != nil {
		patience := time.NewTimer(summaryWait)
		defer patience.Stop()
		select {
		case <-done:
		case <-patience.C:
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if k.last == nil {
		return nil, k.err
	}
	return k.last, nil
}

// renew makes a new summary.
func (s *summaries) renew(k *kept, a *voicescreen.Account) {
	ctx, cancel := context.WithTimeout(s.ctx, summaryTime)
	defer cancel()
	var made *summary
	err := survive(s.log, func() (err error) {
		made, err = summarize(ctx, a)
		return err
	})
	if err != nil && s.ctx.Err() != nil {
		err = voicescreen.ErrClosed
	} else if err != nil {
		s.failed.Log(s.log, slog.LevelError, "summarize the sessions of an account", "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k.at = s.now()
	if k.err = err; err == nil {
		made.At = k.at
		k.last = made
	}
	close(k.done)
	k.done = nil
}
