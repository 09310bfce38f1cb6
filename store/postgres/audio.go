package postgres

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/audio"
)

// chunkLen is the length of all chunks of a recording but the last, in bytes.
// Chosen: a recording of 30 s is ten round trips, and 64 uploads take 16 MiB.
const chunkLen = 256 << 10

// buffers are for uploads.
var buffers = sync.Pool{New: func() any { return new([chunkLen]byte) }}

// chunks is the Store as a store.Audio: recordings in rows of chunkLen bytes.
type chunks Store

// Audio is described at [store.Store].
func (s *Store) Audio() store.Audio { return (*chunks)(s) }

// Put is described at [store.Audio]. It holds no connection while it waits for r.
// Chunks are not synced one by one: the last statement syncs all that was
// committed before it.
func (a *chunks) Put(ctx context.Context, r io.Reader) (string, error) {
	s := (*Store)(a)
	if err := s.calls.Begin(ctx); err != nil {
		return "", err
	}
	defer s.calls.End()
	ref := rand.Text()
	begun, done := false, false
	defer func() { // also when r panics
		if begun && !done {
			s.release(ref)
		}
	}()
	buf := buffers.Get().(*[chunkLen]byte)
	defer buffers.Put(buf)
	defer clear(buf[:]) // no voice stays in memory
	for number := 0; ; number++ {
		n, err := readFull(ctx, r, buf[:])
		if err != nil && err != io.EOF {
			return "", err
		}
		last := err == io.EOF
		begun = true // also if it fails: it may have been made
		if err := s.putChunk(ctx, ref, number, buf[:n], last); err != nil {
			return "", err
		}
		if last {
			done = true
			return ref, nil
		}
	}
}

// readFull fills p with what r gives. The error is io.EOF if r has ended; any
// other error of r is returned as it is.
func readFull(ctx context.Context, r io.Reader, p []byte) (n int, err error) {
	for empty := 0; n < len(p); empty++ {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		if empty == 100 {
			return n, io.ErrNoProgress
		}
		more, err := r.Read(p[n:])
		if n += more; err != nil {
			return n, err
		}
		if more > 0 {
			empty = -1
		}
	}
	return n, nil
}

// putChunk stores a chunk. The first one begins the recording, and the last ends
// it.
func (s *Store) putChunk(ctx context.Context, ref string, number int, data []byte, last bool) error {
	return s.do(ctx, "put audio", func(ctx context.Context, c *pgx.Conn) error {
		b := &pgx.Batch{}
		s.begin(b)
		if !last {
			b.Queue(sqlAsync)
		}
		if number == 0 {
			b.Queue(sqlBeginAudio, s.clock.args(ref)...)
		}
		if len(data) > 0 {
			b.Queue(sqlPutChunk, ref, number, data)
		}
		if last {
			count := number
			if len(data) > 0 {
				count++
			}
			b.Queue(sqlEndAudio, ref, count)
		}
		b.Queue(sqlCommit)
		return send(ctx, c, b, true)
	})
}

// release removes audio that no session can refer to. What cannot be removed now
// is removed by Sweep.
func (s *Store) release(ref string) {
	ctx, cancel := context.WithTimeout(context.Background(), s.limits.call())
	defer cancel()
	_ = s.write(ctx, "remove audio", sqlReleaseAudio, closed, ref)
}

// closed reads no row.
func closed(rows pgx.Rows) error {
	rows.Close()
	return rows.Err()
}

// Open is described at [store.Audio]. The reader asks for one chunk at a time,
// with this context.
func (a *chunks) Open(ctx context.Context, ref string) (io.ReadCloser, error) {
	s := (*Store)(a)
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	if !audio.IsRef(ref) {
		return nil, store.ErrNotFound
	}
	count := -1
	err := s.read(ctx, "open audio", sqlOpenAudio, func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&count}, func() error { return nil })
		return err
	}, ref)
	if err != nil {
		return nil, err
	}
	if count < 0 {
		return nil, store.ErrNotFound
	}
	return &recording{ctx: ctx, store: s, ref: ref, chunks: count}, nil
}

// recording reads stored audio.
type recording struct {
	ctx    context.Context
	store  *Store
	ref    string
	chunks int // how many there are
	next   int // the number of the chunk behind rest
	rest   bytes.Reader
}

// Read reads the next bytes. The error is store.ErrNotFound if the audio was
// removed meanwhile.
func (r *recording) Read(p []byte) (int, error) {
	for r.rest.Len() == 0 {
		if r.next == r.chunks {
			return 0, io.EOF
		}
		data, err := r.store.chunk(r.ctx, r.ref, r.next)
		if err != nil {
			return 0, err
		}
		r.next++
		r.rest.Reset(data)
	}
	return r.rest.Read(p)
}

// Close ends the reading.
func (r *recording) Close() error {
	r.next = r.chunks
	r.rest.Reset(nil)
	return nil
}

// chunk returns a chunk of a recording.
func (s *Store) chunk(ctx context.Context, ref string, number int) (data []byte, err error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	err = s.read(ctx, "read audio", sqlGetChunk, func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&data}, func() error { return nil })
		return err
	}, ref, number)
	if err == nil && data == nil {
		err = fmt.Errorf("store/postgres: read audio: %w while it was read", store.ErrNotFound)
	}
	return data, err
}

// Remove is described at [store.Audio].
func (a *chunks) Remove(ctx context.Context, ref string) error {
	s := (*Store)(a)
	if err := s.calls.Begin(ctx); err != nil {
		return err
	}
	defer s.calls.End()
	if !audio.IsRef(ref) {
		return nil
	}
	return s.removeAudio(ctx, []string{ref})
}

// removeAudio removes what no session refers to, hand-overs under way included.
func (s *Store) removeAudio(ctx context.Context, refs []string) error {
	return s.do(ctx, "remove audio", func(ctx context.Context, c *pgx.Conn) error {
		b := &pgx.Batch{}
		s.begin(b)
		b.Queue(sqlLockAudio, refs)
		b.Queue(sqlRemoveAudio, refs) // sees what was committed before the lock was given
		b.Queue(sqlCommit)
		return send(ctx, c, b, true)
	})
}

// sweepLen is how much audio a Sweep looks at in one statement. Chosen: bounds
// the memory.
const sweepLen = 1000

// Sweep is described at [store.Audio]. The age is that of the upload's beginning,
// by the store's clock.
func (a *chunks) Sweep(ctx context.Context, age time.Duration, referred func(ref string) bool) error {
	s := (*Store)(a)
	if err := s.calls.Begin(ctx); err != nil {
		return err
	}
	defer s.calls.End()
	for after := ""; ; {
		var refs []string
		err := s.read(ctx, "sweep audio", sqlOldAudio, func(rows pgx.Rows) (err error) {
			refs, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		}, s.clock.args(age, after, sweepLen)...)
		if err != nil || len(refs) == 0 {
			return err
		}
		after = refs[len(refs)-1]
		more := len(refs) == sweepLen
		if referred != nil {
			refs = slices.DeleteFunc(refs, referred)
		}
		if len(refs) > 0 {
			if err := s.removeAudio(ctx, refs); err != nil {
				return err
			}
		}
		if !more {
			return nil
		}
	}
}
