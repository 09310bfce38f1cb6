// Package stream encrypts a stream of bytes in chunks, so that a reader gets
// nothing that was not authenticated and a writer holds one chunk in memory.
//
// It is the construction STREAM of Hoang, Reyhanitabar, Rogaway and Vizár,
// Online Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance (CRYPTO
// 2015, section 7), with AES-256-GCM: every chunk of 64 KiB is sealed under a
// nonce of its number, 3 zero bytes and 8 big-endian, and a byte that is 1 for the
// last chunk; nothing is authenticated besides. Testdata has known answers of
// another implementation. A chunk that was changed, moved, doubled
// or dropped does not open, and neither does the last one of a stream that was
// cut short or continued. Nothing is random but the key, which is of one stream.
package stream

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	// KeySize is the length of a key, in bytes.
	KeySize = 32
	// ChunkSize is how many bytes a chunk holds, the last one at most. Chosen:
	// what a disk writes at once; the tag adds 0.02 %.
	ChunkSize = 64 << 10

	tagSize   = 16
	nonceSize = 12
)

// ErrCorrupt says that a stream is not as it was written under the key.
var ErrCorrupt = errors.New("stream: the content is not authentic")

// chunks seals or opens the chunks of one stream in their order.
type chunks struct {
	aead  cipher.AEAD
	count uint64 // of the next chunk
	buf   []byte // ChunkSize and a tag
}

// newChunks panics if the key is not of KeySize.
func newChunks(key []byte) chunks {
	if len(key) != KeySize {
		panic(fmt.Sprintf("stream: the key has %d bytes, want %d", len(key), KeySize))
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // only for a length that is none of AES
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // only for a block that is none of AES
	}
	return chunks{aead: aead, buf: make([]byte, ChunkSize+tagSize)}
}

// nonce returns that of the next chunk: its number, and 1 behind it for the
// last. No stream has 2^64 chunks.
func (c *chunks) nonce(last bool) []byte {
	nonce := make([]byte, nonceSize)
	binary.BigEndian.PutUint64(nonce[nonceSize-9:], c.count)
	if last {
		nonce[nonceSize-1] = 1
	}
	c.count++
	return nonce
}

// Writer encrypts what is written to it. It is for one goroutine.
type Writer struct {
	chunks
	w   io.Writer
	n   int   // bytes in buf
	err error // of the first Write that failed, or of one after Close
}

// NewWriter returns a Writer to w under a key of KeySize bytes, which must be
// of this stream alone: two streams under one key reveal both contents. Close
// completes the stream.
func NewWriter(w io.Writer, key []byte) *Writer { return &Writer{chunks: newChunks(key), w: w} }

// Write encrypts p. An error of the writer below is returned as it is, and by
// all later calls.
func (w *Writer) Write(p []byte) (int, error) {
	written := 0
	for len(p) > 0 && w.err == nil {
		if w.n == ChunkSize { // and it is not the last
			w.flush(false)
			continue
		}
		n := copy(w.buf[w.n:ChunkSize], p)
		w.n += n
		written += n
		p = p[n:]
	}
	return written, w.err
}

// Close writes the last chunk. It does not close the writer below.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	w.flush(true)
	err := w.err
	if err == nil {
		w.err = errors.New("stream: it was closed")
	}
	clear(w.buf)
	return err
}

func (w *Writer) flush(last bool) {
	sealed := w.aead.Seal(w.buf[:0], w.nonce(last), w.buf[:w.n], nil)
	w.n = 0
	if w.err == nil {
		_, w.err = w.w.Write(sealed)
	}
}

// Reader decrypts a stream. It is for one goroutine.
type Reader struct {
	chunks
	r     io.Reader
	next  [1]byte // the byte behind the chunk in buf, if more
	more  bool
	begun bool
	rest  []byte // of buf: what was opened and not yet read
	err   error  // what ended the stream
}

// NewReader returns a Reader of what a Writer of that key wrote to r. A stream
// that is not authentic ends with ErrCorrupt before any of the chunk at fault
// is read.
func NewReader(r io.Reader, key []byte) *Reader { return &Reader{chunks: newChunks(key), r: r} }

// Read reads what the next chunks hold. An error of the reader below is
// returned as it is.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(r.rest) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.open()
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// open reads and opens the next chunk, or sets err.
func (r *Reader) open() {
	n := 0
	if r.more {
		r.buf[0] = r.next[0]
		n = 1
	}
	m, err := io.ReadFull(r.r, r.buf[n:])
	n += m
	last := err == io.EOF || err == io.ErrUnexpectedEOF
	if !last && err != nil {
		r.err = err
		return
	}
	if !last { // full: is there more?
		switch _, err := io.ReadFull(r.r, r.next[:]); {
		case err == io.EOF:
			last = true
		case err != nil:
			r.err = err
			return
		}
	}
	if last && r.begun && n <= tagSize { // only an empty stream has an empty chunk
		r.err = ErrCorrupt
		return
	}
	r.more, r.begun = !last, true
	plain, err := r.aead.Open(r.buf[:0], r.nonce(last), r.buf[:n], nil)
	switch {
	case err != nil:
		r.err = ErrCorrupt
	case last:
		r.err = io.EOF
		r.rest = plain
	default:
		r.rest = plain
	}
}
