package bolt

import (
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/store"
)

// maxBatch is how many calls may share a transaction. Chosen: what they write
// fits a few hundred pages, and the first of them does not wait for long.
const maxBatch = 256

// group is a group commit: concurrent calls share transactions, and so syncs.
// The first call of a batch is its leader. When the batch before is committed, the
// leader runs the calls that have joined, also those that join meanwhile, and
// commits. While the disk syncs, the next batch gathers. A single client never
// waits for another.
//
// Measured and rejected: to run each call in its own goroutine and pass the
// transaction from one to the next, which took as long as the calls themselves at
// 64 clients. Bbolt's own Batch waits 10 ms for other calls, even if there are none.
type group struct {
	db       *bbolt.DB
	file     metaFile      // of db
	commitMu sync.Mutex    // held by a leader until its batch is committed
	last     int           // calls of the batch before
	took     time.Duration // by the last commit
	unsure   *batch        // the batch whose commit failed in its last step; nil if there is none

	joining sync.Mutex
	open    *batch // which calls join; nil if the next call leads a new one
}

// batch is a transaction that several calls share.
type batch struct {
	calls    []*call // of an open batch guarded by group.joining
	tx       *bbolt.Tx
	cursor   *bbolt.Cursor // of session; nil until the first call of it
	dirty    bool          // something was written
	failed   bool          // a call failed while it wrote: the batch is rolled back
	failedBy *call         // the call that failed; nil if it ended the goroutine
	done     chan struct{} // closed after the commit or the rollback

	// AfterCommit are the functions to call once the batch is durable. If reported is
	// set, the calls returned an error although the batch may be durable, and repair
	// calls the functions.
	reported    bool
	afterCommit []func()
}

// call is one call of a batch. Its results are valid when the batch is done.
type call struct {
	op       func(*batch) error
	err      error
	panicked any  // what op panicked with
	retry    bool // it must run again in a batch of its own: another call failed
}

// run calls op for a batch.
func (c *call) run(b *batch) {
	returned := false
	defer func() {
		if returned {
			return
		}
		if c.panicked = recover(); c.panicked == nil { // op called runtime.Goexit, perhaps in the goroutine of another call
			b.failed = true
		}
	}()
	c.err = c.op(b)
	returned = true
}

// write calls f, which writes to the transaction. It must be the last action of a
// call: a call that fails before it leaves the batch as it was.
func (b *batch) write(f func(tx *bbolt.Tx) error) error {
	b.dirty = true
	err := guard(func() error { return f(b.tx) })
	if err != nil {
		b.failed = true
	}
	return err
}

// session returns the first key of bucketSessions that is not smaller than
// primary, and the record under it.
func (b *batch) session(primary []byte) (key, record []byte) {
	if b.cursor == nil {
		b.cursor = b.tx.Bucket(bucketSessions).Cursor()
	}
	return b.cursor.Seek(primary)
}

// do calls op in a transaction and returns when that is durable. Op reads what
// earlier calls of the batch wrote. If another call fails while it writes, op is
// called again in a batch of its own. Op may be called in another goroutine, which
// it must not end; if it panics, do does.
func (g *group) do(op func(*batch) error) error {
	c := &call{op: op}
	if b, leads := g.join(c); leads {
		g.lead(b)
	} else {
		<-b.done
	}
	if c.retry {
		c = &call{op: op}
		g.lead(&batch{calls: []*call{c}, done: make(chan struct{})})
	}
	if c.panicked != nil {
		panic(c.panicked)
	}
	return c.err
}

// join adds a call to the open batch. Leads reports whether it is the first call.
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

// joined returns the calls of a batch after the first n. If there are none it closes
// the batch.
func (g *group) joined(b *batch, n int) []*call {
	g.joining.Lock()
	defer g.joining.Unlock()
	if len(b.calls) == n {
		g.closeBatch(b)
	}
	return b.calls[n:]
}

// closeBatch ends the joining of a batch.
func (g *group) closeBatch(b *batch) {
	if g.open == b {
		g.open = nil
	}
}

