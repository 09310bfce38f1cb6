package voicescreen

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/dsp/wav"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/shipped"
	"github.com/voicescreen/voicescreen/screen"
)

// FuzzUpload hands in files that come in small pieces. What is accepted must be
// passed on byte by byte, and be what the analysis can read.
func FuzzUpload(f *testing.F) {
	for _, header := range []string{
		"RIFF\x28\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x04\x00\x00\x00\x01\x02\x03\x04",
		"RIFF\xff\xff\xff\xffWAVEfmt \x10\x00\x00\x00\x01\x00\x02\x00\x44\xac\x00\x00\x10\xb1\x02\x00\x04\x00\x10\x00data\xff\xff\xff\xff\x01\x02\x03\x04\x05",
		"RIFF\x30\x00\x00\x00WAVELIST\x00\x00\x00\x00fmt \x10\x00\x00\x00\x07\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x01\x00\x00\x00\xff\x00LIST\x02\x00\x00\x00ab",
	} {
		f.Add([]byte(header), 0, 7)
		f.Add([]byte(header), 2, 1)
	}
	f.Fuzz(func(t *testing.T, file []byte, channel, piece int) {
		o, err := (&SubmitOptions{Channel: channel}).withDefaults()
		if err != nil {
			return
		}
		const most = 1 << 16
		piece = 1 + (piece&0x7fffffff)%64
		var u *upload
		var got []byte
		cost.Check(t, len(file)*2, func() { // the file and what got holds of it
			got = got[:0]
			u, err = newUpload(t.Context(), &pieces{file, piece}, &o, most, time.Minute)
			if err == nil {
				got, err = io.ReadAll(u)
			}
		})
		switch {
		case err == nil:
		case errors.Is(err, ErrAudio), errors.Is(err, ErrTooLarge):
			return
		default:
			t.Fatalf("got error %v", err)
		}
		if len(file) > most || !bytes.Equal(got, file) {
			t.Fatalf("%d bytes were passed on of %d", len(got), len(file))
		}
		if _, err := wav.Decode(bytes.NewReader(file), &wav.DecodeOptions{Channel: channel}); err != nil && channel <= u.wav.Format().Channels {
			t.Errorf("what was accepted cannot be read: %v", err)
		}
	})
}

// pieces is a file that comes piece by piece.
type pieces struct {
	left  []byte
	piece int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), p.piece)], p.left)
	p.left = p.left[n:]
	return n, nil
}

// FuzzLearned reads documents of learned models. What is read can be written, and
// says the same again.
func FuzzLearned(f *testing.F) {
	prior, err := shipped.Bayes(screen.Depression)
	if err != nil {
		f.Fatal(err)
	}
	none := &learnedModels{of: map[screen.Category][]*models.BayesFile{}}
	one := none.with(screen.Depression, []*models.BayesFile{prior})
	for _, l := range []*learnedModels{none, one} {
		text, err := textOfLearned(l)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"format":"voicescreen-learned/1","models":{"anxiety":[null,{}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) { readModels(t, data, parseLearned, textOfLearned) })
}

// FuzzAdapted is FuzzLearned of models with adapted norms.
func FuzzAdapted(f *testing.F) {
	prior, err := shipped.Bayes(screen.Anxiety)
	if err != nil {
		f.Fatal(err)
	}
	adapted := *prior
	adapted.Adapted = &models.Adapted{Sessions: 40, People: 30, Accounts: 1, BaseRate: 0.3}
	for _, m := range []*models.BayesFile{&adapted, prior} {
		l := (&learnedModels{of: map[screen.Category][]*models.BayesFile{}}).with(screen.Anxiety, []*models.BayesFile{m})
		text, err := textOfAdapted(l)
		if err != nil {
			f.Fatal(err)
		}
		if _, err := parseAdapted(text); (err == nil) != (m == &adapted) {
			f.Fatalf("got error %v for a model that was adapted: %t", err, m == &adapted)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"format":"voicescreen-adapted/1","models":{"anxiety":[null,{}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) { readModels(t, data, parseAdapted, textOfAdapted) })
}

// readModels reads a document; what is read can be written, and says the same again.
func readModels(t *testing.T, data []byte, parse func([]byte) (*learnedModels, error), write func(*learnedModels) ([]byte, error)) {
	l, err := parse(data)
	if err != nil {
		return
	}
	text, err := write(l)
	if err != nil {
		t.Fatalf("what was read cannot be written: %v", err)
	}
	back, err := parse(text)
	if err != nil || len(back.of) > len(l.of) {
		t.Fatalf("got %v and error %v of what was read and written", back, err)
	}
	for c, list := range l.of {
		if len(back.of[c]) != len(list) {
			t.Errorf("%v: got %d models, want %d", c, len(back.of[c]), len(list))
		}
	}
}
