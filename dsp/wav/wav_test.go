package wav_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/go-audio/audio"
	oracle "github.com/go-audio/wav"

	"github.com/voicescreen/voicescreen/dsp/wav"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
)

// writeOracle writes samples with github.com/go-audio/wav and returns the file.
func writeOracle(t *testing.T, buf *audio.IntBuffer) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "oracle.wav")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	e := oracle.NewEncoder(f, buf.Format.SampleRate, buf.SourceBitDepth, buf.Format.NumChannels, 1)
	if err := e.Write(buf); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func randomInts(bits, channels, frames int) *audio.IntBuffer {
	rnd := rand.New(rand.NewPCG(uint64(bits), uint64(channels)))
	buf := &audio.IntBuffer{
		Format:         &audio.Format{NumChannels: channels, SampleRate: 48000},
		SourceBitDepth: bits,
		Data:           make([]int, channels*frames),
	}
	for i := range buf.Data {
		buf.Data[i] = rnd.IntN(1<<bits) - 1<<(bits-1)
		if bits == 8 {
			buf.Data[i] += 128
		}
	}
	return buf
}

// What github.com/go-audio/wav v1.1.0 writes is read back exactly, as that
// package reads it, and as FromBuffer takes the buffer itself.
func TestDecodeMatchesOracle(t *testing.T) {
	for _, bits := range []int{8, 16, 24, 32} {
		for _, channels := range []int{1, 2, 3} {
			buf := randomInts(bits, channels, 20000)
			file := writeOracle(t, buf)
			d := oracle.NewDecoder(bytes.NewReader(file))
			read, err := d.FullPCMBuffer()
			if err != nil {
				t.Fatal(err)
			}
			read.SourceBitDepth = bits
			for c := 1; c <= channels; c++ {
				got, err := wav.Decode(bytes.NewReader(file), &wav.DecodeOptions{Channel: c})
				if err != nil {
					t.Fatalf("%d bits, %d channels: %v", bits, channels, err)
				}
				want := wav.Format{SampleRate: 48000, Channels: channels, BitsPerSample: bits, Encoding: wav.PCM}
				if got.Format != want || got.Truncated {
					t.Errorf("got %v, truncated %t, want %v", got.Format, got.Truncated, want)
				}
				for name, b := range map[string]*audio.IntBuffer{"written": buf, "read by the oracle": read} {
					a, err := wav.FromBuffer(b, c)
					if err != nil {
						t.Fatal(err)
					}
					if i := firstDifference(got.Samples, a.Samples); i >= 0 {
						t.Errorf("%d bits, channel %d of %d: sample %d differs from the one %s", bits, c, channels, i, name)
					}
				}
			}
		}
	}
}

// firstDifference returns the first index where a and b differ, -1 if none.
func firstDifference(a, b []float64) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}

// The samples do not depend on the pieces in which the bytes arrive and the samples are
// read.
func TestReadInAnyPieces(t *testing.T) {
	file := riff(format(1, 3, 24), chunk("data", pcm(24, 3)))
	whole := readAll(t, file, bytes.NewReader(file), 1<<20)
	if len(whole) != 3*toneSamples {
		t.Fatalf("got %d samples, want %d", len(whole), 3*toneSamples)
	}
	for _, piece := range []int{1, 2, 7, 1000, 4096} {
		got := readAll(t, file, iotest.OneByteReader(bytes.NewReader(file)), piece)
		if i := firstDifference(got, whole); i >= 0 {
			t.Errorf("pieces of %d: sample %d differs", piece, i)
		}
		got = readAll(t, file, iotest.DataErrReader(bytes.NewReader(file)), piece)
		if i := firstDifference(got, whole); i >= 0 {
			t.Errorf("pieces of %d, last with EOF: sample %d differs", piece, i)
		}
	}
}

