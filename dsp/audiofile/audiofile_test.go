package audiofile_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/voicescreen/voicescreen/dsp/audiofile"
	"github.com/voicescreen/voicescreen/dsp/wav"
)

// read returns a file of testdata.
func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// decode returns all samples of a file, the Reader after them, and the error in place of
// io.EOF.
func decode(r io.Reader, step int) ([]float64, *audiofile.Reader, error) {
	ar, err := audiofile.NewReader(r)
	if err != nil {
		return nil, nil, err
	}
	var x []float64
	block := make([]float64, step)
	for {
		n, err := ar.Read(block)
		x = append(x, block[:n]...)
		if err == io.EOF {
			return x, ar, nil
		}
		if err != nil {
			return x, ar, err
		}
	}
}

// reference is what another decoder makes of a file: see testdata/README.md.
type reference struct {
	Samples int    `json:"samples"`
	SHA256  string `json:"sha256"`
	Every97 string `json:"every97"`
}

// files are those of testdata that are read. Least is the ratio of signal to difference in
// dB: below 75 for the 16 bits of MP3, below 85 for CELT, about 50 for SILK.
var files = map[string]struct {
	format, detail string
	lossy          bool
	least          float64
}{
	"mono16.flac":           {"FLAC", "16-bit PCM, 16000 Hz, 1 ch", false, 0},
	"stereo24.flac":         {"FLAC", "24-bit PCM, 8000 Hz, 2 ch", false, 0},
	"mono48.mp3":            {"MP3", "16-bit PCM, 32000 Hz, 1 ch", true, 72},
	"joint22.mp3":           {"MP3", "16-bit PCM, 22050 Hz, 2 ch", true, 72},
	"bare.mp3":              {"MP3", "16-bit PCM, 48000 Hz, 2 ch", true, 72},
	"silk8k-10ms.opus":      {"Opus in Ogg", "32-bit float, 48000 Hz, 1 ch", true, 39},
	"silk8k.opus":           {"Opus in Ogg", "32-bit float, 48000 Hz, 1 ch", true, 50},
	"silk12k-60ms.opus":     {"Opus in Ogg", "32-bit float, 48000 Hz, 2 ch", true, 50},
	"hybrid24k.opus":        {"Opus in Ogg", "32-bit float, 48000 Hz, 1 ch", true, 55},
	"hybrid32k-stereo.opus": {"Opus in Ogg", "32-bit float, 48000 Hz, 2 ch", true, 50},
	"celt32k.opus":          {"Opus in Ogg", "32-bit float, 48000 Hz, 1 ch", true, 78},
	"celt48k-stereo.opus":   {"Opus in Ogg", "32-bit float, 48000 Hz, 2 ch", true, 78},
	"live.webm":             {"Opus in WebM", "32-bit float, 48000 Hz, 1 ch", true, 55},
	"piped.webm":            {"Opus in WebM", "32-bit float, 48000 Hz, 2 ch", true, 50},
	"closed.mka":            {"Opus in WebM", "32-bit float, 48000 Hz, 1 ch", true, 55},
	"alaw.wav":              {"WAV", "8-bit A-law, 8000 Hz, 1 ch", true, 0},
	"mulaw.wav":             {"WAV", "8-bit µ-law, 8000 Hz, 2 ch", true, 0},
	"ima.wav":               {"WAV", "4-bit IMA ADPCM, 8000 Hz, 1 ch", true, 0},
	"ima-stereo.wav":        {"WAV", "4-bit IMA ADPCM, 8000 Hz, 2 ch", true, 0},
}

func TestFilesAreDecodedAsByOtherDecoders(t *testing.T) {
	var references map[string]reference
	if err := json.Unmarshal(read(t, "reference.json"), &references); err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		t.Run(name, func(t *testing.T) {
			x, r, err := decode(bytes.NewReader(read(t, name)), 1000)
			if err != nil {
				t.Fatal(err)
			}
			f := r.Format()
			if f.Name != want.format || f.Format.String() != want.detail || f.Lossy != want.lossy || r.Truncated() {
				t.Errorf("got %v, lossy %t, truncated %t, want %s, %s, lossy %t", f, f.Lossy, r.Truncated(), want.format, want.detail, want.lossy)
			}
			ref, ok := references[name]
			if !ok {
				t.Fatal("there is no reference")
			}
			if len(x) != ref.Samples {
				t.Fatalf("got %d samples, want %d", len(x), ref.Samples)
			}
			if ref.SHA256 != "" {
				if got := hash(x); got != ref.SHA256 {
					t.Errorf("got samples with the hash %s, want %s", got, ref.SHA256)
				}
				return
			}
			if got := ratio(t, x, ref.Every97); !(got >= want.least) {
				t.Errorf("got a ratio of signal to difference of %.1f dB, want at least %.0f", got, want.least)
			}
		})
	}
}

