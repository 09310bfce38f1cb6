package webhook

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"
)

const (
	// recordEvery is the shortest time between two writes of deliveries. Chosen: an
	// operator sees them at once, and a burst of notices costs one write.
	recordEvery = time.Second

	// countEvery is how often Watch counts the notices that wait. Chosen: with
	// recordEvery, what is listed is at most a few seconds old.
	countEvery = 2 * time.Second

	// warnEvery is the shortest time between two log lines about deliveries that
	// cannot be written. Chosen: the cause stays for hours.
	warnEvery = time.Minute
)

// recorder collects the outcomes of notices and stores them a moment later. Its
// methods may be called concurrently.
type recorder struct {
	endpoints *Endpoints
	log       *slog.Logger

	writing sync.Mutex // held during a write

	mu      sync.Mutex // protects what follows
	pending deliveries
	timer   *time.Timer // of the next write; nil if none is planned
	warned  time.Time
}

// note adds a delivery to those that the next write stores.
func (r *recorder) note(d Delivery) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending == nil {
		r.pending = deliveries{}
	}
	r.pending[d.Account] = r.pending[d.Account].with(d)
	if r.timer == nil {
		r.timer = time.AfterFunc(recordEvery, r.write)
	}
}

// write stores what is pending. What cannot be stored is dropped: the notices
// themselves are in the store of the engine.
func (r *recorder) write() {
	r.writing.Lock()
	defer r.writing.Unlock()
	r.mu.Lock()
	pending := r.pending
	if r.timer != nil {
		r.timer.Stop()
	}
	r.pending, r.timer = nil, nil
	r.mu.Unlock()
	if len(pending) == 0 {
		return
	}
	err := r.endpoints.add(pending)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil && time.Since(r.warned) > warnEvery {
		r.warned = time.Now()
		r.log.Warn("store the deliveries of webhooks", "error", err)
	}
}

// record notes the outcome of an attempt.
func (s *Sender) record(account string, err error) {
	if errors.Is(err, context.Canceled) {
		return // the engine closes; nothing is known of the receiver
	}
	d := Delivery{Account: account}
	if err == nil {
		d.DeliveredAt = s.now().UTC().Truncate(time.Millisecond)
	} else {
		d.FailedAt, d.Reason = s.now().UTC().Truncate(time.Millisecond), reason(err)
	}
	s.recorder.note(d)
}

// reason returns the text of an error of this package without its name.
func reason(err error) string {
	text := strings.TrimPrefix(err.Error(), "httpadapter/webhook: ")
	return strings.ToValidUTF8(text[:min(len(text), maxReason)], "")
}

// Watch counts the notices that wait with count, which is Engine.Notices, and
// stores the number of each account for Endpoints.Deliveries, until ctx is
// done or count returns an error that wraps errors.ErrUnsupported. It counts a last
// time when ctx is done: the engine must still be open.
func (s *Sender) Watch(ctx context.Context, count func(context.Context) (map[string]int, error)) {
	tick := time.NewTicker(countEvery)
	defer tick.Stop()
	last := map[string]int{}
	for {
		ended := ctx.Err() != nil
		counts, err := countOnce(ctx, count)
		if err == nil {
			s.noteWaiting(last, counts)
		}
		if ended || errors.Is(err, errors.ErrUnsupported) {
			return
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// countOnce calls count, also when ctx is done.
func countOnce(ctx context.Context, count func(context.Context) (map[string]int, error)) (map[string]int, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), countEvery)
	defer cancel()
	return count(ctx)
}

// noteWaiting notes the numbers that are not in last, and puts them there.
func (s *Sender) noteWaiting(last, counts map[string]int) {
	records := s.endpoints.file.Get().records
	maps.DeleteFunc(last, func(account string, _ int) bool { return records[account] == nil })
	for account := range records {
		n := counts[account]
		if former, known := last[account]; known && former == n {
			continue
		}
		last[account] = n
		s.recorder.note(Delivery{Account: account, Waiting: n, CountedAt: s.now().UTC().Truncate(time.Millisecond)})
	}
}