func readAll(t *testing.T, file []byte, r io.Reader, piece int) []float64 {
	t.Helper()
	wr, err := wav.NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	var all []float64
	dst := make([]float64, piece)
	for range len(file) + 2 {
		n, err := wr.Read(dst)
		all = append(all, dst[:n]...)
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("Read does not come to an end")
	return nil
}

// Decode reads from the current offset of a file, and recordings longer than a block.
func TestDecodeFromFile(t *testing.T) {
	file := riff(format(1, 2, 16), chunk("data", bytes.Repeat(pcm(16, 2), 100)))
	path := filepath.Join(t.TempDir(), "long.wav")
	if err := os.WriteFile(path, append([]byte("12345"), file...), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Seek(5, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	opts := &wav.DecodeOptions{Channel: 2}
	got, err := wav.Decode(f, opts)
	if err != nil {
		t.Fatal(err)
	}
	want, err := wav.Decode(struct{ io.Reader }{bytes.NewReader(file)}, opts)
	if err != nil {
		t.Fatal(err)
	}
	if i := firstDifference(got.Samples, want.Samples); i >= 0 || len(got.Samples) != 100*toneSamples {
		t.Errorf("got %d samples, want %d, the first difference at %d", len(got.Samples), 100*toneSamples, i)
	}
}

// A connection that breaks is neither a broken nor a truncated file.
func TestErrorOfTheReaderIsKept(t *testing.T) {
	file := riff(format(1, 1, 16), chunk("data", pcm(16, 1)))
	for _, broken := range []error{errors.New("connection reset"), io.ErrUnexpectedEOF} {
		for n := range len(file) {
			r := io.MultiReader(bytes.NewReader(file[:n]), iotest.ErrReader(broken))
			a, err := wav.Decode(r, nil)
			var f wav.FormatError
			if a != nil || !errors.Is(err, broken) || errors.As(err, &f) {
				t.Fatalf("after %d bytes: got %v, %v, want %v", n, a, err, broken)
			}
		}
	}
}

func TestEveryPrefixIsTruncatedOrBroken(t *testing.T) {
	file := riff(format(1, 1, 16), chunk("data", pcm(16, 1)))
	for n := range len(file) {
		a, err := wav.Decode(bytes.NewReader(file[:n]), nil)
		var f wav.FormatError
		if n < 44 && !errors.As(err, &f) {
			t.Fatalf("%d bytes: got %v, want a FormatError", n, err)
		}
		if n >= 44 && (err != nil || !a.Truncated || len(a.Samples) != (n-44)/2) {
			t.Fatalf("%d bytes: got %v, %v, want %d samples, truncated", n, a, err, (n-44)/2)
		}
	}
}

func TestChannelErrors(t *testing.T) {
	file := riff(format(1, 2, 16), chunk("data", pcm(16, 2)))
	for _, channel := range []int{0, 3, -1} {
		_, err := wav.Decode(bytes.NewReader(file), &wav.DecodeOptions{Channel: channel})
		var c *wav.ChannelError
		if !errors.As(err, &c) || c.Channels != 2 || c.Channel != channel {
			t.Errorf("channel %d: got %v, want a ChannelError", channel, err)
		}
	}
}

func TestMaxSamples(t *testing.T) {
	file := riff(format(1, 2, 16), chunk("data", pcm(16, 2)))
	if _, err := wav.Decode(bytes.NewReader(file), &wav.DecodeOptions{Channel: 1, MaxSamples: toneSamples}); err != nil {
		t.Errorf("exactly as many as allowed: %v", err)
	}
	_, err := wav.Decode(bytes.NewReader(file), &wav.DecodeOptions{Channel: 1, MaxSamples: toneSamples - 1})
	if !errors.Is(err, wav.ErrTooLong) {
		t.Errorf("one more than allowed: got %v, want %v", err, wav.ErrTooLong)
	}
}

// The error names the format, so that a user knows what to convert.
func TestUnsupportedIsNamed(t *testing.T) {
	for want, file := range map[string][]byte{
		"µ-law":      riff(format(7, 1, 8)),
		"A-law":      riff(format(6, 1, 8)),
		"IMA ADPCM":  riff(format(0x11, 1, 4)),
		"12-bit PCM": riff(format(1, 1, 12)),
		"Ogg":        []byte("OggS\x00\x02\x00\x00\x00\x00\x00\x00"),
		"MP4":        []byte("\x00\x00\x00\x20ftypM4A "),
		"MP3":        {0xff, 0xfb, 0x90, 0x44, 0, 0, 0, 0, 0, 0, 0, 0},
	} {
		_, err := wav.NewReader(bytes.NewReader(file))
		var u wav.UnsupportedError
		if !errors.As(err, &u) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an UnsupportedError with %s", err, want)
		}
	}
}

// The error about a file in another common format, which its first bytes show, names
// the command that converts it.
func TestUnsupportedNamesTheConversion(t *testing.T) {
	for extension, head := range map[string]string{
		"mp3":  "ID3\x04\x00\x00",
		"m4a":  "\x00\x00\x00\x20ftypM4A ",
		"webm": "\x1a\x45\xdf\xa3\x01\x00\x00\x00",
		"ogg":  "OggS\x00\x02\x00\x00\x00\x00\x00\x00",
		"flac": "fLaC\x00\x00\x00\x22",
		"aiff": "FORM\x00\x00\x00\x00AIFF",
		"amr":  "#!AMR\n",
		"wma":  "\x30\x26\xb2\x75\x8e\x66\xcf\x11",
		"aac":  "\xff\xf1\x50\x80",
		"wav":  string(riff(format(7, 1, 8))), // µ-law
	} {
		_, err := wav.NewReader(strings.NewReader(head + strings.Repeat("\x00", 20)))
		var u wav.UnsupportedError
		want := `convert it with "ffmpeg -i in.` + extension + ` -ac 1 -ar 44100 out.wav"`
		if !errors.As(err, &u) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: got %v, want an UnsupportedError with %s", extension, err, want)
		}
	}
	for name, head := range map[string]string{"text": "this is no sound", "few bytes": "\xff", "zip": "PK\x03\x04 and so on"} {
		var u wav.UnsupportedError
		if _, err := wav.NewReader(strings.NewReader(head)); err == nil || errors.As(err, &u) {
			t.Errorf("%s: got %v, want no UnsupportedError", name, err)
		}
	}
}

// Loud float samples are kept as they are.
func TestFloatBeyondFullScale(t *testing.T) {
	a, err := wav.Decode(bytes.NewReader(riff(format(3, 1, 32), chunk("data", float32s(1.5, -2, 32768)))), nil)
	if err != nil {
		t.Fatal(err)
	}
	if i := firstDifference(a.Samples, []float64{1.5, -2, 32768}); i >= 0 {
		t.Errorf("sample %d: got %v", i, a.Samples)
	}
	if _, err := wav.Decode(bytes.NewReader(riff(format(3, 1, 64), chunk("data", float64s(0, 1e300)))), nil); err == nil {
		t.Error("a sample of 1e300 is taken for audio")
	}
}

// maxHeaderMemory is the most memory that a file of a few bytes may cost, with any
// sizes in its header: a Reader, its buffer and the first block of Decode, with a
// margin.
const maxHeaderMemory = 256 << 10 // bytes

func TestMemoryIsBoundedByTheFile(t *testing.T) {
	hostile := map[string][]byte{
		"data of 4 GiB":    riff(format(1, 1, 16), sized("data", math.MaxUint32, []byte{1, 2})),
		"data of 1 GiB":    riff(format(1, 1, 16), sized("data", 1<<30, []byte{1, 2})),
		"LIST of 2 GiB":    riff(sized("LIST", math.MaxInt32, []byte("INFO"))),
		"fmt of 2 GiB":     riff(sized("fmt ", math.MaxInt32, []byte("INFO"))),
		"RF64 of 2^62":     rf64("RF64", 1<<62),
		"64 channels":      riff(format(1, 64, 16), sized("data", 1<<30, []byte{1, 2})),
		"fmt of 65000":     riff(sized("fmt ", 65000, format(1, 1, 16)[8:])),
		"cue of 4 GiB − 1": riff(sized("cue ", math.MaxUint32-1, nil)),
	}
	for name, file := range hostile {
		_, got := cost.Memory(math.MaxUint64, maxHeaderMemory, func() {
			_, _ = wav.Decode(bytes.NewReader(file), &wav.DecodeOptions{Channel: 1})
		})
		if got > maxHeaderMemory {
			t.Errorf("%s: %d bytes allocated for a file of %d", name, got, len(file))
		}
	}
}

func TestReadAllocatesNothing(t *testing.T) {
	file := riff(format(1, 1, 16), chunk("data", bytes.Repeat(pcm(16, 1), 1000)))
	r, err := wav.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]float64, 4410)
	if n := cost.Allocations(100, func() {
		if _, err := r.Read(dst); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("got %v allocations for each Read, want 0", n)
	}
}

