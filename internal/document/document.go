// Package document holds values that the replicas of a service share: each is
// one document of their store. [durable.File] is the same for one machine.
package document

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/voicescreen/voicescreen/internal/durable"
	"github.com/voicescreen/voicescreen/store"
)

const (
	// lookEvery is how often Get reads the document. Chosen: a change is seen
	// well within a second, and four reads a second are nothing to a store.
	lookEvery = 250 * time.Millisecond

	// readTime is how long Get waits for the store. Chosen: a request waits for
	// it, and the former value is there.
	readTime = time.Second

	// changeTime is how long Change tries. Chosen: as long as a change of a file
	// waits for another process.
	changeTime = 10 * time.Second
)

// Document is a value that is kept as a document of a store. Any number of
// processes may read and change one document: each sees the changes of the
// others within a second, and changes at the same time do not lose each other. A
// value is never changed, but replaced by another. Document is safe for
// concurrent use. It implements [durable.Value].
type Document[T any] struct {
	st     store.Store
	name   string
	empty  T // the value of a document that was never put
	format durable.Format[T]

	value  atomic.Pointer[T]
	looked atomic.Int64 // time of the last read, Unix nanoseconds

	mu       sync.Mutex // protects what follows, and the order of reads
	revision uint64     // of value
	err      error      // of the last read
}

// Open reads the document of the name. The value of a document that was never
// put is empty. The error names a document that format refuses.
func Open[T any](ctx context.Context, st store.Store, name string, empty T, format durable.Format[T]) (*Document[T], error) {
	d := &Document[T]{st: st, name: name, empty: empty, format: format}
	d.value.Store(&empty)
	if _, _, err := d.read(ctx, true); err != nil {
		return nil, err
	}
	return d, nil
}

// Get returns the value. It reads the document if a moment has passed since the
// last time. Where it cannot be read, the former value stays; Err returns the
// error. It does not wait for a read or a change that is under way.
func (d *Document[T]) Get() T {
	now, last := time.Now().UnixNano(), d.looked.Load()
	age := time.Duration(now - last) // less than 0 after the clock was set back
	if (age < 0 || age >= lookEvery) && d.looked.CompareAndSwap(last, now) {
		ctx, cancel := context.WithTimeout(context.Background(), readTime)
		defer cancel()
		_, _, _ = d.read(ctx, false)
	}
	return *d.value.Load()
}

// Err returns why the document could not be read the last time, nil if it could.
func (d *Document[T]) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// Read returns the value as the store has it now.
func (d *Document[T]) Read() (T, error) {
	ctx, cancel := context.WithTimeout(context.Background(), changeTime)
	defer cancel()
	value, _, err := d.read(ctx, true)
	return value, err
}

// read reads the document, and returns its value and revision. Unless wait is
// set, it does nothing while another read is under way.
func (d *Document[T]) read(ctx context.Context, wait bool) (value T, revision uint64, err error) {
	if wait {
		d.mu.Lock()
	} else if !d.mu.TryLock() {
		return *d.value.Load(), 0, nil
	}
	defer func() {
		d.err = err
		d.mu.Unlock()
	}()
	d.looked.Store(time.Now().UnixNano())
	data, revision, err := d.st.Document(ctx, d.name)
	switch {
	case err != nil:
		return value, 0, fmt.Errorf("document %s: %w", d.name, err)
	case revision == d.revision:
		return *d.value.Load(), revision, nil
	case revision == 0:
		value = d.empty
	case int64(len(data)) > d.format.MaxBytes:
		return value, 0, fmt.Errorf("document %s is larger than %d bytes", d.name, d.format.MaxBytes)
	default:
		if value, err = d.format.Parse(data); err != nil {
			return value, 0, fmt.Errorf("document %s: %w", d.name, err)
		}
	}
	d.revision = revision
	d.value.Store(&value)
	return value, revision, nil
}

// Change replaces the value by what change makes of the current one, durably,
// also while others change it: change is called again with their value. If
// change returns an error, which Change then returns as it is, nothing changes.
// Change must return another value and leave the one it is given as it was.
func (d *Document[T]) Change(change func(T) (T, error)) error {
	ctx, cancel := context.WithTimeout(context.Background(), changeTime)
	defer cancel()
	for {
		before, revision, err := d.read(ctx, true)
		if err != nil {
			return err
		}
		after, err := change(before)
		if err != nil {
			return err
		}
		data, err := d.format.Text(after)
		if err != nil {
			return err
		}
		next, err := d.st.PutDocument(ctx, d.name, revision, data)
		if errors.Is(err, store.ErrConflict) {
			continue
		}
		if err != nil {
			return fmt.Errorf("document %s: %w", d.name, err)
		}
		d.mu.Lock()
		if d.revision == revision { // nobody read a later one meanwhile
			d.revision = next
			d.value.Store(&after)
		}
		d.mu.Unlock()
		return nil
	}
}
