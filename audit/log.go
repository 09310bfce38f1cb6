package audit

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/voicescreen/voicescreen/internal/durable"
)

var (
	// ErrClosed is the error after Close.
	ErrClosed = errors.New("audit: the log is closed")

	// ErrLocked is the error while another process has the log open.
	ErrLocked = errors.New("audit: another process has the log open")
)

// Options configures a log. Nil and zero fields mean the default.
type Options struct {
	// Key is the key of the HMAC-SHA-256. Default: no key, hashes are SHA-256.
	Key []byte

	// After is the file that a new log continues. It is ignored for an existing
	// log. Default: the log continues no file.
	After string

	// Replica names the process in each record, where several write a log each.
	// Default: none.
	Replica string

	// Now is the clock. Default: time.Now.
	Now func() time.Time
}

func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// maxBatch is the maximum number of records of one write. Chosen: half a megabyte,
// which a disk writes in a few milliseconds.
const maxBatch = 2048

// Log is an open log. It is safe for concurrent use. One process at a time may
// have a log open.
type Log struct {
	opts   Options
	name   string
	seal   sealer // used by the writer only, as the fields up to mu
	file   *os.File
	head   *os.File
	size   int64 // of file
	buf    []byte
	unlock func()
	ended  chan struct{} // closed when the writer has ended

	mu     sync.Mutex // protects what follows
	last   Head       // the last durable record
	wait   *batch     // the next one to be written
	wake   chan struct{}
	err    error // of a failed write; no records are accepted after it
	closed bool
}

// batch is records that are written together.
type batch struct {
	records []Record
	done    chan struct{} // closed when err is known
	err     error
}

func newBatch() *batch { return &batch{done: make(chan struct{})} }

// Open opens a log, and creates a missing one, readable by its owner only. The error
// wraps ErrLocked if the log, or that of Options.After, is open already, and ErrBroken
// if the record that the head names is missing or a later record does not fit its chain.
// Open does not read earlier records; Verify does.
func Open(name string, opts *Options) (_ *Log, err error) {
	if err := (&Event{Action: "open", Outcome: opts.withDefaults().Replica}).check(); err != nil {
		return nil, fmt.Errorf("%w: the name of the replica", err)
	}
	l := &Log{opts: opts.withDefaults(), name: name, wait: newBatch(), wake: make(chan struct{}, 1), ended: make(chan struct{})}
	l.seal = newSealer(l.opts.Key)
	l.unlock, err = durable.Lock(name+lockSuffix, 0)
	if errors.Is(err, durable.ErrHeld) {
		return nil, fmt.Errorf("%w: %s", ErrLocked, name)
	}
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	defer func() {
		if err != nil {
			l.closeFiles()
		}
	}()
	begin, err := l.openFiles()
	if err != nil {
		return nil, err
	}
	begin.Time = l.opts.Now()
	if err := l.write([]Record{*begin}); err != nil {
		return nil, err
	}
	if err := errors.Join(l.head.Sync(), durable.SyncDir(filepath.Dir(name))); err != nil { // later heads are overwritten in place and need no sync
		return nil, fmt.Errorf("audit: %w", err)
	}
	go l.run()
	return l, nil
}

