package audiofile_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/dsp/audiofile"
	"github.com/voicescreen/voicescreen/dsp/wav"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
)

// page makes an Ogg page of whole packets of less than 255 bytes.
func page(flags byte, granule int64, serial, number uint32, packets ...string) []byte {
	b := []byte("OggS\x00")
	b = append(b, flags)
	b = binary.LittleEndian.AppendUint64(b, uint64(granule))
	b = binary.LittleEndian.AppendUint32(b, serial)
	b = binary.LittleEndian.AppendUint32(b, number)
	b = append(b, 0, 0, 0, 0, byte(len(packets)))
	for _, p := range packets {
		b = append(b, byte(len(p)))
	}
	for _, p := range packets {
		b = append(b, p...)
	}
	crc := uint32(0) // the definition of RFC 3533, bit by bit
	for _, v := range b {
		crc ^= uint32(v) << 24
		for range 8 {
			if crc>>31 != 0 {
				crc = crc<<1 ^ 0x04c11db7
			} else {
				crc <<= 1
			}
		}
	}
	binary.LittleEndian.PutUint32(b[22:], crc)
	return b
}

// opusHead is the header of a stream of Opus.
func opusHead(channels byte, preSkip uint16, gain int16) string {
	b := append([]byte("OpusHead\x01"), channels)
	b = binary.LittleEndian.AppendUint16(b, preSkip)
	b = binary.LittleEndian.AppendUint32(b, 48000)
	b = binary.LittleEndian.AppendUint16(b, uint16(gain))
	return string(append(b, 0))
}

const opusTags = "OpusTags\x00\x00\x00\x00\x00\x00\x00\x00"

// silence is a packet of 20 ms: CELT of one channel, without data.
const silence = "\xf8\xff\xfe"

func opusFile(pages ...[]byte) []byte {
	return bytes.Join(append([][]byte{page(2, 0, 7, 0, opusHead(1, 312, 0)), page(0, 0, 7, 1, opusTags)}, pages...), nil)
}

func TestOggPagesSayWhatIsSound(t *testing.T) {
	other := page(2, 0, 99, 0, "fishead\x00")
	for name, c := range map[string]struct {
		file      []byte
		samples   int
		truncated bool
	}{
		"all packets":     {opusFile(page(4, 3*960, 7, 2, silence, silence, silence)), 3*960 - 312, false},
		"padding":         {opusFile(page(0, 960, 7, 2, silence), page(4, 2000, 7, 3, silence, silence)), 2000 - 312, false},
		"padding alone":   {opusFile(page(4, 500, 7, 2, silence, silence)), 500 - 312, false},
		"from the middle": {opusFile(page(0, 9e6, 7, 2, silence), page(4, 9e6+100, 7, 3, silence)), 960 + 100 - 312, false},
		"no granule":      {opusFile(page(4, -1, 7, 2, silence)), 960 - 312, false},
		"no last page":    {opusFile(page(0, 960, 7, 2, silence)), 960 - 312, true},
		"no sound":        {opusFile(page(4, 0, 7, 2)), 0, false},
		"multiplexed": {slices.Concat(other, page(2, 0, 7, 0, opusHead(1, 312, 0)), page(0, 0, 99, 1, "x"), page(0, 0, 7, 1, opusTags),
			page(4, 0, 99, 2, "y"), page(4, 960, 7, 2, silence)), 960 - 312, false},
		"chained": {slices.Concat(opusFile(page(4, 960, 7, 2, silence)), page(2, 0, 8, 0, opusHead(1, 100, 0)), page(0, 0, 8, 1, opusTags), page(4, 960, 8, 2, silence)),
			960 - 312 + 960 - 100, false},
		"second one cut": {slices.Concat(opusFile(page(4, 960, 7, 2, silence)), page(2, 0, 8, 0, opusHead(1, 100, 0)), page(0, 0, 8, 1, opusTags)), 960 - 312, true},
	} {
		t.Run(name, func(t *testing.T) {
			x, r, err := decode(bytes.NewReader(c.file), 500)
			if err != nil {
				t.Fatal(err)
			}
			if len(x) != c.samples || r.Truncated() != c.truncated {
				t.Errorf("got %d samples, truncated %t, want %d, %t", len(x), r.Truncated(), c.samples, c.truncated)
			}
		})
	}
}

