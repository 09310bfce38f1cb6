package voicescreen

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// Notice says that a session of an account got its result. It holds nothing
// of the result: who is told fetches it.
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

	// noticeLease is for how long a notice is one sender's. If that was not
	// heard of by then it is sent again. Chosen: a few times SendTimeout.
	noticeLease = time.Minute

	// noticeSenders is how many notices of an account are sent at once.
	// Chosen: with answers after 200 ms it makes 20 a second, about as many as
	// two cores analyse.
	noticeSenders = 4

	// noticePolls is after how many polls of the queue the accounts are asked
	// for notices that this engine was not told of: retries, those of another
	// process, and those from before the start. Chosen: with the default
	// 5 s, the shortest pause of the schedule.
	noticePolls = 5

	// noticeAge is how old a notice may become. Chosen: twice what the
	// schedule takes. Older is one whose account was not to be told meanwhile.
	noticeAge = 7 * 24 * time.Hour

	// The pauses of an account after a failure, which double until a success.
	// Chosen: a receiver that restarts is not overrun.
	firstRest = time.Second
	longRest  = time.Minute
)

// noticeDelays are the pauses after each attempt but the last, by the example
// of the Standard Webhooks specification: somewhat more than three days, so
// that what fails on a Friday evening is mended on Monday.
var noticeDelays = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// wanted says whether results of the account are to be told.
func (e *Engine) wanted(account string) bool {
	accounts := e.opts.Results.Notify.Accounts
	return accounts != nil && slices.Contains(accounts(), account)
}

// notifier is what an engine knows of its receivers.
type notifier struct {
	wake chan struct{} // one token: somebody is in told

	mu       sync.Mutex // protects what follows
	told     map[string]bool
	accounts map[string]*receiver
}

// receiver is what is known of an account that is told.
type receiver struct {
	senders int           // at work
	rest    time.Duration // after the last failure; 0 after a success
	until   time.Time     // when the rest is over
}

// rests says whether the rest after a failure goes on. A clock that was set
// back does not make it longer.
func (r *receiver) rests(now time.Time) bool {
	left := r.until.Sub(now)
	return left > 0 && left <= r.rest
}

func newNotifier() notifier {
	return notifier{wake: make(chan struct{}, 1), told: map[string]bool{}, accounts: map[string]*receiver{}}
}

// tell says that there is a notice of the account.
func (n *notifier) tell(account string) {
	n.mu.Lock()
	n.told[account] = true
	n.mu.Unlock()
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// takeTold returns which accounts have notices.
func (n *notifier) takeTold() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var list []string
	for account := range n.told {
		list = append(list, account)
	}
	clear(n.told)
	return list
}

// begin counts a sender of the account in, if it may have one more.
func (n *notifier) begin(account string, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	r := n.accounts[account]
	if r == nil {
		r = &receiver{}
		n.accounts[account] = r
	}
	if r.senders >= noticeSenders || r.rest > 0 && (r.senders > 0 || r.rests(now)) {
		return false // after a failure one goes first
	}
	r.senders++
	return true
}

// end counts a sender out.
func (n *notifier) end(account string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	r := n.accounts[account]
	r.senders--
	if r.senders == 0 && r.rest == 0 {
		delete(n.accounts, account)
	}
}

// sent takes down how a call ended, and says whether the sender may go on.
func (n *notifier) sent(account string, ok bool, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	r := n.accounts[account]
	if ok {
		r.rest = 0
		return true
	}
	r.rest = min(max(2*r.rest, firstRest), longRest)
	r.until = now.Add(r.rest)
	return false
}

