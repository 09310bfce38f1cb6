package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/voicescreen/voicescreen/internal/stream"
	"github.com/voicescreen/voicescreen/store"
)

// elsewhere is what keeps recordings instead of the database, and which of them are to
// be removed there. The database has a row for each of them, with its key: what has none
// is no audio of the store. The transaction that lets a recording go marks its row and
// removes the key; the recording is removed after it, then the row. So what a process
// leaves behind when it ends, or while a server does not answer, is found by any other.
type elsewhere struct {
	audio store.Audio // nil: recordings are in the database

	// missing says that a recording was asked for that is elsewhere, although audio is
	// nil: Next leaves such sessions to processes that can read them.
	missing atomic.Bool

	some chan struct{} // has an element if there may be refs

	mu     sync.Mutex // protects what follows
	refs   []string   // at most maxErase; the database knows the others
	after  string     // what eraseLeft looked at last; "" at the end of the list
	failed failures   // of eraseLeft since the beginning of the list
	former failures   // of the pass through the list before that
}

// failures are recordings that could not be removed. The zero value has none.
type failures struct {
	n     int
	first []error // at most maxFailures
}

// add notes that n recordings could not be removed.
func (f *failures) add(n int, err error) {
	f.n += n
	if len(f.first) < maxFailures {
		f.first = append(f.first, err)
	}
}

// err returns nil if there are none.
func (f *failures) err() error {
	if len(f.first) == 0 {
		return nil
	}
	return fmt.Errorf("store/postgres: remove erased audio: %d could not be removed; the first errors: %w", f.n, errors.Join(f.first...))
}

// ErrElsewhere says that a recording is not in the database, and that Options.Audio is
// nil. It is also store.ErrUnavailable: a process that has the audio can read it, and
// Next leaves such sessions to it from then on.
var ErrElsewhere = errors.New("store/postgres: the recording is not in the database")

const (
	// maxErase is how many recordings are removed elsewhere before the database is asked
	// for more. Chosen: bounds the memory.
	maxErase = 1000
	// maxFailures is how many errors of one pass are kept. Chosen: bounds the memory
	// and a line of the log; mostly they are all alike.
	maxFailures = 3
	// eraseEvery is how often the database is asked for recordings that others left.
	// Chosen: soon for a voice that must go, and a search of an index that is empty.
	eraseEvery = 10 * time.Second
	// erasers is how many recordings are removed at once. Chosen: at 30 ms a request,
	// 250 a second.
	erasers = 8
	// eraseTime is how long the removals of one round may take, and Close waits for
	// them. Chosen; another round, or another process, goes on.
	eraseTime = 5 * time.Second
)

// erase notes recordings that are to be removed elsewhere.
func (e *elsewhere) erase(refs ...string) {
	if e.audio == nil || len(refs) == 0 {
		return
	}
	e.mu.Lock()
	e.refs = append(e.refs, refs[:min(len(refs), maxErase-len(e.refs))]...)
	e.mu.Unlock()
	select {
	case e.some <- struct{}{}:
	default:
	}
}

func (e *elsewhere) take() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	refs := e.refs
	e.refs = nil
	return refs
}

// eraseElsewhere removes recordings that the database let go, until the store is closed,
// and then the last ones of this process.
func (s *Store) eraseElsewhere() {
	tick := time.NewTicker(eraseEvery)
	defer tick.Stop()
	s.eraseLeft(s.closing)
	for {
		select {
		case <-s.closing.Done():
			s.eraseNoted()
			return
		case <-s.away.some:
			s.eraseNoted()
		case <-tick.C:
			s.eraseLeft(s.closing)
		}
	}
}

// eraseNoted removes what this process let go. Close waits for it: a service that stops
// leaves nothing behind where its audio answers.
func (s *Store) eraseNoted() {
	ctx, cancel := context.WithTimeout(context.Background(), eraseTime)
	defer cancel()
	_, _ = s.eraseAll(ctx, s.away.take()) // what is left then is found by eraseLeft
}

// eraseLeft removes what the database let go. It goes on behind what the last call looked
// at, so that recordings that cannot be removed do not hold up the others. It ends at the
// end of the list, or after maxErase recordings of which none could be removed: then the
// server probably does not answer.
func (s *Store) eraseLeft(ctx context.Context) {
	for more := true; more && ctx.Err() == nil; {
		more = s.erasePage(ctx)
	}
}

// erasePage removes the next recordings that the database let go, and says whether to go
// on with those behind them.
func (s *Store) erasePage(ctx context.Context) (more bool) {
	after := s.away.place()
	var refs []string
	err := s.read(ctx, "look for erased audio", sqlErased, func(rows pgx.Rows) (err error) {
		refs, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	}, after, maxErase)
	if err != nil {
		return false // the next call begins here
	}
	n, err := s.eraseAll(ctx, refs)
	if ctx.Err() != nil {
		return false
	}
	s.away.went(refs, len(refs)-n, err)
	return n > 0 && len(refs) == maxErase
}

// place returns behind which recording eraseLeft goes on.
func (e *elsewhere) place() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.after
}

// went notes what eraseLeft looked at, and that some of it could not be removed.
func (e *elsewhere) went(refs []string, failed int, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		e.failed.add(failed, err)
	}
	if len(refs) == maxErase {
		e.after = refs[maxErase-1]
		return
	}
	e.after, e.former, e.failed = "", e.failed, failures{}
}

// err returns why recordings could not be removed, in this pass through the list or in
// the last one.
func (e *elsewhere) err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.failed.err(); err != nil {
		return err
	}
	return e.former.err()
}