func TestTheGainOfTheHeaderIsApplied(t *testing.T) {
	file := read(t, "celt32k.opus")
	plain, _, err := decode(bytes.NewReader(file), 4096)
	if err != nil {
		t.Fatal(err)
	}
	first := file[28 : 28+19]
	louder := string(first[:16]) + "\x00\x06" + string(first[18:]) // 6 dB in units of 1/256
	serial := binary.LittleEndian.Uint32(file[14:])
	got, _, err := decode(bytes.NewReader(append(page(2, 0, serial, 0, louder), file[28+19:]...)), 4096)
	if err != nil || len(got) != len(plain) {
		t.Fatalf("got %d samples and error %v, want %d", len(got), err, len(plain))
	}
	const factor = 1.9952623149688795 // 10^(6/20)
	for i := range got {
		if d := got[i] - factor*plain[i]; d > 1e-12 || d < -1e-12 {
			t.Fatalf("sample %d: got %v, want %v·%v", i, got[i], factor, plain[i])
		}
	}
}

func TestDamageIsAnErrorAndNotAGuess(t *testing.T) {
	flip := func(name string, at int) []byte {
		b := read(t, name)
		b[at] ^= 0x10
		return b
	}
	mp3 := read(t, "bare.mp3")
	for name, c := range map[string]struct {
		file []byte
		says string
	}{
		"Ogg page":          {flip("celt32k.opus", 2000), "checksum of page"},
		"Ogg header page":   {flip("celt32k.opus", 40), "checksum of page 1"},
		"bytes for a page":  {append(opusFile(page(0, 960, 7, 2, silence)), strings.Repeat("x", 300)...), "no page"},
		"empty packet":      {opusFile(page(4, 960, 7, 2, "")), "empty packet"},
		"broken packet":     {opusFile(page(4, 960, 7, 2, "\xff\x3f")), "damaged packet"},
		"no continuation":   {opusFile(page(1, 960, 7, 2, silence)), "does not continue"},
		"channels change":   {slices.Concat(opusFile(page(4, 960, 7, 2, silence)), page(2, 0, 8, 0, opusHead(2, 0, 0))), "number of channels changes"},
		"many channels":     {page(2, 0, 7, 0, opusHead(6, 0, 0)), "two channels"},
		"no channels":       {page(2, 0, 7, 0, opusHead(0, 0, 0)), "no channels"},
		"FLAC frame":        {flip("mono16.flac", 10000), "damaged frame"},
		"FLAC without info": {[]byte("fLaC\x84\x00\x00\x22" + strings.Repeat("\x00", 40)), "STREAMINFO"},
		"MP3 with a hole":   {slices.Concat(mp3[:2000], make([]byte, 500), mp3[2000:]), "no frame where one should begin"},
		"WebM element":      {flip("live.webm", 600), ""},
		"WebM, no track":    {[]byte("\x1a\x45\xdf\xa3\x80\x18\x53\x80\x67\xff\x16\x54\xae\x6b\x80"), "no track"},
		"WebM, no list":     {[]byte("\x1a\x45\xdf\xa3\x80\x18\x53\x80\x67\xff\x1f\x43\xb6\x75\xff"), "before its description"},
		"EBML":              {[]byte("\x1a\x45\xdf\xa3\x87\x42\x82\x84mesh\x18\x53\x80\x67\xff"), "WebM and Matroska"},
		"IMA ADPCM index":   {flipTo(read(t, "ima.wav"), 60+2, 89), "step index"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := decode(bytes.NewReader(c.file), 4096)
			if c.says == "" {
				return // any outcome but a panic
			}
			if !isFault(err) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got error %v, want one of the file that says %q", err, c.says)
			}
		})
	}
}

