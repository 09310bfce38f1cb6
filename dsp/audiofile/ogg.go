package audiofile

import (
	"bufio"
	"encoding/binary"
	"io"
)

// oggPage is a page of an Ogg file (RFC 3533 section 6).
type oggPage struct {
	flags   byte
	granule int64 // position of the last sample that ends on the page; −1 for none
	serial  uint32
	lacing  []byte
	body    []byte
}

const (
	oggContinued = 1 // flags
	oggFirst     = 2
	oggLast      = 4

	oggHeaderSize = 27
)

// oggPages reads the pages of a file.
type oggPages struct {
	b    *bufio.Reader
	n    int
	page oggPage
	head [oggHeaderSize + 255]byte
	data [255 * 255]byte
}

// next reads a page, which is valid until the next call. The error is io.EOF at the end of
// the file and io.ErrUnexpectedEOF within a page.
func (p *oggPages) next() (*oggPage, error) {
	head := p.head[:oggHeaderSize]
	if _, err := io.ReadFull(p.b, head); err != nil {
		return nil, err
	}
	p.n++
	if string(head[:4]) != "OggS" || head[4] != 0 {
		return nil, fault("Ogg", "no page where page %d should begin", p.n)
	}
	lacing := p.head[oggHeaderSize : oggHeaderSize+int(head[26])]
	if _, err := io.ReadFull(p.b, lacing); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	size := 0
	for _, v := range lacing {
		size += int(v)
	}
	body := p.data[:size]
	if _, err := io.ReadFull(p.b, body); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	want := binary.LittleEndian.Uint32(head[22:])
	copy(head[22:26], "\x00\x00\x00\x00")
	if oggCRC(oggCRC(oggCRC(0, head), lacing), body) != want {
		return nil, fault("Ogg", "wrong checksum of page %d", p.n)
	}
	p.page = oggPage{
		flags: head[5], granule: int64(binary.LittleEndian.Uint64(head[6:])),
		serial: binary.LittleEndian.Uint32(head[14:]), lacing: lacing, body: body,
	}
	return &p.page, nil
}

// oggTable is the table of the CRC of polynomial 0x04c11db7, high bit first.
var oggTable = func() (t [256]uint32) {
	for i := range t {
		c := uint32(i) << 24
		for range 8 {
			if c>>31 != 0 {
				c = c<<1 ^ 0x04c11db7
			} else {
				c <<= 1
			}
		}
		t[i] = c
	}
	return t
}()

func oggCRC(c uint32, b []byte) uint32 {
	for _, v := range b {
		c = c<<8 ^ oggTable[byte(c>>24)^v]
	}
	return c
}

// oggDecoder decodes the first Opus stream of a file, and those chained after it. Streams
// that are multiplexed with it are ignored.
type oggDecoder struct {
	pages  oggPages
	serial uint32
	opus   *opusStream
	tags   bool // whether the comment packet has been read

	page   *oggPage // under way; nil: none
	packet []byte   // that began on an earlier page, so far
	within bool     // whether the page before ended within a packet
	before int64    // granule position at the end of the page under way, unless it is the last
	left   int64    // samples of a channel that the last page of a stream may still return; −1: any
	last   bool     // whether the last page of a stream was read
	cut    bool
}

func newOgg(b *bufio.Reader) (decoder, Format, error) {
	d := &oggDecoder{pages: oggPages{b: b}}
	other := ""
	for { // all streams begin before the first page of sound
		page, err := d.pages.next()
		if ended(err) {
			return nil, Format{}, fault("Ogg", "file ends in its header")
		}
		if err != nil {
			return nil, Format{}, err
		}
		if page.flags&oggFirst == 0 {
			if other == "" {
				return nil, Format{}, fault("Ogg", "no stream of sound")
			}
			return nil, Format{}, refuse(other+" in Ogg", "ogg")
		}
		if !isOpusHead(page.body) {
			if name := oggCodec(page.body); other == "" {
				other = name
			}
			continue
		}
		if err := d.begin(page); err != nil {
			return nil, Format{}, err
		}
		return d, d.opus.head.format("Opus in Ogg"), nil
	}
}

