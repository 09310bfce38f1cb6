package voicescreen

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/voicescreen/voicescreen/internal/throttle"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// NotifyOptions configure the notices of results. Unlike OnResult, a notice is
// stored in the transaction that stores the result, and is sent again until it
// was received. Accounts and Send are both set, or neither. All functions must be
// safe for concurrent use, and Accounts must be quick: a transaction waits for it.
// Package httpadapter/webhook has both for webhooks.
type NotifyOptions struct {
	// Accounts returns the accounts that want notices now. It is called at each
	// result and at least every five times QueueOptions.Poll. There are no
	// notices of results from before an account was among them.
	Accounts func() []string

	// Send sends one notice. Its ctx ends after SendTimeout. A nil error removes
	// the notice from the queue. After an error it is sent again, at most ten
	// times in all, after 5 s, 5 min, 30 min, and 2, 5, 10, 14, 20 and 24
	// hours, a fifth more or less. A process that ends during Send, or right
	// after it, counts as a failed attempt: notices are sent at least once, and
	// receivers recognise a notice by its session. Each account has at most four
	// calls under way, which delay neither analyses nor other accounts. While
	// the calls of an account fail its other notices wait, for a minute at most.
	Send func(ctx context.Context, n Notice) error

	// Outcome, if not nil, is called after each call of Send, with its error, and
	// with each notice that is dropped for its age. Dropped says that the notice
	// was not sent and is not sent again. It is not called for a call of Send
	// that Close interrupts.
	Outcome func(n Notice, err error, dropped bool)
}

// errOld says that a notice is dropped without another attempt.
var errOld = errors.New("voicescreen: the notice is too old, or its attempts are used up")

// Notice says that a session of an account got its result. It holds nothing of
// the result: the receiver asks for it.
type Notice struct {
	Account   string
	SessionID string        // the same at each attempt, and of no other notice
	Status    screen.Status // StatusSuccess or StatusFailed
	UpdatedAt time.Time
	Attempt   int // 1 the first time
}

const (
	// SendTimeout is how long one call of NotifyOptions.Send may take. Chosen:
	// within the 15 to 30 s that the Standard Webhooks specification asks for.
	SendTimeout = 15 * time.Second

	// noticeLease is how long a notice belongs to one sender. If its outcome is
	// not stored by then, the notice is sent again. Chosen: a few times
	// SendTimeout.
	noticeLease = time.Minute

	// noticeSenders is how many notices of an account are sent at once.
	// Chosen: with answers after 200 ms it makes 20 a second, about as many as
	// two cores analyse.
	noticeSenders = 4

	// noticePolls is after how many polls of the queue the notices are looked
	// at that this engine did not add: retries, those of another process, and
	// those from before the start. Chosen: with the default 5 s, the shortest
	// pause of the schedule.
	noticePolls = 5

	// noticeAge is how old a notice may become. Chosen: twice what the
	// schedule takes. An older one is of an account that wanted no notices for a
	// time.
	noticeAge = 7 * 24 * time.Hour

	// The pauses of an account after a failure, which double until a success.
	// Chosen: a receiver that restarts is not overrun.
	firstRest = time.Second
	longRest  = time.Minute
)

// noticeDelays are the pauses after each attempt but the last, by the example
// of the Standard Webhooks specification: somewhat more than three days, so
// that what fails on a Friday evening can be repaired on Monday.
var noticeDelays = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// notifier sends the notices that are due. One goroutine takes them from the
// store's queue, and each is sent in a goroutine of its own. It is safe for
// concurrent use.
type notifier struct {
	store  store.Store
	opts   NotifyOptions // without functions there is nothing to send
	poll   time.Duration // of the queue of sessions
	log    *slog.Logger
	now    func() time.Time // paces the accounts
	wake   chan struct{}    // one token: there may be a notice to take
	seldom throttle.Line    // errors of the queue

	mu        sync.Mutex           // protects receivers
	receivers map[string]*receiver // by account, those that have senders or rest
}

// newNotifier returns a notifier with the options of an Engine, without zero
// fields.
func newNotifier(st store.Store, o *Options) *notifier {
	return &notifier{
		store: st, opts: o.Results.Notify, poll: o.Queue.Poll, log: o.Logger, now: o.Store.Now,
		wake: make(chan struct{}, 1), receivers: map[string]*receiver{},
	}
}

// Wants says whether results of the account are to have notices.
func (n *notifier) Wants(account string) bool {
	return n.opts.Accounts != nil && slices.Contains(n.opts.Accounts(), account)
}

// Wake makes Run look for notices at once.
func (n *notifier) Wake() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// Run sends notices until stop is closed, and returns once no call of Send is
// under way. Ctx ends those calls.
func (n *notifier) Run(ctx context.Context, stop <-chan struct{}) {
	poll := time.NewTicker(noticePolls * n.poll)
	defer poll.Stop()
	var senders sync.WaitGroup
	defer senders.Wait()
	for {
		for !closed(stop) {
			s := n.take(ctx)
			if s == nil {
				break
			}
			senders.Go(func() { n.send(ctx, s); n.Wake() })
		}
		select {
		case <-stop:
			return
		case <-poll.C:
		case <-n.wake:
		}
	}
}

// Step takes one notice and sends it. It returns false if there was none.
func (n *notifier) Step(ctx context.Context) bool {
	s := n.take(ctx)
	if s == nil {
		return false
	}
	n.send(ctx, s)
	return true
}

