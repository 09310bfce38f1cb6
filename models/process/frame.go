package process

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

const (
	// maxAnswer is how many bytes a frame of a program may have. Chosen: 10,000 segments.
	maxAnswer = 1 << 20

	// sampleRate is the rate of the samples in Hz, that of most published models.
	sampleRate = 16000

	// sampleBytes is the size of a sample.
	sampleBytes = 4

	// block is how many samples are written at a time. Chosen.
	block = 8192
)

// readFrame reads a frame of at most maxAnswer bytes. Memory grows with the bytes that
// arrive. Its errors are ErrProtocol, io.EOF before a frame, and those of r.
func readFrame(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n == 0 || n > maxAnswer {
		return nil, fmt.Errorf("%w: a frame of %d bytes, want 1 to %d (is something printed to standard output?)", ErrProtocol, n, maxAnswer)
	}
	var b bytes.Buffer
	if _, err := io.CopyN(&b, r, int64(n)); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return b.Bytes(), nil
}

// writeFrame writes a frame.
func writeFrame(w io.Writer, data []byte) error {
	if _, err := w.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(data)))); err != nil {
		return err
	}
	_, err := w.Write(data)
	return err
}

// maxSamples is how many samples fit into a frame: 18 hours.
const maxSamples = math.MaxUint32 / sampleBytes

// writeSamples writes a frame with the n samples of src, at most maxSamples. One that is
// not finite is 0. An error of src is a *sourceError.
func writeSamples(w io.Writer, src dsp.Samples, n int) error {
	if _, err := w.Write(binary.LittleEndian.AppendUint32(nil, uint32(n*sampleBytes))); err != nil {
		return err
	}
	if err := src.Rewind(); err != nil {
		return &sourceError{err}
	}
	x, out := make([]float64, block), make([]byte, 0, block*sampleBytes)
	for n > 0 {
		got, err := src.Read(x[:min(n, block)])
		if err == io.EOF {
			err = dsp.ErrChanged
		}
		if err != nil {
			return &sourceError{err}
		}
		out = out[:0]
		for _, v := range x[:got] {
			if !dsp.Finite(v) {
				v = 0
			}
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(v)))
		}
		if _, err := w.Write(out); err != nil {
			return err
		}
		n -= got
	}
	return nil
}

// sourceError is an error of the recording, not of the program.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return "process: read the recording: " + e.err.Error() }
func (e *sourceError) Unwrap() error { return e.err }
