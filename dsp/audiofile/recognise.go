package audiofile

import (
	"bufio"
	"bytes"
)

// kind is a format that is read. The zero value is what package wav reads or refuses.
type kind uint8

const (
	kindWAV kind = iota
	kindFLAC
	kindMP3
	kindOgg
	kindWebM
)

// refused are the formats that are recognised by their first bytes and not read, with
// the usual extension of their files.
var refused = []struct{ magic, name, extension string }{
	{"FORM", "AIFF", "aiff"},
	{"caff", "CAF", "caf"},
	{"#!AMR", "AMR", "amr"},
	{"\x30\x26\xb2\x75", "WMA (ASF)", "wma"},
	{".snd", "AU", "au"},
	{"NIST_1A", "NIST SPHERE", "sph"},
	{"wvpk", "WavPack", "wv"},
	{"MAC ", "Monkey's Audio", "ape"},
	{"TTA1", "TTA", "tta"},
	{"MPCK", "Musepack", "mpc"},
	{"MP+", "Musepack", "mpc"},
	{"DSD ", "DSF", "dsf"},
	{"FRM8", "DSDIFF", "dff"},
	{".RMF", "RealMedia", "rm"},
	{"FLV\x01", "Flash video", "flv"},
	{"ADIF", "AAC", "aac"},
	{"riff\x2e\x91\xcf\x11", "Wave64", "w64"},
	{"\x0b\x77", "AC-3", "ac3"},
	{"\x00\x00\x01\xba", "MPEG program stream", "mpg"},
	{"\x7f\xfe\x80\x01", "DTS", "dts"},
	{"Creative Voice File\x1a", "VOC", "voc"},
}

// recognise finds the format of a file by its first bytes. It skips ID3 tags, which
// stand before MP3, and by mistake before FLAC and AAC.
func recognise(b *bufio.Reader) (kind, error) {
	head, _ := b.Peek(12) // an error comes back at the next read
	if isRIFF(head) {
		return kindWAV, nil
	}
	tagged := false
	for bytes.HasPrefix(head, []byte("ID3")) {
		if err := skipID3(b); err != nil {
			return 0, err
		}
		tagged = true
		head, _ = b.Peek(12)
	}
	switch {
	case bytes.HasPrefix(head, []byte("fLaC")):
		return kindFLAC, nil
	case bytes.HasPrefix(head, []byte("OggS")):
		return kindOgg, nil
	case bytes.HasPrefix(head, []byte("\x1a\x45\xdf\xa3")):
		return kindWebM, nil
	case len(head) >= 8 && string(head[4:8]) == "ftyp":
		return 0, refuse("MP4 file, of which AAC is not read", "m4a")
	case len(head) >= 4 && isTransportStream(b):
		return 0, refuse("MPEG transport stream", "ts")
	}
	for _, f := range refused {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return 0, refuse(f.name+" file", f.extension)
		}
	}
	if len(head) >= 2 && head[0] == 0xff && head[1]&0xf6 == 0xf0 { // ADTS: frame sync, layer 0
		return 0, refuse("AAC file", "aac")
	}
	if found, err := startsMP3(b); found || err != nil {
		return kindMP3, err
	}
	if tagged || len(head) >= 2 && head[0] == 0xff && head[1]&0xe6 == 0xe2 { // frame sync, layer III
		return 0, fault("MP3", "no frame that a second one follows")
	}
	return kindWAV, nil
}

func isRIFF(b []byte) bool {
	if len(b) < 4 {
		return false
	}
	switch string(b[:4]) {
	case "RIFF", "RIFX", "RF64", "BW64":
		return true
	}
	return false
}

// isTransportStream reports whether packets of 188 bytes begin with their sync byte.
func isTransportStream(b *bufio.Reader) bool {
	const packet, sync = 188, 0x47
	if head, _ := b.Peek(1); len(head) == 0 || head[0] != sync {
		return false
	}
	head, _ := b.Peek(2*packet + 1)
	return len(head) > 2*packet && head[packet] == sync && head[2*packet] == sync
}

// skipID3 discards an ID3v2 tag (id3.org: ID3v2.4 section 3.1). Its size is bounded by
// the format: 256 MiB.
func skipID3(b *bufio.Reader) error {
	head, _ := b.Peek(10)
	if len(head) < 10 {
		return fault("MP3", "file ends in the ID3 tag")
	}
	n := 10
	for i, v := range head[6:10] {
		n += int(v&0x7f) << (7 * (3 - i))
	}
	if head[5]&0x10 != 0 { // a footer
		n += 10
	}
	if _, err := b.Discard(n); err != nil {
		return fault("MP3", "file ends in the ID3 tag")
	}
	return nil
}