// eraseAll removes recordings elsewhere, and then their rows, and returns how many, and
// the first error. Those that fail do not end it.
func (s *Store) eraseAll(ctx context.Context, refs []string) (n int, err error) {
	var mu sync.Mutex // protects gone and err
	var gone []string
	var all sync.WaitGroup
	next := make(chan string)
	for range min(erasers, len(refs)) {
		all.Go(func() {
			for ref := range next {
				rerr := s.away.audio.Remove(ctx, ref)
				mu.Lock()
				if rerr == nil {
					gone = append(gone, ref)
				} else if err == nil {
					err = rerr // the row stays, and a later call finds it
				}
				mu.Unlock()
			}
		})
	}
	for _, ref := range refs {
		next <- ref
	}
	close(next)
	all.Wait()
	if len(gone) == 0 {
		return 0, err
	}
	if werr := s.write(ctx, "forget erased audio", sqlGone, closed, gone); werr != nil {
		return 0, errors.Join(err, werr) // a later call finds them
	}
	return len(gone), err
}

// putElsewhere stores audio elsewhere, and then its row with its key: a session can refer
// to it from then on. What has no row is removed by age.
func (s *Store) putElsewhere(ctx context.Context, r io.Reader) (string, error) {
	var key []byte
	if s.vault != nil {
		key = newSecret()
		r = newSealer(r, key)
	}
	ref, err := s.away.audio.Put(ctx, r)
	if err != nil {
		return "", err
	}
	err = s.write(ctx, "put audio", sqlPutElsewhere, closed, s.clock.args(ref, s.vault.sealKey(ofAudio, ref, key))...)
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), eraseTime)
		defer cancel()
		_ = s.away.audio.Remove(ctx, ref) // Sweep removes it otherwise
		return "", err
	}
	return ref, nil
}

// openElsewhere opens a recording that has a row. The recording may be removed meanwhile.
func (s *Store) openElsewhere(ctx context.Context, ref string) (io.ReadCloser, error) {
	if s.away.audio == nil {
		s.away.missing.Store(true)
		return nil, fmt.Errorf("store/postgres: open audio: %w: %w", store.ErrUnavailable, ErrElsewhere)
	}
	return s.away.audio.Open(ctx, ref)
}

// CheckAudio returns ErrElsewhere if recordings that wait to be analysed are not in the
// database, and Options.Audio is nil: this process cannot analyse them.
func (s *Store) CheckAudio(ctx context.Context) error {
	if err := s.calls.Begin(ctx); err != nil {
		return err
	}
	defer s.calls.End()
	if s.away.audio != nil {
		return nil
	}
	waits := false
	err := s.read(ctx, "look for audio elsewhere", sqlWaitElsewhere, func(rows pgx.Rows) error {
		waits = rows.Next()
		rows.Close()
		return rows.Err()
	})
	if err == nil && waits {
		err = ErrElsewhere
	}
	return err
}

// LacksAudio says whether a recording was asked for that is not in the database, although
// Options.Audio is nil.
func (s *Store) LacksAudio() bool { return s.away.missing.Load() }

// sweepElsewhere removes by age what has no row, and what was erased. Its error also has
// what eraseElsewhere could not remove.
func (s *Store) sweepElsewhere(ctx context.Context, age time.Duration, referred func(ref string) bool) error {
	if s.away.audio == nil {
		return nil
	}
	known := map[string]bool{}
	for after := ""; ; {
		var refs []string
		err := s.read(ctx, "list audio", sqlKnownAudio, func(rows pgx.Rows) (err error) {
			refs, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		}, after, sweepLen)
		if err != nil {
			return err
		}
		for _, ref := range refs {
			known[ref] = true
			after = ref
		}
		if len(refs) < sweepLen {
			break
		}
	}
	s.eraseLeft(ctx)
	return errors.Join(s.away.err(), s.away.audio.Sweep(ctx, age, func(ref string) bool {
		return known[ref] || referred != nil && referred(ref) || s.knows(ctx, ref)
	}))
}

// knows says whether audio has a row, also if nobody can say.
func (s *Store) knows(ctx context.Context, ref string) bool {
	found := false
	err := s.read(ctx, "look for audio", sqlKnowsAudio, func(rows pgx.Rows) error {
		found = rows.Next()
		rows.Close()
		return rows.Err()
	}, ref)
	return found || err != nil
}

// sealer reads what another reader reads, encrypted. It owns its memory and clears what
// was read.
type sealer struct {
	src    io.Reader
	w      *stream.Writer
	sealed bytes.Buffer
	block  []byte
	err    error // that Read returns when sealed is empty
}

// sealLen is how much of a recording is sealed at once. Chosen.
const sealLen = 64 << 10

func newSealer(src io.Reader, key []byte) *sealer {
	s := &sealer{src: src, block: make([]byte, sealLen)}
	s.w = stream.NewWriter(&s.sealed, key)
	return s
}

// Read returns the error of the other reader as it is.
func (s *sealer) Read(p []byte) (int, error) {
	for empty := 0; s.sealed.Len() == 0 && s.err == nil; empty++ {
		n, err := s.src.Read(s.block)
		if n > 0 {
			_, _ = s.w.Write(s.block[:n]) // a bytes.Buffer returns no error
			clear(s.block[:n])
			empty = -1
		}
		switch {
		case err == io.EOF:
			s.err = io.EOF
			_ = s.w.Close()
		case err != nil:
			s.err = err
		case empty >= 100:
			s.err = io.ErrNoProgress
		}
	}
	if s.sealed.Len() == 0 || s.err != nil && s.err != io.EOF {
		return 0, s.err
	}
	n, _ := s.sealed.Read(p)
	return n, nil
}