// notify starts senders for the accounts that have notices, until the engine
// closes.
func (e *Engine) notify() {
	poll := time.NewTicker(noticePolls * e.opts.Queue.Poll)
	defer poll.Stop()
	accounts := e.opts.Results.Notify.Accounts()
	for {
		for _, account := range accounts {
			if e.notifier.begin(account, e.now()) {
				e.workers.Go(func() { e.sendAll(account) })
			}
		}
		select {
		case <-e.closing:
			return
		case <-poll.C:
			accounts = e.opts.Results.Notify.Accounts()
		case <-e.notifier.wake:
			accounts = e.notifier.takeTold()
		}
	}
}

// sendAll sends the notices of an account that are due, one after the other,
// until one fails.
func (e *Engine) sendAll(account string) {
	defer e.notifier.end(account)
	for {
		select {
		case <-e.closing:
			return
		default:
		}
		if !e.wanted(account) {
			return
		}
		dropped := false
		s, err := e.nextNotice(account, func(s *store.Session, now time.Time) error {
			if dropped = now.Sub(s.UpdatedAt) > noticeAge || s.Notices > len(noticeDelays); dropped {
				s.Notify = time.Time{}
				return nil
			}
			s.Notify = time.Time{} // after the last attempt, also if the process ends in it
			if s.Notices++; s.Notices <= len(noticeDelays) {
				s.Notify = now.Add(noticeLease)
			}
			return nil
		})
		switch {
		case err == nil && dropped:
			e.opts.Logger.Warn("a notice was dropped: it is too old, or its attempts are used up", "session", s.ID)
			continue
		case err == nil:
			e.notifier.tell(account) // there may be more: another sender helps
		case errors.Is(err, store.ErrNoneDue), e.ctx.Err() != nil:
			return
		default:
			if !errors.Is(err, store.ErrDamaged) || e.damagedNotices.due() {
				e.opts.Logger.Error("take a notice", "error", err)
			}
			return
		}
		if !e.notifier.sent(account, e.sendOne(s), e.now()) {
			return
		}
	}
}

// nextNotice takes the notice of an account that has been due longest.
func (e *Engine) nextNotice(account string, change store.Change) (*store.Session, error) {
	var without []string
	for {
		other := ""
		s, err := e.store.NextNotice(e.ctx, without, func(s *store.Session, now time.Time) error {
			if s.Account != account {
				other = s.Account
				return errOtherAccount
			}
			return change(s, now)
		})
		if !errors.Is(err, errOtherAccount) {
			return s, err
		}
		without = append(without, other)
	}
}

// errOtherAccount says that a notice is of another account than was asked for.
var errOtherAccount = errors.New("voicescreen: a notice of another account")

// sendOne makes one attempt at a notice that was taken, stores what came of
// it, and says whether it was sent.
func (e *Engine) sendOne(s *store.Session) bool {
	r := newResult(s)
	err := e.callSend(Notice{Account: s.Account, SessionID: s.ID, Status: r.Status, UpdatedAt: s.UpdatedAt, Attempt: s.Notices})
	if err != nil && e.ctx.Err() != nil {
		return false // Close gave up waiting; it is sent again when the lease is over, unless it was the last attempt
	}
	log := e.opts.Logger.With("session", s.ID, "attempt", s.Notices)
	var again time.Duration // after it, or never if it is zero
	switch {
	case err == nil:
	case s.Notices > len(noticeDelays):
		log.Error("a notice was not sent; that was the last attempt", "error", err)
	default:
		again = jitter(noticeDelays[s.Notices-1])
		log.Warn("a notice was not sent", "error", err)
	}
	_, serr := e.store.Update(e.ctx, s.Account, s.ID, func(r *store.Session, now time.Time) error {
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
		log.Error("store how a notice went", "error", serr)
	}
	return err == nil
}

// callSend calls Send. A panic of it is an error of this call.
func (e *Engine) callSend(n Notice) (err error) {
	ctx, cancel := context.WithTimeout(e.ctx, SendTimeout)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = panicError(v)
		}
	}()
	return e.opts.Results.Notify.Send(ctx, n)
}

// jitter spreads a pause by a fifth, so that what failed together is not tried
// together again.
func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64()))
}
