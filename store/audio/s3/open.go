package s3

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/minio/minio-go/v7"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/audio"
)

// resumptions is how often a reader asks again for the rest of a recording without
// having received anything. Chosen.
const resumptions = 3

// Open is described at [store.Audio]. The reader holds no more than the caller asks for.
// It asks for the rest of the recording if a connection breaks. It ends with an error
// when ctx is done. It is not safe for concurrent use.
func (b *Bucket) Open(ctx context.Context, ref string) (io.ReadCloser, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !audio.IsRef(ref) {
		return nil, store.ErrNotFound
	}
	r := &reader{ctx: ctx, bucket: b, name: b.name(ref)}
	if err := r.request(); err != nil {
		return nil, err
	}
	return r, nil
}

// reader reads an object, in several requests if connections break.
type reader struct {
	ctx    context.Context
	bucket *Bucket
	name   string
	body   io.ReadCloser // nil after an error
	at     int64         // bytes read
	size   int64
	etag   string
	failed int // requests since the last byte
	closed bool
}

// request asks for the object from r.at on.
func (r *reader) request() error {
	b := r.bucket
	opts := minio.GetObjectOptions{ServerSideEncryption: b.read}
	if r.at > 0 {
		if err := errors.Join(opts.SetRange(r.at, 0), opts.SetMatchETag(r.etag)); err != nil {
			return b.failed(r.ctx, "read", err)
		}
	}
	body, info, _, err := b.client.GetObject(r.ctx, b.bucket, r.name, opts)
	if isCode(err, minio.NoSuchKey) {
		return store.ErrNotFound
	}
	if err != nil {
		return b.failed(r.ctx, "read", err)
	}
	switch {
	case r.at == 0 && info.Size < 0: // of a proxy that answers in chunks
		if info, err = b.client.StatObject(r.ctx, b.bucket, r.name, minio.StatObjectOptions{ServerSideEncryption: b.read}); err != nil {
			_ = body.Close()
			return b.failed(r.ctx, "read", err)
		}
		if info.Size < 0 {
			_ = body.Close()
			return fmt.Errorf("store/audio/s3: read: %w: the server does not say how long the recording is", store.ErrUnavailable)
		}
		r.size, r.etag = info.Size, info.ETag
	case r.at == 0:
		r.size, r.etag = info.Size, info.ETag
	case info.ETag != r.etag, info.Size >= 0 && info.Size != r.size-r.at: // another object, or all of it
		_ = body.Close()
		return fmt.Errorf("store/audio/s3: read: %w: the server answers with other bytes than those from %d of %d", store.ErrUnavailable, r.at, r.size)
	}
	r.body = body
	return nil
}

func (r *reader) Read(p []byte) (int, error) {
	for {
		if r.closed {
			return 0, errors.New("store/audio/s3: read: the reader is closed")
		}
		if r.at == r.size {
			return 0, io.EOF
		}
		if len(p) == 0 {
			return 0, nil
		}
		if r.body == nil {
			if err := r.request(); err != nil {
				return 0, err
			}
		}
		n, err := r.body.Read(p[:min(int64(len(p)), r.size-r.at)])
		r.at += int64(n)
		if n > 0 {
			r.failed = 0
		}
		if err != nil && r.at < r.size { // also io.EOF: an answer that is cut short
			_ = r.body.Close()
			r.body = nil
			r.failed++
		}
		switch {
		case n > 0:
			return n, nil
		case r.ctx.Err() != nil:
			return 0, r.bucket.failed(r.ctx, "read", r.ctx.Err())
		case r.failed > resumptions:
			return 0, fmt.Errorf("store/audio/s3: read: %w: the connection broke %d times at byte %d of %d: %w", store.ErrUnavailable, r.failed, r.at, r.size, err)
		}
	}
}

func (r *reader) Close() error {
	r.closed = true
	if r.body == nil {
		return nil
	}
	_ = r.body.Close() // all that was asked for has been read, or is not wanted
	r.body = nil
	return nil
}
