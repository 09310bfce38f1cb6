package voicescreen_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
)

// browserRecording is the first 4.5 seconds of testdata/short_en.wav as a browser records them.
func browserRecording(t *testing.T) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/short_en.webm")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestARecordingOfABrowserIsScored submits Opus in WebM, which stays as it was uploaded until
// it is analysed, and gives the scores that Analyze gives.
func TestARecordingOfABrowserIsScored(t *testing.T) {
	file := browserRecording(t)
	e := newEngine(t, newMemory(t), testOptions())
	want, err := e.Analyze(t.Context(), iotest.HalfReader(bytes.NewReader(file)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(want.Scores) != 3 || want.Duration < 4.45 || want.Duration > 4.55 || want.SampleRate != 48000 || want.Truncated {
		t.Fatalf("got %d scores of %v s at %d Hz, failures %v", len(want.Scores), want.Duration, want.SampleRate, want.Failures)
	}
	for _, s := range want.Scores {
		if !slices.Contains(s.Cautions, screen.Lossy) {
			t.Errorf("%v: got cautions %v, want that the recording was encoded with loss", s.Category, s.Cautions)
		}
	}
	id := initiate(t, e, "u")
	if _, err := e.Submit(t.Context(), id, bytes.NewReader(file), &voicescreen.SubmitOptions{AnyFormat: true}); err != nil {
		t.Fatal(err)
	}
	r, err := e.Wait(t.Context(), id)
	if err != nil || r.Failure != nil || len(r.Scores) != 2 {
		t.Fatalf("got %+v and error %v, want two scores", r, err)
	}
	for i, s := range r.Scores {
		if s.Probability != want.Scores[i].Probability {
			t.Errorf("%v: got %v after Submit, want %v as of Analyze", s.Category, s.Probability, want.Scores[i].Probability)
		}
	}
}

// TestWAVHasNoCautionOfLoss is the counterpart.
func TestWAVHasNoCautionOfLoss(t *testing.T) {
	f, err := os.Open("testdata/short_en.wav")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := newEngine(t, newMemory(t), testOptions()).Analyze(t.Context(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range got.Scores {
		if slices.Contains(s.Cautions, screen.Lossy) {
			t.Errorf("%v: got cautions %v", s.Category, s.Cautions)
		}
	}
}

// TestSubmitTakesTheFormatsThatAreAsked hands in the files of dsp/audiofile: with AnyFormat
// they are stored as they are, without it they are refused as ever, and cut short they are
// refused with it too.
func TestSubmitTakesTheFormatsThatAreAsked(t *testing.T) {
	opts := testOptions()
	opts.Workers = -1
	st := newMemory(t)
	e := newEngine(t, st, opts)
	any := &voicescreen.SubmitOptions{AnyFormat: true}
	for name, channels := range map[string]int{
		"mono16.flac": 1, "stereo24.flac": 2, "mono48.mp3": 1, "joint22.mp3": 2, "celt48k-stereo.opus": 2, "silk8k.opus": 1,
		"piped.webm": 2, "closed.mka": 1, "alaw.wav": 1, "mulaw.wav": 2, "ima.wav": 1,
	} {
		t.Run(name, func(t *testing.T) {
			file, err := os.ReadFile(filepath.Join("dsp", "audiofile", "testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			id := initiate(t, e, "u")
			refused := func(b []byte, o *voicescreen.SubmitOptions, says string) {
				t.Helper()
				if _, err := e.Submit(t.Context(), id, bytes.NewReader(b), o); !errors.Is(err, voicescreen.ErrAudio) || !strings.Contains(err.Error(), says) {
					t.Errorf("got error %v, want ErrAudio that says %q", err, says)
				}
			}
			refused(file, nil, "wav: unsupported")
			o := *any
			if channels > 1 {
				refused(file, any, "recording has 2 channels, want 1")
				o.Channel = 2
			}
			if name != "piped.webm" { // which may end anywhere
				refused(file[:len(file)*4/5], &o, "cut short")
			}
			if _, err := e.Submit(t.Context(), id, iotest.OneByteReader(bytes.NewReader(file)), &o); err != nil {
				t.Fatal(err)
			}
			s, err := st.Get(t.Context(), "", id)
			if err != nil {
				t.Fatal(err)
			}
			r, err := st.Audio().Open(t.Context(), s.Audio)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			stored, err := io.ReadAll(r)
			if err != nil || !bytes.Equal(stored, file) || s.Channel != o.Channel || s.Duration < 0.1 || s.Duration > 0.65 {
				t.Errorf("got %d bytes stored, channel %d, %v s and error %v, want the %d of the file", len(stored), s.Channel, s.Duration, err, len(file))
			}
		})
	}
}

// TestHoursOfSilenceInAFewBytesAreNotDecoded submits 20 hours of Opus without sound in 2 MB:
// what is beyond MaxDuration is not looked at.
func TestHoursOfSilenceInAFewBytesAreNotDecoded(t *testing.T) {
	opts := testOptions()
	opts.Workers = -1
	opts.Audio.MaxDuration = 10 * time.Second
	st := newMemory(t)
	e := newEngine(t, st, opts)
	head := "\x1a\x45\xdf\xa3\x80\x18\x53\x80\x67\x01\xff\xff\xff\xff\xff\xff\xff\x16\x54\xae\x6b"
	private := "OpusHead\x01\x01\x00\x00\x80\xbb\x00\x00\x00\x00\x00"
	track := append([]byte("\xd7\x81\x01\x83\x81\x02\x86\x86A_OPUS\x63\xa2\x93"), private...)
	track = append([]byte{0xae, 0x80 | byte(len(track))}, track...)
	file := append([]byte(head), 0x80|byte(len(track)))
	file = append(file, track...)
	file = append(file, "\x1f\x43\xb6\x75\x01\xff\xff\xff\xff\xff\xff\xff"...)
	block := []byte("\xa3\x86\x81\x00\x00\x80\xe3\x30") // 48 frames of 2.5 ms without a byte
	file = append(file, bytes.Repeat(block, 1<<18)...)
	file = binary.BigEndian.AppendUint16(file, 0xffff) // broken at the end, which is not reached
	id := initiate(t, e, "u")
	if _, err := e.Submit(t.Context(), id, bytes.NewReader(file), &voicescreen.SubmitOptions{AnyFormat: true}); err != nil {
		t.Fatal(err)
	}
	s, err := st.Get(t.Context(), "", id)
	if err != nil || s.Duration < 10 || s.Duration > 12 {
		t.Errorf("got %v s and error %v, want those that are analysed", s.Duration, err)
	}
}
