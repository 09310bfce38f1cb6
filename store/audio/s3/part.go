package s3

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"sync"
)

const (
	// partLen is the length of all parts of a recording but the last, in bytes. It is
	// the shortest that S3 allows.
	partLen = 5 << 20
	// chunkLen is by how much the memory of an upload grows, in bytes. Chosen: a
	// recording of 30 s, 2.6 MB, is held in as much memory as it has bytes.
	chunkLen = 64 << 10
)

var chunks = sync.Pool{New: func() any { return new([chunkLen]byte) }}

// part is what is sent in one request: at most partLen bytes. It is not safe for
// concurrent use; its readers are, among each other.
type part struct {
	chunks []*[chunkLen]byte
	n      int
	hash   hash.Hash
}

// write adds as much of p as fits, and returns how much that is.
func (a *part) write(p []byte) int {
	if a.hash == nil {
		a.hash = sha256.New()
	}
	p = p[:min(len(p), partLen-a.n)]
	a.hash.Write(p) // never fails
	for rest := p; len(rest) > 0; {
		at := a.n % chunkLen
		if at == 0 && a.n/chunkLen == len(a.chunks) {
			a.chunks = append(a.chunks, chunks.Get().(*[chunkLen]byte))
		}
		n := copy(a.chunks[a.n/chunkLen][at:], rest)
		a.n, rest = a.n+n, rest[n:]
	}
	return len(p)
}

// sum returns the SHA-256 of the part in hexadecimal.
func (a *part) sum() string {
	if a.hash == nil {
		a.hash = sha256.New()
	}
	return hex.EncodeToString(a.hash.Sum(nil))
}

// empty makes the part empty; it keeps its memory.
func (a *part) empty() {
	a.n = 0
	if a.hash != nil {
		a.hash.Reset()
	}
}

// free clears the memory of the part, and gives it back.
func (a *part) free() {
	for _, c := range a.chunks {
		clear(c[:]) // no audio stays in the pool
		chunks.Put(c)
	}
	a.chunks, a.n = nil, 0
}

// partReader reads a part until it is closed. A transport may read the body of a request
// after the request has ended: Close makes sure that it does not read the next part. It
// is safe for concurrent use.
type partReader struct {
	mu   sync.Mutex // protects all below
	part *part      // nil once closed
	at   int64
}

func (r *partReader) Read(p []byte) (n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.part == nil {
		return 0, errClosed
	}
	for n < len(p) && r.at < int64(r.part.n) {
		chunk := r.part.chunks[r.at/chunkLen]
		at := int(r.at % chunkLen)
		more := copy(p[n:], chunk[at:min(chunkLen, at+r.part.n-int(r.at))])
		n, r.at = n+more, r.at+int64(more)
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Seek is described at [io.Seeker]. It is for sending the part again.
func (r *partReader) Seek(offset int64, whence int) (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.part == nil {
		return 0, errClosed
	}
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += int64(r.part.n)
	}
	if offset < 0 {
		return 0, errors.New("store/audio/s3: seek before the beginning of a part")
	}
	r.at = offset
	return offset, nil
}

// revoke ends all reading of the part.
func (r *partReader) revoke() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.part = nil
}

var errClosed = errors.New("store/audio/s3: the request is over")
