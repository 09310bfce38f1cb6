// Package stream encrypts a stream of bytes in chunks. Readers return only authenticated
// bytes, and readers and writers keep one chunk in memory.
//
// The construction is STREAM of Hoang, Reyhanitabar, Rogaway and Vizár, Online
// Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance (CRYPTO 2015, section
// 7), with AES-256-GCM. Every chunk of 64 KiB is sealed without additional data. Its
// nonce of 12 bytes is 3 zero bytes, the number of the chunk in 8 bytes, big-endian, and
// a byte that is 1 for the last chunk and 0 for the others. A chunk that was changed,
// moved, duplicated or dropped does not open, and neither does the last chunk of a
// stream that was cut short or extended. The key must be random and of one stream.
// Directory testdata has known answers of another implementation.
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
	// ChunkSize is the number of bytes in a chunk, or less in the last one. Chosen: a
	// usual size of one write to a disk; the tag adds 0.02 %.
	ChunkSize = 64 << 10

	tagSize   = 16
	nonceSize = 12
)

// ErrCorrupt is returned for a stream that no Writer wrote under the key.
var ErrCorrupt = errors.New("stream: the content is not authentic")

// chunks seals or opens the chunks of one stream in their order.
type chunks struct {
	aead  cipher.AEAD
	count uint64 // number of the next chunk
	buf   []byte // of ChunkSize + tagSize bytes
}

// newChunks panics if the key has not KeySize bytes.
func newChunks(key []byte) chunks {
	if len(key) != KeySize {
		panic(fmt.Sprintf("stream: the key has %d bytes, want %d", len(key), KeySize))
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // impossible: KeySize is a key length of AES
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // impossible: the block is one of AES
	}
	return chunks{aead: aead, buf: make([]byte, ChunkSize+tagSize)}
}

// nonce returns the nonce of the next chunk and counts the chunk. No stream has 2^64
// chunks.
func (c *chunks) nonce(last bool) []byte {
	nonce := make([]byte, nonceSize)
	binary.BigEndian.PutUint64(nonce[nonceSize-9:], c.count)
	if last {
		nonce[nonceSize-1] = 1
	}
	c.count++
	return nonce
}

// Writer encrypts the bytes written to it. It is not safe for concurrent use.
type Writer struct {
	chunks
	w   io.Writer
	n   int   // bytes in buf
	err error // of the first failed Write, or an error for calls after Close
}

// NewWriter returns a Writer to w under a key of KeySize bytes; another length panics.
// Use each key for one stream only: two streams under one key reveal both contents.
// Close completes the stream.
func NewWriter(w io.Writer, key []byte) *Writer { return &Writer{chunks: newChunks(key), w: w} }

// Write encrypts p. An error of the underlying writer is returned as it is, by this and
// all later calls.
func (w *Writer) Write(p []byte) (int, error) {
	written := 0
	for len(p) > 0 && w.err == nil {
		if w.n == ChunkSize { // not the last chunk: more bytes follow
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

// Close writes the last chunk. It does not close the underlying writer.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	w.flush(true)
	err := w.err
	if err == nil {
		w.err = errors.New("stream: the writer is closed")
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

// Reader decrypts a stream. It is not safe for concurrent use.
type Reader struct {
	chunks
	r     io.Reader
	next  [1]byte // the byte after the chunk in buf, if more
	more  bool    // whether a chunk follows
	begun bool    // whether a chunk was opened
	rest  []byte  // the part of buf that is decrypted and not yet read
	err   error   // the error, or io.EOF, that ended the stream
}

// NewReader returns a Reader of the stream r under a key of KeySize bytes; another length
// panics. Read returns ErrCorrupt before any byte of a chunk that is not authentic.
func NewReader(r io.Reader, key []byte) *Reader { return &Reader{chunks: newChunks(key), r: r} }

// Read reads decrypted bytes. An error of the underlying reader is returned as it is.
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
	if !last { // the chunk is full and may be the last
		switch _, err := io.ReadFull(r.r, r.next[:]); {
		case err == io.EOF:
			last = true
		case err != nil:
			r.err = err
			return
		}
	}
	if last && r.begun && n <= tagSize { // a chunk is empty only in an empty stream
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
