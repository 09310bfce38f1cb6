package postgres

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/voicescreen/voicescreen/internal/stream"
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
// committed before it, and fails if one of them is not there.
func (a *chunks) Put(ctx context.Context, r io.Reader) (string, error) {
	s := (*Store)(a)
	if err := s.calls.Begin(ctx); err != nil {
		return "", err
	}
	defer s.calls.End()
	if s.away.audio != nil {
		return s.putElsewhere(ctx, r)
	}
	u := &upload{ctx: ctx, store: s, ref: rand.Text(), buf: buffers.Get().(*[chunkLen]byte)}
	defer u.release() // also when r panics
	var w io.Writer = u
	var cipher *stream.Writer
	key, sealed := s.vault.newKey(ofAudio, u.ref)
	if u.key = sealed; key != nil {
		cipher = stream.NewWriter(u, key)
		w = cipher
	}
	if err := audio.Copy(ctx, w, r); err != nil {
		return "", err
	}
	if cipher != nil {
		if err := cipher.Close(); err != nil {
			return "", err
		}
	}
	if err := u.put(true); err != nil {
		return "", err
	}
	return u.ref, nil
}

// upload writes a recording in chunks.
type upload struct {
	ctx    context.Context
	store  *Store
	ref    string
	key    []byte // sealed; nil if the store is not encrypted
	number int    // of the next chunk
	buf    *[chunkLen]byte
	n      int  // how much of buf is filled
	begun  bool // whether something may be stored
	done   bool // whether all is
}

// Write stores what fills a chunk. One full chunk is left for the end.
func (u *upload) Write(p []byte) (n int, err error) {
	for n < len(p) {
		if u.n == chunkLen {
			if err := u.put(false); err != nil {
				return n, err
			}
		}
		more := copy(u.buf[u.n:], p[n:])
		u.n += more
		n += more
	}
	return n, nil
}

// put stores a chunk. The first one begins the recording, and the last ends it.
func (u *upload) put(last bool) error {
	data := u.buf[:u.n]
	u.begun = true // also if it fails: it may have been made
	complete := true
	err := u.store.do(u.ctx, "put audio", func(ctx context.Context, c *pgx.Conn) error {
		b := &pgx.Batch{}
		u.store.begin(b)
		if !last {
			b.Queue(sqlAsync)
		}
		if u.number == 0 {
			b.Queue(sqlBeginAudio, u.store.clock.args(u.ref, u.key)...)
		}
		b.Queue(sqlPutChunk, u.ref, u.number, data)
		if last {
			b.Queue(sqlEndAudio, u.ref, u.number+1).Exec(func(tag pgconn.CommandTag) error {
				complete = tag.RowsAffected() == 1
				return nil
			})
		}
		b.Queue(sqlCommit)
		return send(ctx, c, b, true)
	})
	if err == nil && !complete {
		err = errors.New("store/postgres: put audio: the server lost a part of it during the upload")
	}
	u.number++
	u.n, u.done = 0, err == nil && last
	return err
}

// release removes what is not complete, and clears the buffer: no voice stays in
// memory.
func (u *upload) release() {
	if u.begun && !u.done {
		u.store.release(u.ref)
	}
	clear(u.buf[:])
	buffers.Put(u.buf)
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
	count, sealed, away := -1, []byte(nil), false
	err := s.read(ctx, "open audio", sqlOpenAudio, func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&count, &sealed, &away}, func() error { return nil })
		return err
	}, ref)
	if err != nil {
		return nil, err
	}
	if count < 0 {
		return nil, store.ErrNotFound
	}
	var key []byte
	if s.vault != nil {
		if key, err = s.vault.key(ofAudio, ref, sealed); err != nil {
			return nil, err
		}
	}
	var r io.ReadCloser = &recording{ctx: ctx, store: s, ref: ref, chunks: count}
	if away {
		if r, err = s.openElsewhere(ctx, ref); err != nil {
			return nil, err
		}
	}
	if s.vault == nil {
		return r, nil
	}
	return &sealedRecording{r, stream.NewReader(r, key)}, nil
}

// sealedRecording reads an encrypted recording.
type sealedRecording struct {
	io.ReadCloser
	plain *stream.Reader
}

func (r *sealedRecording) Read(p []byte) (int, error) {
	n, err := r.plain.Read(p)
	if errors.Is(err, stream.ErrCorrupt) {
		err = fmt.Errorf("%w: audio is not authentic", store.ErrDamaged)
	}
	return n, err
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
	var gone []string
	err := s.do(ctx, "remove audio", func(ctx context.Context, c *pgx.Conn) error {
		b := &pgx.Batch{}
		s.begin(b)
		b.Queue(sqlLockAudio, refs)
		b.Queue(sqlRemoveAudio, refs).Query(func(rows pgx.Rows) (err error) { // sees what was committed before the lock was given
			gone, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		})
		b.Queue(sqlCommit)
		return send(ctx, c, b, true)
	})
	if err == nil {
		s.away.erase(gone...)
	}
	return err
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
		if err != nil {
			return err
		}
		if len(refs) == 0 {
			break
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
			break
		}
	}
	return s.sweepElsewhere(ctx, age, referred)
}
