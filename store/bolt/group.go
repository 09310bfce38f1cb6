package bolt

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
)

// maxBatch is how many calls may share a transaction. Chosen: what they write
// fits a few hundred pages, and the first of them does not wait for long.
const maxBatch = 256

// group lets concurrent calls share transactions, and so syncs. The first call
// begins one; who comes while another call has its turn is handed it; whoever
// finds nobody waiting commits. While the disk syncs the next ones gather. A
// single client never waits for another, and each call runs in its own
// goroutine.
//
// bbolt's own Batch was considered: it waits 10 ms for company, also when there
// is none.
type group struct {
	db      *bbolt.DB
	waiting atomic.Int32  // calls that wait for their turn
	turn    sync.Mutex    // held by the call that uses open, until it has committed or handed on
	open    *batch        // nil when no transaction is under way
	last    int           // calls of the batch before
	took    time.Duration // by the last commit
}

// batch is a transaction that several calls share.
type batch struct {
	tx     *bbolt.Tx
	calls  int
	dirty  bool          // something was written
	spoilt bool          // a call failed while it wrote: nothing of the batch may be stored
	err    error         // of the commit; valid after done
	done   chan struct{} // closed when all is stored, or nothing
}

// write calls f, which is to write to the transaction. It must be the last that
// a call does: only then can a call that fails leave a batch without a trace.
func (b *batch) write(f func(tx *bbolt.Tx) error) error {
	b.dirty = true
	err := guard(func() error { return f(b.tx) })
	if err != nil {
		b.spoilt = true
	}
	return err
}

// do calls op in a transaction and returns when that is stored. Op reads what
// former calls of the batch wrote, and is told of nothing that is not stored in
// the end. If another call spoils the batch, op is called again in one of its
// own.
func (g *group) do(op func(*batch) error) error {
	again, err := g.join(op, false)
	if again {
		_, err = g.join(op, true)
	}
	return err
}

// join calls op in the open batch, or in one of its own, and says whether it
// must be called again.
func (g *group) join(op func(*batch) error, alone bool) (again bool, err error) {
	g.waiting.Add(1)
	g.turn.Lock()
	g.waiting.Add(-1)
	if alone && g.open != nil {
		g.finish()
	}
	if g.open == nil {
		if err := g.begin(); err != nil {
			g.turn.Unlock()
			return false, err
		}
	}
	b := g.open
	spoiltHere, err := g.use(b, op, alone)
	<-b.done
	switch {
	case spoiltHere:
		return false, err
	case b.spoilt:
		return true, nil
	case b.err != nil:
		return false, b.err
	}
	return false, err
}

// use calls op and then ends the turn, also when op panics.
func (g *group) use(b *batch, op func(*batch) error, alone bool) (spoilt bool, err error) {
	defer func() {
		spoilt = b.spoilt
		if b.dirty && !spoilt && !alone && b.calls < g.last {
			g.gather()
		}
		if spoilt || alone || b.calls >= maxBatch || g.waiting.Load() == 0 {
			g.finish()
		}
		g.turn.Unlock()
	}()
	b.calls++
	return false, op(b)
}

// gather gives clients that the former commit woke the time to come back, an
// eighth of what a commit takes at most. A single client does not get here.
func (g *group) gather() {
	for began := time.Now(); g.waiting.Load() == 0 && time.Since(began) < g.took/8; {
		runtime.Gosched()
	}
}

// begin opens a batch.
func (g *group) begin() error {
	return guard(func() error {
		tx, err := g.db.Begin(true)
		if err != nil {
			return fmt.Errorf("store/bolt: begin: %w", err)
		}
		g.open = &batch{tx: tx, done: make(chan struct{})}
		return nil
	})
}

// finish commits the open batch, or rolls it back if there is nothing to store.
func (g *group) finish() {
	b := g.open
	g.open = nil
	defer close(b.done)
	g.last = b.calls
	if b.dirty && !b.spoilt {
		began := time.Now()
		b.err = guard(b.tx.Commit)
		g.took = time.Since(began)
		if b.err == nil {
			return
		}
		b.err = fmt.Errorf("store/bolt: commit: %w", b.err)
	}
	_ = guard(b.tx.Rollback) // after a commit that failed it is over already
}

// guard calls f and turns a panic into ErrCorrupt. A bbolt file has no
// checksums: a damaged page shows as a panic of bbolt, or as a fault where the
// file ends before its memory map does.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrCorrupt, p)
		}
	}()
	return f()
}