// hash is the SHA-256 of samples as integers of scale 2^23.
func hash(x []float64) string {
	h := sha256.New()
	for _, v := range x {
		binary.Write(h, binary.LittleEndian, int32(math.Round(v*(1<<23))))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// ratio compares every 97th sample with the reference, in dB.
func ratio(t *testing.T, x []float64, every97 string) float64 {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(every97)
	if err != nil {
		t.Fatal(err)
	}
	var signal, difference float64
	for i := range len(b) / 4 {
		v := float64(int32(binary.LittleEndian.Uint32(b[4*i:]))) / (1 << 20)
		signal += v * v
		difference += (v - x[97*i]) * (v - x[97*i])
	}
	return 10 * math.Log10(signal/difference)
}

func TestHowAFileComesMakesNoDifference(t *testing.T) {
	for name := range files {
		t.Run(name, func(t *testing.T) {
			file := read(t, name)
			want, _, err := decode(bytes.NewReader(file), 4096)
			if err != nil {
				t.Fatal(err)
			}
			for how, r := range map[string]io.Reader{
				"byte by byte": iotest.OneByteReader(bytes.NewReader(file)),
				"with its end": iotest.DataErrReader(bytes.NewReader(file)),
			} {
				got, _, err := decode(r, 7)
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%s: got %d samples and error %v, want %d equal ones", how, len(got), err, len(want))
				}
			}
		})
	}
}

func TestATruncatedFileGivesItsBeginning(t *testing.T) {
	for name := range files {
		t.Run(name, func(t *testing.T) {
			file := read(t, name)
			whole, _, err := decode(bytes.NewReader(file), 4096)
			if err != nil {
				t.Fatal(err)
			}
			refused := 0
			for end := 0; end < len(file)-1; end += max(1, len(file)/23) {
				x, r, err := decode(bytes.NewReader(file[:end]), 4096)
				if r == nil {
					if err == nil || end > len(file)/2 {
						t.Errorf("%d of %d bytes: got error %v, want the samples so far", end, len(file), err)
					}
					refused++
					continue
				}
				if err != nil {
					t.Errorf("%d of %d bytes: %v", end, len(file), err)
				}
				if !r.Truncated() && mustEnd(name) {
					t.Errorf("%d of %d bytes: not truncated", end, len(file))
				}
				if len(x) > len(whole) && !strings.HasSuffix(name, ".opus") || !startsLike(x, whole) {
					t.Errorf("%d of %d bytes: got %d samples, want the first ones of %d", end, len(file), len(x), len(whole))
				}
			}
			if refused == 0 {
				t.Error("no truncated header was refused")
			}
		})
	}
}

// mustEnd reports whether a file of the name says where it ends at every byte. A live
// recording does not, and a bare MP3 between frames does not either.
func mustEnd(name string) bool {
	return name != "live.webm" && name != "piped.webm" && name != "bare.mp3"
}

// startsLike reports whether x and whole are equal as far as both go.
func startsLike(x, whole []float64) bool {
	n := min(len(x), len(whole))
	return slices.Equal(x[:n], whole[:n])
}

func TestTheErrorOfTheReaderIsPassedOn(t *testing.T) {
	broken := errors.New("the line is dead")
	for name := range files {
		file := read(t, name)
		for _, at := range []int{0, 3, 11, len(file) / 3, len(file) - 1} {
			_, _, err := decode(io.MultiReader(bytes.NewReader(file[:at]), iotest.ErrReader(broken)), 4096)
			if !errors.Is(err, broken) {
				t.Errorf("%s, after %d bytes: got error %v, want %v", name, at, err, broken)
			}
		}
	}
}

func TestOtherFormatsAreNamedAndRefused(t *testing.T) {
	id3 := "ID3\x04\x00\x00\x00\x00\x00\x02ab"
	for name, c := range map[string]struct{ file, says, command string }{
		"AAC in MP4":      {string(read(t, "aac.m4a")), "AAC", "in.m4a"},
		"Vorbis in Ogg":   {string(read(t, "vorbis.ogg")), "Vorbis in Ogg", "in.ogg"},
		"Vorbis in WebM":  {string(read(t, "vorbis.webm")), "Vorbis in WebM", "in.webm"},
		"misread MP3":     {string(read(t, "misread22.mp3")), "22050 Hz and 32 kbit/s", "in.mp3"},
		"AAC":             {"\xff\xf1\x50\x80\x02\x1f\xfc\x00\x00\x00\x00\x00", "AAC", "in.aac"},
		"AAC with a tag":  {id3 + "\xff\xf1\x50\x80\x02\x1f\xfc\x00\x00\x00\x00\x00", "AAC", "in.aac"},
		"layer II":        {"\xff\xfd\x80\x04\x00\x00\x00\x00\x00\x00\x00\x00", "layer I or II", "in.mp2"},
		"MPEG-2.5":        {"\xff\xe3\x18\xc4\x00\x00\x00\x00\x00\x00\x00\x00", "MPEG-2.5", "in.mp3"},
		"free bit rate":   {"\xff\xfb\x00\xc4\x00\x00\x00\x00\x00\x00\x00\x00", "free bit rate", "in.mp3"},
		"AIFF":            {"FORM\x00\x00\x10\x00AIFFCOMM", "AIFF", "in.aiff"},
		"AMR":             {"#!AMR\n\x3c\x00\x00\x00\x00\x00\x00", "AMR", "in.amr"},
		"NIST SPHERE":     {"NIST_1A\n   1024\n", "NIST", "in.sph"},
		"transport":       {strings.Repeat("\x47"+strings.Repeat("\x00", 187), 3), "transport stream", "in.ts"},
		"MP3 within WAV":  {riff(0x55), "MP3", "in.wav"},
		"Microsoft ADPCM": {riff(2), "Microsoft ADPCM", "in.wav"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := decode(strings.NewReader(c.file), 4096)
			var unsupported audiofile.UnsupportedError
			var ofWAV wav.UnsupportedError
			if !errors.As(err, &unsupported) && !errors.As(err, &ofWAV) {
				t.Fatalf("got error %v, want an UnsupportedError", err)
			}
			if !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "ffmpeg -i "+c.command) {
				t.Errorf("got error %q, want %q and a command for %s", err, c.says, c.command)
			}
		})
	}
}