// flipTo sets a byte.
func flipTo(b []byte, at int, v byte) []byte {
	b[at] = v
	return b
}

// isFault reports whether err is about the file.
func isFault(err error) bool {
	var format audiofile.FormatError
	var unsupported audiofile.UnsupportedError
	var wavFormat wav.FormatError
	var wavUnsupported wav.UnsupportedError
	return errors.As(err, &format) || errors.As(err, &unsupported) || errors.As(err, &wavFormat) || errors.As(err, &wavUnsupported)
}

func TestTagsBesideTheSoundAreIgnored(t *testing.T) {
	id3 := "ID3\x04\x00\x00\x00\x00\x02\x00" + strings.Repeat("\xff", 256) // a tag full of what begins a frame
	for name, file := range map[string][]byte{
		"before FLAC":   append([]byte(id3), read(t, "mono16.flac")...),
		"before MP3":    append([]byte(id3), read(t, "mono48.mp3")...),
		"two":           append([]byte(id3+id3), read(t, "mono48.mp3")...),
		"after MP3":     append(read(t, "mono48.mp3"), "TAG"+strings.Repeat("\x00", 125)...),
		"after FLAC":    append(read(t, "mono16.flac"), "TAG"+strings.Repeat("\x00", 125)...),
		"APE":           append(read(t, "bare.mp3"), "APETAGEX"+strings.Repeat("\x00", 24)...),
		"bytes of none": append(read(t, "bare.mp3"), strings.Repeat("\x00x", 300)...),
	} {
		x, r, err := decode(bytes.NewReader(file), 4096)
		if err != nil || r.Truncated() || len(x) < 4000 {
			t.Errorf("%s: got %d samples and error %v, want those of the file", name, len(x), err)
		}
	}
}

// TestHostileFilesCostLittle reads files whose numbers promise much, and files that are
// decoded to thousands of times their size, of which a caller reads a part.
func TestHostileFilesCostLittle(t *testing.T) {
	big := strings.Repeat("\x00", 60000)
	tag := "ID3\x04\x00\x00\x7f\x7f\x7f\x7f" + big
	segment := "\x1a\x45\xdf\xa3\x80\x18\x53\x80\x67\xff"
	info := "fLaC\x00\x00\x00\x22\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x0b\xb8\x0e\xf0\x00\x00\x00\x00" + strings.Repeat("\x00", 16)
	for name, file := range map[string]string{
		"tag of 256 MiB":       tag,
		"tracks of 2^55 bytes": segment + "\x16\x54\xae\x6b\x01\x7f\xff\xff\xff\xff\xff\xff" + big,
		"void of 2^55 bytes":   segment + "\xec\x01\x7f\xff\xff\xff\xff\xff\xff" + big,
		"header of 2^55 bytes": "\x1a\x45\xdf\xa3\x01\x7f\xff\xff\xff\xff\xff\xff" + big,
		"FLAC picture":         "fLaC\x00\x00\x00\x22" + info[8:42] + "\x86\xff\xff\xff" + big,
		"FLAC block of 65535":  info + "\x84\x00\x00\x00" + "\xff\xf8\x7a\x78\x00\xff\xfe\x00" + big,
		"WAV of 4 GiB":         riff(1)[:40] + "\xf0\xff\xff\x7f" + big,
	} {
		t.Run(name, func(t *testing.T) {
			cost.CheckResult(t, len(file), func() int {
				x, _, _ := decode(strings.NewReader(file), 4096)
				return 16 * len(x)
			})
		})
	}
	t.Run("silence", func(t *testing.T) {
		const long = "\xe3\x30" // 48 frames of 2.5 ms without a byte
		pages := [][]byte{}
		for i := range 40 {
			pages = append(pages, page(0, -1, 7, uint32(2+i), slices.Repeat([]string{long}, 250)...))
		}
		file := opusFile(pages...) // 30 KB, 20 minutes
		r, err := audiofile.NewReader(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		block := make([]float64, 4096)
		cost.CheckResult(t, len(file), func() int {
			n := 0
			for n < 1<<18 {
				m, err := r.Read(block)
				if n += m; err != nil {
					t.Fatalf("after %d samples: %v", n, err)
				}
			}
			return 8 * n
		})
	})
}

// TestMemoryDoesNotGrowWithTheRecording decodes a long chain and looks at the heap in use.
func TestMemoryDoesNotGrowWithTheRecording(t *testing.T) {
	one := read(t, "celt48k-stereo.opus")
	r, err := audiofile.NewReader(&repeated{b: one, times: 25})
	if err != nil {
		t.Fatal(err)
	}
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	block := make([]float64, 4096)
	n, before := 0, uint64(0)
	for {
		m, err := r.Read(block)
		if n += m; err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if before == 0 {
			before = inUse()
		}
	}
	if grown := int64(inUse()) - int64(before); n < 25*28800*2 || grown > 256<<10 {
		t.Errorf("%d samples: the heap grew by %d bytes, want at most 256 KiB", n, grown)
	}
	runtime.KeepAlive(r)
}

// repeated is a file many times over.
type repeated struct {
	b     []byte
	at    int
	times int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.at == len(r.b) {
		r.at = 0
		r.times--
	}
	if r.times == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.b[r.at:])
	r.at += n
	return n, nil
}

