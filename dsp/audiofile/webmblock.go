package audiofile

import (
	"bufio"
	"io"
)

// webmDecoder decodes the Opus track of a WebM or Matroska file.
type webmDecoder struct {
	r       webmReader
	track   uint64
	opus    *opusStream
	end     int64 // where the sound ends at least, by the sizes of the segment and of clusters
	packets [][]byte
	discard int64 // samples of a channel to drop at the end of the last packet
	cut     bool
}

func newWebM(b *bufio.Reader) (decoder, Format, error) {
	d := &webmDecoder{r: webmReader{b: b}}
	track, end, err := d.r.readHeader()
	if err != nil {
		return nil, Format{}, err
	}
	head, err := parseOpusHead(track.private, "Opus in WebM", "webm")
	if err != nil {
		return nil, Format{}, err
	}
	if d.opus, err = newOpusStream(head); err != nil {
		return nil, Format{}, err
	}
	d.track = track.number
	if end != unknownSize {
		d.end = end
	}
	return d, head.format("Opus in WebM"), nil
}

func (d *webmDecoder) truncated() bool { return d.cut }

// next decodes a packet.
func (d *webmDecoder) next() ([]float64, error) {
	for len(d.packets) == 0 {
		err := d.nextBlock()
		if ended(err) {
			d.cut = err != io.EOF || d.r.pos < d.end
			return nil, io.EOF
		}
		if err != nil {
			return nil, err
		}
	}
	packet := d.packets[0]
	d.packets = d.packets[1:]
	if len(packet) == 0 {
		return nil, fault("Opus in WebM", "empty packet after packet %d", d.opus.count)
	}
	x, _, err := d.opus.decode(packet)
	if err != nil {
		return nil, err
	}
	if len(d.packets) == 0 && d.discard > 0 {
		x = x[:max(len(x)-int(min(d.discard, maxOpusPacket))*d.opus.head.channels, 0)]
		d.discard = 0
	}
	return x, nil
}

// nextBlock reads the packets of the next block. Clusters are entered, whatever their
// size is.
func (d *webmDecoder) nextBlock() error {
	for {
		id, size, err := d.r.element()
		if err != nil {
			return err
		}
		switch id {
		case mkvCluster:
			if size != unknownSize {
				d.end = max(d.end, d.r.pos+min(size, unknownSize-d.r.pos))
			}
		case mkvSimple:
			return d.readBlock(size)
		case mkvGroup:
			return d.readGroup(size)
		default:
			if err := d.r.skip(id, size); err != nil {
				return err
			}
		}
	}
}

// readBlock reads a block by itself.
func (d *webmDecoder) readBlock(size int64) error {
	if ours, err := d.ours(); err != nil || !ours {
		if err != nil {
			return err
		}
		return d.r.skip(mkvSimple, size)
	}
	body, err := d.r.read(mkvSimple, size)
	if err != nil {
		return err
	}
	return d.parseBlock(body)
}

// readGroup reads a block with what belongs to it.
func (d *webmDecoder) readGroup(size int64) error {
	if size > maxElement { // of a picture, or broken
		return d.r.skip(mkvGroup, size)
	}
	group, err := d.r.read(mkvGroup, size)
	if err != nil {
		return err
	}
	discard := int64(0)
	for len(group) > 0 {
		id, body, rest, ok := element(group)
		if !ok {
			return fault("WebM", "broken group of a block")
		}
		switch id {
		case mkvBlock:
			if err := d.parseBlock(body); err != nil {
				return err
			}
		case mkvDiscard:
			if len(body) > 0 && len(body) <= 8 && body[0]&0x80 == 0 { // ns
				discard = int64(float64(integer(body))*opusRate/1e9 + 0.5)
			}
		}
		group = rest
	}
	if len(d.packets) > 0 {
		d.discard = discard
	}
	return nil
}

// ours reports whether the block that follows is one of the track.
func (d *webmDecoder) ours() (bool, error) {
	head, err := d.r.b.Peek(1)
	if len(head) == 0 {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return false, err
	}
	if head[0]&0x80 == 0 || d.track > 126 { // a number of several bytes: parseBlock looks
		return true, nil
	}
	return uint64(head[0]&0x7f) == d.track, nil
}

// parseBlock finds the packets of a block (RFC 9559 section 10), which may be of another
// track.
func (d *webmDecoder) parseBlock(b []byte) error {
	broken := fault("WebM", "broken block after packet %d", d.opus.count)
	number, n := parseVint(b)
	if n == 0 || len(b) < n+3 {
		return broken
	}
	if number != d.track {
		return nil
	}
	lacing := b[n+2] >> 1 & 3
	b = b[n+3:]
	d.packets = d.packets[:0]
	if lacing == 0 {
		d.packets = append(d.packets, b)
		return nil
	}
	sizes, b, ok := laceSizes(lacing, b)
	if !ok {
		return broken
	}
	for _, size := range sizes {
		if size < 0 || size > len(b) {
			return broken
		}
		d.packets = append(d.packets, b[:size])
		b = b[size:]
	}
	return nil
}

// laceSizes returns the sizes of the packets in a block with lacing (1 Xiph, 2 fixed size,
// 3 EBML), and the packets.
func laceSizes(lacing byte, b []byte) (sizes []int, packets []byte, ok bool) {
	if len(b) == 0 {
		return nil, nil, false
	}
	count := int(b[0]) + 1
	b = b[1:]
	sizes = make([]int, 0, 256)
	total := 0
	for i := range count - 1 {
		switch lacing {
		case 1:
			size := 0
			for {
				if len(b) == 0 {
					return nil, nil, false
				}
				v := b[0]
				b = b[1:]
				size += int(v)
				if v < 255 {
					break
				}
			}
			sizes = append(sizes, size)
		case 3:
			v, n := parseVint(b)
			if n == 0 || v > maxElement*2 && n < 4 || n > 4 {
				return nil, nil, false
			}
			b = b[n:]
			size := int(v)
			if i > 0 { // a difference, around the middle of the range
				size = sizes[i-1] + int(v) - (1<<(7*n-1) - 1)
			}
			if size < 0 {
				return nil, nil, false
			}
			sizes = append(sizes, size)
		case 2:
			sizes = append(sizes, len(b)/count)
		}
		total += sizes[i]
	}
	if lacing == 2 && len(b)%count != 0 || total > len(b) {
		return nil, nil, false
	}
	return append(sizes, len(b)-total), b, true
}

// parseVint reads an integer of variable length of up to 8 bytes; n is 0 if there is none.
func parseVint(b []byte) (v uint64, n int) {
	if len(b) == 0 || b[0] == 0 {
		return 0, 0
	}
	n = 1
	for b[0]&(0x80>>(n-1)) == 0 {
		n++
	}
	if len(b) < n {
		return 0, 0
	}
	v = uint64(b[0]) & (0xff >> n)
	for _, c := range b[1:n] {
		v = v<<8 | uint64(c)
	}
	return v, n
}