// riff is the beginning of a WAV file with samples of a format tag.
func riff(tag byte) string {
	return "RIFF\x2c\x00\x00\x00WAVEfmt \x10\x00\x00\x00" + string(tag) + "\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x08\x00\x00\x00\x80\x80\x80\x80\x80\x80\x80\x80"
}

func TestWhatIsNoRecordingIsRefusedAsBefore(t *testing.T) {
	for _, file := range []string{"", "R", "this is no sound file at all", "RIFF\x00\x00\x00\x00AVI LIST", strings.Repeat("\x00", 5000)} {
		_, _, err := decode(strings.NewReader(file), 4096)
		_, want := wav.NewReader(strings.NewReader(file))
		var format wav.FormatError
		if !errors.As(err, &format) || err.Error() != want.Error() {
			t.Errorf("%.12q: got error %v, want a wav.FormatError, as of package wav: %v", file, err, want)
		}
	}
}

// A file that was appended to another counts, though the tag of the first one says where its
// sound ends.
func TestAppendedMP3IsRead(t *testing.T) {
	for _, name := range []string{"mono48.mp3", "joint22.mp3"} {
		one, _, err := decode(bytes.NewReader(read(t, name)), 4096)
		if err != nil {
			t.Fatal(err)
		}
		const id3v2 = "ID3\x04\x00\x00\x00\x00\x00\x05abcde"
		id3v1 := "TAG" + strings.Repeat("x", 125)
		for between, tag := range map[string]string{"nothing": "", "ID3v2": id3v2, "ID3v1": id3v1, "both": id3v1 + id3v2} {
			two, r, err := decode(strings.NewReader(string(read(t, name))+tag+string(read(t, name))), 4096)
			if err != nil {
				t.Fatal(err)
			}
			most := 2*len(one) + 5*1152*r.Format().Channels // the padding, the tag and the delay between them
			if len(two) < 2*len(one) || len(two) > most || r.Truncated() {
				t.Errorf("%s and %s: got %d samples of two, truncated %v, want %d to %d", name, between, len(two), r.Truncated(), 2*len(one), most)
			}
			for i, v := range one {
				if two[i] != v {
					t.Fatalf("%s and %s: sample %d: got %v, want %v as alone", name, between, i, two[i], v)
				}
			}
		}
	}
	other, r, err := decode(strings.NewReader(string(read(t, "mono48.mp3"))+string(read(t, "joint22.mp3"))), 4096)
	if err != nil || len(other) == 0 || !r.Truncated() {
		t.Errorf("at another rate: got %d samples, truncated %v and error %v, want it truncated", len(other), r.Truncated(), err)
	}
}
