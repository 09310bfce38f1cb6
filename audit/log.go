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
	// ErrClosed says that the log was closed.
	ErrClosed = errors.New("audit: the log is closed")

	// ErrLocked says that another process has the log open.
	ErrLocked = errors.New("audit: another process has the log open")
)

// Options configures a log. Nil and zero fields mean the default.
type Options struct {
	// Key is the key of the HMAC. Default: none, the hashes are SHA-256.
	Key []byte

	// After is the file that a new log goes on from. It is not used if the log
	// is there already. Default: none.
	After string

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

// maxBatch bounds the records of one write. Chosen: half a megabyte of records
// of the usual length, which a disk writes in a few milliseconds.
const maxBatch = 2048

// Log is an open log. It is safe for concurrent use. One process at a time may
// have a log open.
type Log struct {
	opts   Options
	name   string
	seal   sealer // of the writer, as what follows
	file   *os.File
	head   *os.File
	size   int64 // of file
	buf    []byte
	unlock func()
	ended  chan struct{} // closed when the writer has ended

	mu     sync.Mutex // protects what follows
	last   Head       // that is durable
	wait   *batch     // what the writer takes next
	wake   chan struct{}
	err    error // why nothing is taken any more
	closed bool
}

// batch is records that are written together.
type batch struct {
	records []Record
	done    chan struct{} // closed when err is known
	err     error
}

func newBatch() *batch { return &batch{done: make(chan struct{})} }

// Open opens the log of a name, or makes it, readable by its owner alone. It
// returns an error that is ErrLocked if it is open already, and one that is
// ErrBroken if a record that the head names is missing or a record behind it
// does not fit; what is before that only Verify looks at.
func Open(name string, opts *Options) (_ *Log, err error) {
	l := &Log{opts: opts.withDefaults(), name: name, wait: newBatch(), wake: make(chan struct{}, 1), ended: make(chan struct{})}
	l.seal = newSealer(l.opts.Key)
	l.unlock, err = durable.Lock(name+".lock", 0)
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
	if err := errors.Join(l.head.Sync(), durable.SyncDir(filepath.Dir(name))); err != nil { // later heads need none: this one does
		return nil, fmt.Errorf("audit: %w", err)
	}
	go l.run()
	return l, nil
}

// openFiles opens the log and its head and returns the record with which to go
// on.
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
		s, err := Verify([]string{l.opts.After}, &VerifyOptions{Key: l.opts.Key})
		if err != nil {
			return nil, err
		}
		l.last = s.Last
	}
	return &Record{Event: Event{Action: ActionBegin}, Note: &Note{Algorithm: l.algorithm()}}, nil
}

// resume finds the end of a file whose record head begins at start, and
// returns the record that says so. If the last line has no end it gets one.
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
			break // the first record is the one that head names, or none is
		}
	}
	if !named {
		return nil, &Fault{File: l.name, Reason: fmt.Sprintf("record %d, which was its last, is not there", head.Seq)}
	}
	if s.last == (Head{}) { // another file, or a crash came before the first record was whole
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

// behind says of a fault that it is behind the record that head names. Its line
// is counted from there and left out.
func behind(head Head, err error) error {
	if fault := (*Fault)(nil); errors.As(err, &fault) && head != (Head{}) {
		return &Fault{File: fault.File, Reason: fmt.Sprintf("behind record %d, which was its last: %s", head.Seq, fault.Reason)}
	}
	return err
}

// mayBeTorn returns a fault if what follows the last record is not what a crash
// can leave: in the last write, of maxBatch records at most, any sectors may be
// missing. In a log without its head nobody knows what was durable, and no
// record is given up.
func (s *scanner) mayBeTorn(head Head) error {
	for _, r := range s.tornSeqs {
		if head == (Head{}) || r.Seq <= s.last.Seq+1 || r.Seq > s.last.Seq+maxBatch {
			return s.fault(s.tornLine, s.tornFault)
		}
	}
	return nil
}

// Append records an event and returns when that is durable. It returns ErrEvent
// for an event that cannot be recorded; after any other error nothing is
// recorded until the log is opened again.
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
		l.wake <- struct{}{} // has room: the writer took what was there before
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

// Err returns why the log takes no records, or nil if it does.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.errLocked()
}

// Head returns the last record that is durable.
func (l *Log) Head() Head {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// run writes batch after batch until Close.
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

// Close writes what waits, and ends the log. It returns its last record, and
// the error that the log had, if any.
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
