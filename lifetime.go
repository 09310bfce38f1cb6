package voicescreen

import (
	"context"
	"sync"
	"time"
)

// closeGrace is how long Close goes on after its ctx, to release leases and to
// close the store. Chosen: a few transactions on a slow disk.
const closeGrace = 2 * time.Second

// lifetime is the time between the start of an Engine and the end of Close. It
// counts calls and background work. It is safe for concurrent use.
type lifetime struct {
	ctx        context.Context
	cancel     context.CancelFunc // ends calls and background work that outlast Close
	stop       chan struct{}      // closed when no more work is taken
	background sync.WaitGroup

	mu    sync.Mutex // protects done, and calls against an enter after it
	done  bool       // no call may begin
	calls sync.WaitGroup

	ended chan struct{} // closed at the end of Close
	err   error         // what Close returned; valid once ended is closed
}

func newLifetime() *lifetime {
	ctx, cancel := context.WithCancel(context.Background())
	return &lifetime{ctx: ctx, cancel: cancel, stop: make(chan struct{}), ended: make(chan struct{})}
}

// enter begins a call. Its context ends with ctx, and when Close gives up
// waiting for the call. Leave must be called when the call is over. The error is
// ctx's, or ErrClosed.
func (l *lifetime) enter(ctx context.Context) (_ context.Context, leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done {
		return nil, nil, ErrClosed
	}
	l.calls.Add(1)
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(l.ctx, cancel)
	return ctx, func() { stop(); cancel(); l.calls.Done() }, nil
}

// run starts background work: run returns soon after stop is closed, or after
// ctx, which ends later, is done.
func (l *lifetime) run(work func(ctx context.Context, stop <-chan struct{})) {
	l.background.Go(func() { work(l.ctx, l.stop) })
}

// end lets no further call begin, and calls shutdown. Only the first call does;
// others wait for it and return its error.
func (l *lifetime) end(shutdown func() error) error {
	l.mu.Lock()
	first := !l.done
	l.done = true
	l.mu.Unlock()
	if first {
		close(l.stop)
		l.err = shutdown()
		l.cancel()
		close(l.ended)
	}
	<-l.ended
	return l.err
}

// idle returns a channel that is closed when calls and background work are over.
// It is for use within end.
func (l *lifetime) idle() <-chan struct{} {
	idle := make(chan struct{})
	go func() {
		l.background.Wait()
		l.calls.Wait()
		close(idle)
	}()
	return idle
}

// closed says whether a channel is closed that only is.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// afterDone returns a channel that is closed grace after ctx is done.
func afterDone(ctx context.Context, grace time.Duration) <-chan struct{} {
	late := make(chan struct{})
	context.AfterFunc(ctx, func() { time.AfterFunc(grace, func() { close(late) }) })
	return late
}