// errUnwanted says that a notice is of an account that wants none now.
var errUnwanted = errors.New("voicescreen: the account wants no notices")

// take takes the notice that has been due longest, of those whose accounts can
// have another sender, counts that sender in, and returns the session. It drops
// notices that are too old or without an attempt left. Nil means that there is
// none.
func (n *notifier) take(ctx context.Context) *store.Session {
	without := n.busy()
	for {
		var account string
		dropped := false
		s, err := n.store.NextNotice(ctx, without, func(s *store.Session, now time.Time) error {
			account = s.Account
			if dropped = now.Sub(s.UpdatedAt) > noticeAge || s.Notices > len(noticeDelays); dropped {
				s.Notify = time.Time{}
				return nil
			}
			if !n.Wants(account) {
				return errUnwanted
			}
			s.Notify = time.Time{} // after the last attempt, also if the process ends in it
			if s.Notices++; s.Notices <= len(noticeDelays) {
				s.Notify = now.Add(noticeLease)
			}
			return nil
		})
		switch {
		case err == nil && dropped:
			n.log.Warn("a notice was dropped: it is too old, or its attempts are used up", "session", s.ID)
			n.outcome(noticeOf(s), errOld, true)
		case err == nil:
			n.begin(s.Account)
			return s
		case errors.Is(err, errUnwanted):
			without = append(without, account)
		case errors.Is(err, store.ErrNoneDue), ctx.Err() != nil:
			return nil
		default:
			logInQueue(n.log, "take a notice", err, &n.seldom)
			return nil
		}
	}
}

// send makes one attempt at a notice that was taken, and stores the outcome.
func (n *notifier) send(ctx context.Context, s *store.Session) {
	err := n.call(ctx, noticeOf(s))
	defer n.end(s.Account, err == nil)
	if err != nil && ctx.Err() != nil {
		return // Close gave up waiting; it is sent again when the lease is over, unless it was the last attempt
	}
	log := n.log.With("session", s.ID, "attempt", s.Notices)
	var again time.Duration // until the next attempt; 0 if there is none
	switch {
	case err == nil:
	case s.Notices > len(noticeDelays):
		log.Error("a notice was not sent; that was the last attempt", "error", err)
	default:
		again = jitter(noticeDelays[s.Notices-1])
		log.Warn("a notice was not sent", "error", err)
	}
	n.outcome(noticeOf(s), err, err != nil && again == 0)
	_, serr := n.store.Update(ctx, s.Account, s.ID, func(r *store.Session, now time.Time) error {
		if r.Notices != s.Notices {
			return errLeaseLost // it took longer than the lease
		}
		r.Notify = time.Time{}
		if again > 0 {
			r.Notify = now.Add(again)
		}
		return nil
	})
	if serr != nil && !errors.Is(serr, errLeaseLost) && !errors.Is(serr, store.ErrNotFound) {
		log.Error("store the outcome of a notice", "error", serr)
	}
}

// noticeOf returns the notice of a session that was taken.
func noticeOf(s *store.Session) Notice {
	return Notice{Account: s.Account, SessionID: s.ID, Status: s.Status, UpdatedAt: s.UpdatedAt, Attempt: s.Notices}
}

// outcome calls Outcome. A panic in it is logged.
func (n *notifier) outcome(notice Notice, err error, dropped bool) {
	if n.opts.Outcome == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			n.log.Error("Outcome panicked", "session", notice.SessionID, "panic", panicError(v))
		}
	}()
	n.opts.Outcome(notice, err, dropped)
}

// call calls Send. A panic in it is an error of this call.
func (n *notifier) call(ctx context.Context, notice Notice) (err error) {
	ctx, cancel := context.WithTimeout(ctx, SendTimeout)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = panicError(v)
		}
	}()
	return n.opts.Send(ctx, notice)
}

// jitter spreads a pause by a fifth, so that notices that failed together are
// not tried together again.
func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64()))
}

// receiver is the state of an account that has notices.
type receiver struct {
	senders int           // at work
	rest    time.Duration // after the last failure; 0 after a success
	until   time.Time     // when the rest is over
}

// busy says whether the account can have no other sender now. After a failure
// it has one sender at a time. A clock that was set back does not make a rest
// longer.
func (r *receiver) busy(now time.Time) bool {
	left := r.until.Sub(now)
	return r.senders >= noticeSenders || r.rest > 0 && (r.senders > 0 || left > 0 && left <= r.rest)
}

// busy returns the accounts that can have no other sender now.
func (n *notifier) busy() (accounts []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := n.now()
	for account, r := range n.receivers {
		if r.busy(now) {
			accounts = append(accounts, account)
		}
	}
	return accounts
}

// begin counts a sender of the account in.
func (n *notifier) begin(account string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	r := n.receivers[account]
	if r == nil {
		r = &receiver{}
		n.receivers[account] = r
	}
	r.senders++
}

// end counts a sender of the account out. After a failure the account rests.
func (n *notifier) end(account string, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	r := n.receivers[account]
	r.senders--
	if ok {
		r.rest = 0
	} else {
		r.rest = min(max(2*r.rest, firstRest), longRest)
		r.until = n.now().Add(r.rest)
	}
	if r.senders == 0 && r.rest == 0 {
		delete(n.receivers, account)
	}
}

func (o *NotifyOptions) check() error {
	if (o.Accounts == nil) != (o.Send == nil) {
		return fmt.Errorf("%w: of Accounts and Send in NotifyOptions one function is set and the other is not", ErrInvalid)
	}
	return nil
}