func isOpusHead(b []byte) bool { return len(b) >= 8 && string(b[:8]) == "OpusHead" }

// oggCodec names the codec of a stream by its first packet; "" for what is not sound.
func oggCodec(b []byte) string {
	for magic, name := range map[string]string{"\x01vorbis": "Vorbis", "\x7fFLAC": "FLAC", "Speex   ": "Speex"} {
		if len(b) >= len(magic) && string(b[:len(magic)]) == magic {
			return name
		}
	}
	return ""
}

// begin starts the stream whose first page is page.
func (d *oggDecoder) begin(page *oggPage) error {
	h, err := parseOpusHead(page.body, "Opus in Ogg", "ogg")
	switch {
	case err != nil:
		return err
	case d.opus == nil:
		d.opus, err = newOpusStream(h)
		if err != nil {
			return err
		}
	case h.channels != d.opus.head.channels:
		return UnsupportedError("Opus in Ogg whose number of channels changes")
	default:
		d.opus.begin(h)
	}
	d.serial, d.tags, d.last = page.serial, false, false
	d.packet, d.within, d.page = d.packet[:0], false, nil
	d.before, d.left = 0, -1
	return nil
}

func (d *oggDecoder) truncated() bool { return d.cut }

// next decodes a packet.
func (d *oggDecoder) next() ([]float64, error) {
	for {
		packet, err := d.nextPacket()
		switch {
		case ended(err):
			d.cut = !d.last || err != io.EOF
			return nil, io.EOF
		case err != nil:
			return nil, err
		case !d.tags:
			d.tags = true
			continue
		case len(packet) == 0:
			return nil, fault("Opus in Ogg", "empty packet after packet %d", d.opus.count)
		}
		x, n, err := d.opus.decode(packet)
		if err != nil {
			return nil, err
		}
		if d.left >= 0 { // the last page: the end of its last packets is padding
			extra := max(int64(n)-d.left, 0)
			d.left = max(d.left-int64(n), 0)
			x = x[:max(len(x)-int(extra)*d.opus.head.channels, 0)]
		}
		return x, nil
	}
}

// nextPacket returns the next packet of the stream, which is valid until the next call.
func (d *oggDecoder) nextPacket() ([]byte, error) {
	whole := false // whether d.packet was returned
	for {
		if d.page == nil {
			if err := d.nextPage(); err != nil {
				return nil, err
			}
		}
		p := d.page
		n, i := 0, 0
		for i < len(p.lacing) {
			n += int(p.lacing[i])
			i++
			if p.lacing[i-1] < 255 {
				whole = true
				break
			}
		}
		part := p.body[:n]
		p.lacing, p.body = p.lacing[i:], p.body[n:]
		if len(p.lacing) == 0 {
			d.page = nil
		}
		if len(d.packet) == 0 && whole {
			d.within = false
			return part, nil
		}
		if len(d.packet)+n > maxPacketBytes && d.tags {
			return nil, fault("Opus in Ogg", "packet of more than %d bytes", maxPacketBytes)
		}
		if d.tags {
			d.packet = append(d.packet, part...)
		} else {
			d.packet = d.packet[:0] // of the comments only the end matters
		}
		d.within = !whole
		if whole {
			packet := d.packet
			d.packet = d.packet[:0]
			return packet, nil
		}
	}
}

// nextPage reads pages to the next one of the stream that holds a part of a packet.
func (d *oggDecoder) nextPage() error {
	for {
		page, err := d.pages.next()
		if err != nil {
			if err == io.EOF && d.within {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		if d.last && page.flags&oggFirst != 0 && isOpusHead(page.body) {
			if err := d.begin(page); err != nil {
				return err
			}
			continue
		}
		if page.serial != d.serial || d.last {
			continue
		}
		if d.within != (page.flags&oggContinued != 0) {
			return fault("Ogg", "page %d does not continue the page before", d.pages.n)
		}
		if page.flags&oggLast != 0 {
			d.last = true
			if page.granule >= 0 {
				d.left = max(page.granule-d.before, 0)
			}
		} else if page.granule >= 0 {
			d.before = page.granule // once the packets of the page are decoded
		}
		if len(page.lacing) > 0 {
			d.page = page
			return nil
		}
	}
}
