package wav

import (
	"encoding/binary"
	"fmt"
	"io"
)

// adpcm decodes blocks of IMA ADPCM (IMA, "Recommended Practices for Enhancing Digital
// Audio Compatibility", revision 3.00, 1992; blocks as in Microsoft's "New Multimedia Data
// Types", 1994): for each channel the first sample and the step index, then groups of 8
// samples of 4 bits, of the channels in turn.
type adpcm struct {
	channels int
	align    int   // bytes of a block
	left     int64 // samples of a channel still to return; unknown: all
	out      []byte
}

// checkBlock returns an error for a size of blocks that does not fit the layout.
func checkBlock(align, channels int) error {
	if align > bufferSize {
		return UnsupportedError(fmt.Sprintf("IMA ADPCM in blocks of %d bytes, at most %d are read", align, bufferSize))
	}
	if align < 4*channels || align%(4*channels) != 0 {
		return FormatError(fmt.Sprintf("blocks of %d bytes for %d channels of IMA ADPCM", align, channels))
	}
	return nil
}

// newADPCM returns a decoder. The samples of the fact chunk count if they end within the
// last block.
func newADPCM(channels, align int, samples, dataSize int64) *adpcm {
	a := &adpcm{channels: channels, align: align, left: unknown}
	blocks := (dataSize + int64(align) - 1) / int64(align)
	if each := int64(a.samples(align)); dataSize != unknown && samples > (blocks-1)*each && samples < blocks*each {
		a.left = samples
	}
	return a
}

// samples is the number of samples of a channel in a block of n bytes.
func (a *adpcm) samples(n int) int { return 1 + (n/(4*a.channels)-1)*8 }

// fillADPCM decodes the n bytes of a block in buf into pending. An incomplete group at the
// end of the file is dropped.
func (r *Reader) fillADPCM(n int) {
	a := r.adpcm
	if n < 4*a.channels {
		r.pending = nil
		return
	}
	var err error
	a.out, err = a.decode(a.out[:0], r.buf[:n/(4*a.channels)*4*a.channels])
	if err != nil {
		r.err, r.pending = err, nil
		return
	}
	r.pending = a.out
	if a.left != unknown {
		frames := min(int64(len(a.out)/(2*a.channels)), a.left)
		a.left -= frames
		r.pending = a.out[:int(frames)*2*a.channels]
		if a.left == 0 && r.err == nil {
			r.err = io.EOF
		}
	}
}

// decode appends the samples of a block, 16 bits each and interleaved.
func (a *adpcm) decode(out, b []byte) ([]byte, error) {
	groups := len(b)/(4*a.channels) - 1
	n := a.samples(len(b)) * a.channels * 2
	for range n {
		out = append(out, 0)
	}
	for c := range a.channels {
		head := b[4*c:]
		v, index := int(int16(binary.LittleEndian.Uint16(head))), int(head[2])
		if index >= len(imaSteps) {
			return nil, FormatError(fmt.Sprintf("step index of %d in a block of IMA ADPCM", index))
		}
		at := 2 * c
		binary.LittleEndian.PutUint16(out[at:], uint16(v))
		for g := range groups {
			for _, nibbles := range b[4*(a.channels*(g+1)+c):][:4] {
				for _, code := range [2]byte{nibbles & 15, nibbles >> 4} {
					v, index = imaNext(v, index, int(code))
					at += 2 * a.channels
					binary.LittleEndian.PutUint16(out[at:], uint16(v))
				}
			}
		}
	}
	return out, nil
}

// imaNext returns the sample after v, and the index of the step after it.
func imaNext(v, index, code int) (int, int) {
	step := imaSteps[index]
	d := step >> 3
	if code&4 != 0 {
		d += step
	}
	if code&2 != 0 {
		d += step >> 1
	}
	if code&1 != 0 {
		d += step >> 2
	}
	if code&8 != 0 {
		d = -d
	}
	return min(max(v+d, -1<<15), 1<<15-1), min(max(index+imaIndex[code&7], 0), len(imaSteps)-1)
}

var imaIndex = [8]int{-1, -1, -1, -1, 2, 4, 6, 8}

var imaSteps = [89]int{
	7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21, 23, 25, 28, 31, 34, 37, 41, 45, 50, 55, 60, 66,
	73, 80, 88, 97, 107, 118, 130, 143, 157, 173, 190, 209, 230, 253, 279, 307, 337, 371, 408,
	449, 494, 544, 598, 658, 724, 796, 876, 963, 1060, 1166, 1282, 1411, 1552, 1707, 1878, 2066,
	2272, 2499, 2749, 3024, 3327, 3660, 4026, 4428, 4871, 5358, 5894, 6484, 7132, 7845, 8630,
	9493, 10442, 11487, 12635, 13899, 15289, 16818, 18500, 20350, 22385, 24623, 27086, 29794, 32767,
}