// FuzzReader reads any bytes as the format that they begin like. There are samples or an
// error about the file, at a bounded cost, and however they come they are the same.
func FuzzReader(f *testing.F) {
	for name := range files {
		f.Add(read(f, name))
	}
	f.Add(opusFile(page(0, 960, 7, 2, silence), page(4, 2000, 7, 3, silence, silence)))
	const most = 1 << 19 // samples: what follows is not read
	x := make([]float64, most+4096)
	f.Fuzz(func(t *testing.T, file []byte) {
		read := func() (n int, err error) {
			r, err := audiofile.NewReader(bytes.NewReader(file))
			if err != nil {
				return 0, err
			}
			x = x[:0]
			for len(x) < most && err == nil {
				n, err = r.Read(x[len(x) : len(x)+4096 : cap(x)])
				x = x[:len(x)+n]
			}
			if len(x)%r.Format().Channels != 0 && len(x) < most {
				t.Fatalf("%d samples of %d channels", len(x), r.Format().Channels)
			}
			return len(x), err
		}
		var err error
		// A FLAC frame may have a table of 2^15 partitions for each channel, whatever is in it.
		const frame = 8 * (1<<15*16 + 65535*4)
		cost.CheckResult(t, 8*len(file)+frame/cost.PerByte, func() int {
			var n int
			n, err = read()
			return 16 * n
		})
		if err != nil && err != io.EOF && !isFault(err) {
			t.Fatalf("got error %v", err)
		}
	})
}

// TestFLACWithoutMetadata reads a file whose only block is STREAMINFO, as programs leave
// it that remove tags.
func TestFLACWithoutMetadata(t *testing.T) {
	file := read(t, "mono16.flac")
	want, _, err := decode(bytes.NewReader(file), 4096)
	if err != nil {
		t.Fatal(err)
	}
	at := 4 // of a metadata block: a byte with its kind, three with its length
	for last := false; !last; {
		last = file[at]&0x80 != 0
		at += 4 + int(file[at+1])<<16 + int(file[at+2])<<8 + int(file[at+3])
	}
	bare := append([]byte("fLaC\x80"), file[5:42]...)
	got, _, err := decode(bytes.NewReader(append(bare, file[at:]...)), 4096)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %d samples and error %v, want the %d of the whole file", len(got), err, len(want))
	}
}
