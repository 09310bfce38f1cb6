package bolt

import (
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"go.etcd.io/bbolt"
)

// maxBatch is how many calls may share a transaction. Chosen: what they write
// fits a few hundred pages, and the first of them does not wait for long.
const maxBatch = 256

// group lets concurrent calls share transactions, and so syncs. The first call
// of a batch leads it: when the one before is stored it makes the calls that
// have come, also those that come meanwhile, and commits. While the disk syncs
// the next ones gather. A single client never waits for another.
//
// That each call is made in its own goroutine, which hands the transaction on to
// the next, was tried: at 64 clients the handing on took as long as the calls.
// bbolt's own Batch was considered: it waits 10 ms for company, also when there
// is none.
type group struct {
	db    *bbolt.DB
	file  metaFile      // of db
	turn  sync.Mutex    // held by the call that leads until its batch is stored
	last  int           // calls of the batch before
	took  time.Duration // by the last commit
	doubt *batch        // that may be stored or not; nil if that is known

	joining sync.Mutex
	open    *batch // which calls join; nil if the next one leads another
}

// batch is a transaction that several calls share.
type batch struct {
	calls   []*call // of an open one guarded by group.joining
	tx      *bbolt.Tx
	cursor  *bbolt.Cursor // of session; nil until that is called
	dirty   bool          // something was written
	spoilt  bool          // a call failed while it wrote: nothing of the batch may be stored
	spoiler *call         // which, nil if it ended the goroutine
	done    chan struct{} // closed when all is stored, or nothing

	// Told says that the calls were told of an error though the batch may be
	// stored, and later what is to be done when it is. Otherwise they do it
	// themselves.
	told  bool
	later []func()
}

// call is one call of a batch. What came of it is valid when that is done.
type call struct {
	op       func(*batch) error
	err      error
	panicked any  // what op panicked with
	again    bool // it must be made again, by itself: another one spoilt the batch
}