// lead runs the calls of a batch and commits it.
func (g *group) lead(b *batch) {
	g.commitMu.Lock()
	defer g.commitMu.Unlock()
	defer close(b.done)
	defer g.finish(b) // also when a call ends the goroutine
	if err := g.begin(b); err != nil {
		g.fail(b, err)
		return
	}
	for n := 0; !b.failed; {
		calls := g.joined(b, n)
		if len(calls) == 0 {
			return
		}
		for _, c := range calls {
			if c.run(b); b.failed {
				b.failedBy = c
				break
			}
		}
		if n += len(calls); b.dirty && n < g.last {
			g.gather(b, n)
		}
	}
}

// gather waits for clients whose calls the last commit completed, for at most an eighth
// of the time of a commit. It is not called for a single client.
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
	if g.unsure != nil {
		if err := g.repair(); err != nil {
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

// fail ends all calls of a batch with one error, and closes the batch.
func (g *group) fail(b *batch, err error) {
	g.joining.Lock()
	defer g.joining.Unlock()
	g.closeBatch(b)
	for _, c := range b.calls {
		c.err = err
	}
}

// retryOthers marks the calls of a batch for a retry, except the one that failed,
// and closes the batch.
func (g *group) retryOthers(b *batch) {
	g.joining.Lock()
	defer g.joining.Unlock()
	g.closeBatch(b)
	for _, c := range b.calls {
		c.retry = c != b.failedBy
	}
}

// finish commits a batch, or rolls it back if there is nothing to store.
func (g *group) finish(b *batch) {
	switch {
	case b.tx == nil: // it did not begin
		return
	case b.failed:
		g.retryOthers(b)
	case b.dirty:
		err := g.commit(b)
		if err == nil {
			return
		}
		g.fail(b, err)
	}
	_ = guard(b.tx.Rollback) // without effect after a failed commit
}

// commit commits a batch.
func (g *group) commit(b *batch) error {
	g.last = len(b.calls)
	began, id := time.Now(), b.tx.ID()
	err := guard(b.tx.Commit)
	g.took = time.Since(began)
	if err == nil {
		return nil
	}
	if g.visible(id) {
		g.unsure = b
		if g.repair() == nil {
			return nil
		}
		b.reported = true
	}
	return fmt.Errorf("store/bolt: commit: %w", withErrno(err))
}

// withErrno wraps store.ErrFull in an error of a full disk: where the file cannot
// grow, bbolt gives the text of the error alone.
func withErrno(err error) error {
	if store.IsFull(err) {
		return err
	}
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		if strings.HasSuffix(err.Error(), errno.Error()) {
			return fmt.Errorf("%w: %w", store.ErrFull, err)
		}
	}
	return err
}

// visible reports whether later transactions see what a transaction wrote. A commit
// ends with the write and the sync of one of the two meta pages: if these fail, it
// may be visible and not durable.
func (g *group) visible(id int) (visible bool) {
	_ = guard(func() error {
		return g.db.View(func(tx *bbolt.Tx) error { visible = tx.ID() == id; return nil })
	})
	return visible
}

// repair makes a visible transaction durable: it writes the two meta pages again,
// as they are, and syncs them. A second sync alone is not enough: systems mark
// pages that a sync could not write as clean. Until repair succeeds no transaction
// may begin. It would overwrite pages that the disk still needs if the power
// failed, since the disk has the meta page from before the unsure transaction.
func (g *group) repair() error {
	if err := g.rewrite(); err != nil {
		return err
	}
	b := g.unsure
	g.unsure = nil
	if b.reported {
		for _, f := range b.afterCommit {
			f()
		}
	}
	return nil
}

// rewrite writes and syncs the two meta pages as they are. Open calls it too: what
// a killed process wrote is visible, and may not be durable.
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

// guard calls f and returns a panic of it as ErrCorrupt. A bbolt file has no
// checksums: a damaged page makes bbolt panic, or causes a memory fault where the
// file ends before its memory map.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrCorrupt, p)
		}
	}()
	return f()
}