// openFiles opens the log and its head, and returns the record to append first.
func (l *Log) openFiles() (begin *Record, err error) {
	if l.file, err = os.OpenFile(l.name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	if l.size, err = l.file.Seek(0, io.SeekEnd); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	head, start, err := readHead(l.name, l.seal)
	if err != nil {
		return nil, err
	}
	if l.head, err = os.OpenFile(l.name+headSuffix, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	if l.size == 0 && head == (Head{}) {
		return l.begin()
	}
	return l.resume(head, start)
}

func (l *Log) algorithm() string {
	if len(l.opts.Key) == 0 {
		return "sha256"
	}
	return "hmac-sha256"
}

// begin returns the first record of a file.
func (l *Log) begin() (*Record, error) {
	if l.opts.After != "" {
		// A process that still writes to it would continue the chain too. Where there is no
		// lock nobody does.
		if _, err := os.Stat(l.opts.After + lockSuffix); err == nil {
			unlock, err := durable.Lock(l.opts.After+lockSuffix, 0)
			if errors.Is(err, durable.ErrHeld) {
				return nil, fmt.Errorf("%w: %s", ErrLocked, l.opts.After)
			}
			if err == nil {
				defer unlock()
			}
		}
		s, err := Verify([]string{l.opts.After}, &VerifyOptions{Key: l.opts.Key})
		if err != nil {
			return nil, err
		}
		l.last = s.Last
	}
	return &Record{Event: Event{Action: ActionBegin}, Note: &Note{Algorithm: l.algorithm()}}, nil
}

// resume reads the file from start, where the record that head names begins, to its
// end, and returns the ActionResume record. It ends a last line that has no end.
func (l *Log) resume(head Head, start int64) (*Record, error) {
	s := newScanner(l.name, io.NewSectionReader(l.file, start, l.size-start), l.seal)
	s.from = start == 0
	named := head == (Head{})
	for {
		_, err := s.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, behind(head, err)
		}
		named = named || s.last == head
		if !named {
			break // head names the first record at start, or is wrong
		}
	}
	if !named {
		return nil, &Fault{File: l.name, Reason: fmt.Sprintf("record %d, which was its last, is not there", head.Seq)}
	}
	if s.last == (Head{}) { // not a log, or a crash before the first record was whole
		return nil, &Fault{File: l.name, Line: 1, Reason: "it holds no record; if it is new, remove it"}
	}
	if err := s.mayBeTorn(head); err != nil {
		return nil, behind(head, err)
	}
	if s.open {
		if _, err := l.file.Write([]byte("\n")); err != nil {
			return nil, fmt.Errorf("audit: %w", err)
		}
		l.size++
		if s.tornBytes > 0 {
			s.torn.Write([]byte("\n"))
			s.tornBytes++
		}
	}
	l.last = s.last
	r := &Record{Event: Event{Action: ActionResume}, Note: &Note{Algorithm: l.algorithm(), Headless: head == (Head{})}}
	if s.tornBytes > 0 {
		r.Note.TornBytes, r.Note.TornSHA256 = s.tornBytes, hex.EncodeToString(s.torn.Sum(nil))
	}
	return r, nil
}

// behind adds to a fault that it is after the record that head names. The line,
// which is counted from there, is removed.
func behind(head Head, err error) error {
	if fault := (*Fault)(nil); errors.As(err, &fault) && head != (Head{}) {
		return &Fault{File: fault.File, Reason: fmt.Sprintf("behind record %d, which was its last: %s", head.Seq, fault.Reason)}
	}
	return err
}

// mayBeTorn returns a fault if a crash cannot have left the bytes after the last
// record. A crash can lose any sectors of the last write, which has at most
// maxBatch records. In a log without its head any record may have been durable, so
// that a record after damaged ones is always a fault.
func (s *scanner) mayBeTorn(head Head) error {
	for _, r := range s.tornSeqs {
		if head == (Head{}) || r.Seq <= s.last.Seq+1 || r.Seq > s.last.Seq+maxBatch {
			return s.fault(s.tornLine, s.tornFault)
		}
	}
	return nil
}

// Append records an event and returns when the record is durable. It returns
// ErrEvent for an invalid event. After any other error the log accepts no records
// until it is opened again.
func (l *Log) Append(e Event) error {
	if err := e.check(); err != nil {
		return err
	}
	l.mu.Lock()
	for l.err == nil && !l.closed && len(l.wait.records) >= maxBatch {
		full := l.wait
		l.mu.Unlock()
		<-full.done
		l.mu.Lock()
	}
	if err := l.errLocked(); err != nil {
		l.mu.Unlock()
		return err
	}
	b := l.wait
	b.records = append(b.records, Record{Time: l.opts.Now(), Event: e})
	if len(b.records) == 1 {
		l.wake <- struct{}{} // does not block: the writer received the one before
	}
	l.mu.Unlock()
	<-b.done
	return b.err
}

func (l *Log) errLocked() error {
	if l.closed {
		return ErrClosed
	}
	return l.err
}

// Err returns the error of a log that accepts no records, and nil otherwise.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.errLocked()
}

// Head returns the last durable record.
func (l *Log) Head() Head {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// run writes batches until Close.
func (l *Log) run() {
	defer close(l.ended)
	for range l.wake {
		l.mu.Lock()
		b := l.wait
		l.wait = newBatch()
		err := l.err
		l.mu.Unlock()
		if err == nil {
			err = l.write(b.records)
		}
		if err != nil {
			l.mu.Lock()
			l.err = err
			l.mu.Unlock()
		}
		b.err = err
		close(b.done)
	}
}

// write makes records durable, and then the head.
func (l *Log) write(records []Record) error {
	last, start, buf := l.Head(), l.size, l.buf[:0]
	for i := range records {
		r := &records[i]
		r.Replica = l.opts.Replica
		r.Seq, r.Prev, r.Time = last.Seq+1, last.Hash, r.Time.UTC().Truncate(time.Microsecond)
		if last.Seq == 0 {
			r.Prev = noHash
		}
		start = l.size + int64(len(buf))
		var err error
		if buf, last.Hash, err = l.seal.seal(buf, r); err != nil {
			return fmt.Errorf("audit: encode: %w", err)
		}
		buf = append(buf, '\n')
		last.Seq = r.Seq
	}
	l.buf = buf
	if _, err := l.file.Write(buf); err != nil {
		return fmt.Errorf("audit: write: %w", err)
	}
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("audit: write: %w", err)
	}
	l.size += int64(len(buf))
	if err := writeHead(l.head, l.seal, last, start); err != nil {
		return err
	}
	l.mu.Lock()
	l.last = last
	l.mu.Unlock()
	return nil
}

// Close writes the waiting records and closes the log. It returns the last record,
// and the error of a log that accepted no records.
func (l *Log) Close() (Head, error) {
	l.mu.Lock()
	if l.closed {
		defer l.mu.Unlock()
		return l.last, ErrClosed
	}
	l.closed = true
	close(l.wake)
	l.mu.Unlock()
	<-l.ended
	return l.last, errors.Join(l.err, l.closeFiles())
}

func (l *Log) closeFiles() error {
	var errs []error
	for _, f := range []*os.File{l.file, l.head} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	l.unlock()
	return errors.Join(errs...)
}