// run calls op for a batch.
func (c *call) run(b *batch) {
	returned := false
	defer func() {
		if returned {
			return
		}
		if c.panicked = recover(); c.panicked == nil { // op ends the goroutine, which need not be its own
			b.spoilt = true
		}
	}()
	c.err = c.op(b)
	returned = true
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

// session returns the first key of a session that is not before primary, and the
// record under it.
func (b *batch) session(primary []byte) (key, record []byte) {
	if b.cursor == nil {
		b.cursor = b.tx.Bucket(bucketSessions).Cursor()
	}
	return b.cursor.Seek(primary)
}

// do calls op in a transaction and returns when that is stored. Op reads what
// former calls of the batch wrote, and is told of nothing that is not stored in
// the end. If another call spoils the batch, op is called again in one of its
// own. Op may be called in another goroutine, which it must not end; if it
// panics, do does.
func (g *group) do(op func(*batch) error) error {
	c := &call{op: op}
	if b, leads := g.join(c); leads {
		g.lead(b)
	} else {
		<-b.done
	}
	if c.again {
		c = &call{op: op}
		g.lead(&batch{calls: []*call{c}, done: make(chan struct{})})
	}
	if c.panicked != nil {
		panic(c.panicked)
	}
	return c.err
}

// join adds a call to the open batch, and says whether it is the first of it.
func (g *group) join(c *call) (b *batch, leads bool) {
	g.joining.Lock()
	defer g.joining.Unlock()
	if b = g.open; b == nil {
		b, leads = &batch{done: make(chan struct{})}, true
		g.open = b
	}
	if b.calls = append(b.calls, c); len(b.calls) == maxBatch {
		g.open = nil
	}
	return b, leads
}

// come returns the calls of a batch behind the first n. If there are none the
// batch is closed.
func (g *group) come(b *batch, n int) []*call {
	g.joining.Lock()
	defer g.joining.Unlock()
	if len(b.calls) == n {
		g.shut(b)
	}
	return b.calls[n:]
}

// shut lets no more calls join a batch.
func (g *group) shut(b *batch) {
	if g.open == b {
		g.open = nil
	}
}

// lead makes the calls of a batch and stores what they wrote.
func (g *group) lead(b *batch) {
	g.turn.Lock()
	defer g.turn.Unlock()
	defer close(b.done)
	defer g.finish(b) // also when a call ends the goroutine
	if err := g.begin(b); err != nil {
		g.tell(b, err)
		return
	}
	for n := 0; !b.spoilt; {
		calls := g.come(b, n)
		if len(calls) == 0 {
			return
		}
		for _, c := range calls {
			if c.run(b); b.spoilt {
				b.spoiler = c
				break
			}
		}
		if n += len(calls); b.dirty && n < g.last {
			g.gather(b, n)
		}
	}
}

// gather gives clients that the former commit woke the time to come back, an
// eighth of what a commit takes at most. A single client does not get here, and
// nobody is waited for who cannot join.
func (g *group) gather(b *batch, n int) {
	for began := time.Now(); time.Since(began) < g.took/8; {
		g.joining.Lock()
		over := g.open != b || len(b.calls) > n
		g.joining.Unlock()
		if over {
			return
		}
		yield()
	}
}

// begin begins the transaction of a batch.
func (g *group) begin(b *batch) error {
	if g.doubt != nil {
		if err := g.mend(); err != nil {
			return fmt.Errorf("store/bolt: what was stored last is not sure: %w", err)
		}
	}
	return guard(func() (err error) {
		if b.tx, err = g.db.Begin(true); err != nil {
			return fmt.Errorf("store/bolt: begin: %w", err)
		}
		return nil
	})
}

// tell gives all calls of a batch the same error, and lets no more join it.
func (g *group) tell(b *batch, err error) {
	g.joining.Lock()
	defer g.joining.Unlock()
	g.shut(b)
	for _, c := range b.calls {
		c.err = err
	}
}

// repeat lets all calls of a batch be made again but the one that spoilt it, and
// lets no more join.
func (g *group) repeat(b *batch) {
	g.joining.Lock()
	defer g.joining.Unlock()
	g.shut(b)
	for _, c := range b.calls {
		c.again = c != b.spoiler
	}
}

// finish commits a batch, or rolls it back if there is nothing to store.
func (g *group) finish(b *batch) {
	switch {
	case b.tx == nil: // it did not begin
		return
	case b.spoilt:
		g.repeat(b)
	case b.dirty:
		err := g.commit(b)
		if err == nil {
			return
		}
		g.tell(b, err)
	}
	_ = guard(b.tx.Rollback) // after a commit that failed it is over already
}

// commit stores what the calls of a batch wrote.
func (g *group) commit(b *batch) error {
	g.last = len(b.calls)
	began, id := time.Now(), b.tx.ID()
	err := guard(b.tx.Commit)
	g.took = time.Since(began)
	if err == nil {
		return nil
	}
	if g.visible(id) {
		g.doubt = b
		if g.mend() == nil {
			return nil
		}
		b.told = true
	}
	return fmt.Errorf("store/bolt: commit: %w", err)
}

// visible says whether what a transaction wrote is seen by those that come. A
// commit ends with the write and the sync of one of two pages, by which it
// counts: when they fail it may be.
func (g *group) visible(id int) (visible bool) {
	_ = guard(func() error {
		return g.db.View(func(tx *bbolt.Tx) error { visible = tx.ID() == id; return nil })
	})
	return visible
}

// mend makes durable what is seen and may not be on the disk: it writes the two
// pages again, as they are, and syncs them. A sync alone would not do: systems
// take what a sync could not write for written. Until that succeeds nothing
// more may be stored. The next transaction would write over pages that only
// the one in doubt does not need, and a power failure then would leave a disk
// that needs them.
func (g *group) mend() error {
	if err := g.rewrite(); err != nil {
		return err
	}
	b := g.doubt
	g.doubt = nil
	if b.told {
		for _, f := range b.later {
			f()
		}
	}
	return nil
}

// rewrite writes and syncs the two pages as they are. Open does it too: what a
// killed process wrote is seen, and may not be on the disk.
func (g *group) rewrite() error {
	pages := make([]byte, 2*g.db.Info().PageSize)
	_, err := g.file.ReadAt(pages, 0)
	if err == nil {
		_, err = g.file.WriteAt(pages, 0)
	}
	if err == nil {
		err = g.file.Sync()
	}
	return err
}

// metaFile is the file of a database. Tests make its calls fail.
type metaFile interface {
	ReadAt(p []byte, off int64) (int, error)
	WriteAt(p []byte, off int64) (int, error)
	Sync() error
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