func FuzzDecode(f *testing.F) {
	for _, o := range oddFiles() {
		if len(o.file) < 1<<14 {
			f.Add(o.file, 1)
		}
	}
	f.Fuzz(func(t *testing.T, file []byte, channel int) {
		var a *wav.Audio
		var err error
		cost.CheckResult(t, len(file), func() int {
			a, err = wav.Decode(bytes.NewReader(file), &wav.DecodeOptions{Channel: channel})
			if err != nil {
				return 0
			}
			return 8 * len(a.Samples)
		})
		if (a == nil) == (err == nil) {
			t.Fatalf("got %v, %v, want one of them", a, err)
		}
		if err != nil {
			return
		}
		if a.SampleRate <= 0 || a.Channels <= 0 {
			t.Fatalf("got format %v", a.Format)
		}
		if got, most := len(a.Samples), len(file)/(a.Channels*a.BitsPerSample/8); got > most {
			t.Fatalf("got %d samples out of %d bytes", got, len(file))
		}
		for i, v := range a.Samples {
			if math.IsNaN(v) || math.Abs(v) > 1<<31 || a.Encoding == wav.PCM && (v < -1 || v >= 1) {
				t.Fatalf("sample %d is %v", i, v)
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	const seconds = 60
	data := bytes.Repeat([]byte{0x12, 0x34, 0xf0, 0xff}, seconds*toneRate/2)
	file := riff(format(1, 1, 16), chunk("data", data))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := wav.Decode(bytes.NewReader(file), nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(seconds*float64(b.N)/b.Elapsed().Seconds(), "audio-s/s")
}
