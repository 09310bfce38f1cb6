package voicescreen_test

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
)

// setAtEnd sets a way of speaking when the recording was read, as a form does whose
// field stands after the file.
type setAtEnd struct {
	r    io.Reader
	opts *voicescreen.SubmitOptions
	to   screen.Speech
}

func (s *setAtEnd) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err == io.EOF {
		s.opts.Speech = s.to
	}
	return n, err
}

func TestSpeechIsKeptWithTheSession(t *testing.T) {
	for name, c := range map[string]struct {
		all, own, late, want screen.Speech
	}{
		"not given":             {0, 0, 0, 0},
		"given":                 {0, screen.Reading, 0, screen.Reading},
		"of the engine":         {screen.Picture, 0, 0, screen.Picture},
		"own before the engine": {screen.Picture, screen.FreeSpeech, 0, screen.FreeSpeech},
		"after the recording":   {0, 0, screen.Reading, screen.Reading},
	} {
		t.Run(name, func(t *testing.T) {
			st, o := newMemory(t), testOptions()
			o.Workers, o.Scoring.Speech = -1, c.all
			e := newEngine(t, st, o)
			id := initiate(t, e, "u")
			opts := &voicescreen.SubmitOptions{Speech: c.own}
			var r io.Reader = bytes.NewReader(tiny)
			if c.late != 0 {
				r = &setAtEnd{r, opts, c.late}
			}
			if _, err := e.Submit(t.Context(), id, r, opts); err != nil {
				t.Fatal(err)
			}
			s, err := st.Get(t.Context(), "", id)
			if err != nil || s.Speech != c.want {
				t.Errorf("got %v, %v, want %v", s.Speech, err, c.want)
			}
		})
	}
}

func TestUnknownSpeechIsRefused(t *testing.T) {
	e := newEngine(t, newMemory(t), testOptions())
	id := initiate(t, e, "u")
	if _, err := e.Submit(t.Context(), id, bytes.NewReader(tiny), &voicescreen.SubmitOptions{Speech: 9}); !errors.Is(err, voicescreen.ErrInvalid) {
		t.Errorf("submit: got %v, want ErrInvalid", err)
	}
	opts := &voicescreen.SubmitOptions{}
	if _, err := e.Submit(t.Context(), id, &setAtEnd{bytes.NewReader(tiny), opts, 9}, opts); !errors.Is(err, voicescreen.ErrInvalid) {
		t.Errorf("submit, learnt after the recording: got %v, want ErrInvalid", err)
	}
	if _, err := e.Analyze(t.Context(), bytes.NewReader(tiny), &voicescreen.AnalyzeOptions{Speech: 9}); !errors.Is(err, voicescreen.ErrInvalid) {
		t.Errorf("analyze: got %v, want ErrInvalid", err)
	}
	o := testOptions()
	o.Scoring.Speech = 9
	if _, err := voicescreen.New(newMemory(t), o); !errors.Is(err, voicescreen.ErrInvalid) {
		t.Errorf("engine: got %v, want ErrInvalid", err)
	}
	if _, err := e.Submit(t.Context(), id, bytes.NewReader(tiny), nil); err != nil {
		t.Errorf("after refusals: got %v, want the session usable", err)
	}
}

// TestSpeechReachesTheScores checks that the same pauses mean more in a text that is
// read, after Submit as after Analyze, and that a baseline is of the same way of
// speaking.
func TestSpeechReachesTheScores(t *testing.T) {
	t.Parallel()
	o, clock := testOptions(), newClock()
	o.Scoring.Models = nil
	st := newMemory(t)
	setClock(o, st, clock)
	e := newEngine(t, st, o)
	file := encodeWAV(44100, 1, syllables(44100, 4))
	run := func(s screen.Speech) screen.Score {
		clock.Add(time.Minute)
		id := initiate(t, e, "u")
		if _, err := e.Submit(t.Context(), id, bytes.NewReader(file), &voicescreen.SubmitOptions{Speech: s, Baseline: true}); err != nil {
			t.Fatal(err)
		}
		r := wait(t, e, id)
		if len(r.Scores) == 0 {
			t.Fatalf("got failure %+v", r.Failure)
		}
		return r.Scores[0]
	}
	analyzed := map[screen.Speech]screen.Score{}
	for _, s := range append(screen.Speeches(), 0) {
		a, err := e.Analyze(t.Context(), bytes.NewReader(file), &voicescreen.AnalyzeOptions{Speech: s})
		if err != nil || len(a.Scores) == 0 {
			t.Fatalf("%v, got %+v", err, a)
		}
		analyzed[s] = a.Scores[0]
	}
	if free, read := analyzed[screen.FreeSpeech], analyzed[screen.Reading]; !(read.Probability > free.Probability) {
		t.Errorf("got %v read and %v spoken freely, want more of the first with these pauses", read.Probability, free.Probability)
	}
	for i, c := range []struct {
		speech  screen.Speech
		earlier int
	}{{screen.FreeSpeech, 0}, {screen.Reading, 0}, {screen.FreeSpeech, 1}, {0, 3}} {
		got := run(c.speech)
		if got.Baseline != c.earlier {
			t.Errorf("recording %d, %v: compared with %d, want %d", i+1, c.speech, got.Baseline, c.earlier)
		}
		if c.earlier == 0 && got.Probability != analyzed[c.speech].Probability {
			t.Errorf("recording %d, %v: got %v, want that of Analyze, %v", i+1, c.speech, got.Probability, analyzed[c.speech].Probability)
		}
	}
}
