// Package document keeps values that the replicas of a service share, each in one
// document of their store. [durable.File] keeps a value in a file, for one machine.
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
	// pollInterval is how often Get reads the document. Chosen: a change is visible
	// well within a second, at four reads a second.
	pollInterval = 250 * time.Millisecond

	// readTimeout is how long Get waits for the store. Chosen: requests wait for Get,
	// and it can return the former value.
	readTimeout = time.Second

	// changeTimeout is how long Read and Change try. Chosen: as long as a change of a
	// durable.File waits for another process.
	changeTimeout = 10 * time.Second
)

// Document is a value that is kept in a document of a store. Any number of processes
// can read and change one document: each sees the changes of the others within a
// second, and no concurrent change is lost. Values are immutable: a change replaces the
// value. Document is safe for concurrent use. It implements [durable.Value].
type Document[T any] struct {
	st     store.Store
	name   string
	empty  T // the value of a document that was never put
	format durable.Format[T]

	value  atomic.Pointer[T]
	polled atomic.Int64 // time of the last read, Unix nanoseconds

	mu       sync.Mutex // protects the fields below, and orders reads
	revision uint64     // of value
	err      error      // of the last read
}

// Open reads the document with that name. The value of a document that was never put is
// empty. The error names the document if format refuses it.
func Open[T any](ctx context.Context, st store.Store, name string, empty T, format durable.Format[T]) (*Document[T], error) {
	d := &Document[T]{st: st, name: name, empty: empty, format: format}
	d.value.Store(&empty)
	if _, _, err := d.read(ctx, true); err != nil {
		return nil, err
	}
	return d, nil
}

// Get returns the value. It reads the document at most four times a second. If the
// document cannot be read, Get returns the former value, and Err returns the error. Get
// does not wait for a read or change in progress.
func (d *Document[T]) Get() T {
	now, last := time.Now().UnixNano(), d.polled.Load()
	age := time.Duration(now - last) // less than 0 after the clock was set back
	if (age < 0 || age >= pollInterval) && d.polled.CompareAndSwap(last, now) {
		ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
		defer cancel()
		_, _, _ = d.read(ctx, false)
	}
	return *d.value.Load()
}

// Err returns the error of the last read of the document, nil if it succeeded.
func (d *Document[T]) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// Read returns the value that is in the store now.
func (d *Document[T]) Read() (T, error) {
	ctx, cancel := context.WithTimeout(context.Background(), changeTimeout)
	defer cancel()
	value, _, err := d.read(ctx, true)
	return value, err
}

// read reads the document and returns its value and revision. If another read is in
// progress and wait is false, it returns the former value at once.
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
	d.polled.Store(time.Now().UnixNano())
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

// Change replaces the value, durably, by the result of change, called with the current
// value. If another process changes it meanwhile, change is called again with the new
// value. If change returns an error, nothing changes and Change returns that error as it
// is. The function must not modify the value that it receives.
func (d *Document[T]) Change(change func(T) (T, error)) error {
	ctx, cancel := context.WithTimeout(context.Background(), changeTimeout)
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
		if d.revision == revision { // no later revision was read meanwhile
			d.revision = next
			d.value.Store(&after)
		}
		d.mu.Unlock()
		return nil
	}
}
