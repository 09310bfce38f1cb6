package process

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"
)

// TestFaults names each fault of a running program: the first call fails, and so does
// the second, with another process.
func TestFaults(t *testing.T) {
	short := Options{Timeout: 300 * time.Millisecond}
	for _, c := range []struct {
		mode string
		opts Options
		want error
		text string
	}{
		{"hang", short, ErrTimeout, "waited 300ms"},
		{"die", Options{}, ErrExit, "exit status 3"},
		{"flood", Options{}, ErrProtocol, "a frame of 858927408 bytes, want 1 to 1048576"},
		{"flood stderr", Options{}, ErrFlood, "to standard error"},
		{"half", Options{}, ErrExit, "exit status 0"},
	} {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			c.opts.Logger = slog.New(slog.NewTextHandler(&log, nil)) // level info
			s := open(t, c.opts, c.mode)
			for range 2 {
				_, err := s.Score(t.Context(), tone(50000, 16000))
				var e *Error
				if !errors.Is(err, c.want) || !errors.As(err, &e) || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), "helper "+c.mode) {
					t.Errorf("got %v, want %v with %q and the command", err, c.want, c.text)
				}
				if c.mode == "die" && e.Detail != "patient 40" {
					t.Errorf("got the detail %q, want what it wrote", e.Detail)
				}
				if len(e.Detail) > tailBytes || strings.Contains(err.Error(), "patient") {
					t.Errorf("got a detail of %d bytes, want at most %d, and none of it in %q", len(e.Detail), tailBytes, err)
				}
			}
			if strings.Contains(log.String(), "stderr=") || strings.Contains(log.String(), "patient") || !strings.Contains(log.String(), "started") {
				t.Errorf("got the log %q, want the start and nothing that the program wrote", &log)
			}
		})
	}
}

// TestFaultsAtTheStart are errors of Open, which say what the program wrote.
func TestFaultsAtTheStart(t *testing.T) {
	for _, c := range []struct {
		mode string
		opts Options
		want error
		text string
	}{
		{"hang at the start", Options{StartTimeout: 100 * time.Millisecond}, ErrTimeout, "waited 100ms"},
		{"die at the start", Options{}, ErrExit, "exit status 3; it wrote: no model  here"},
		{"print", Options{}, ErrProtocol, "standard output?"},
	} {
		s, err := tryOpen(t, c.opts, c.mode)
		if s != nil || !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: got %v, want %v with %q", c.mode, err, c.want, c.text)
		}
	}
	if _, err := Open(t.Context(), []string{"/does/not/exist"}, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want that the program does not exist", err)
	}
	if _, err := Open(t.Context(), nil, nil); err == nil {
		t.Error("got no error without a command")
	}
}

// TestLies are answers that cannot be right. The program stays.
func TestLies(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		want   error
		text   string
	}{
		"NaN":             {`{"id":ID,"scores":[{"category":"deepfake","probability":NaN}]}`, ErrProtocol, "NaN"},
		"out of range":    {`{"id":ID,"scores":[{"category":"deepfake","probability":1.01}]}`, ErrAnswer, "out of range"},
		"another one":     {`{"id":ID,"scores":[{"category":"anxiety","probability":0.5}]}`, ErrAnswer, "another category"},
		"an unknown one":  {`{"id":ID,"scores":[{"category":"Mrs Miller","probability":0.5}]}`, ErrAnswer, "unknown one"},
		"none":            {`{"id":ID,"scores":[]}`, ErrAnswer, "0 scores, want 1"},
		"another id":      {`{"id":99,"scores":[{"category":"deepfake","probability":0.5}]}`, ErrProtocol, "recording 99, want"},
		"not JSON":        {`Mrs Miller`, ErrProtocol, "not JSON"},
		"its own failure": {`{"id":ID,"error":"Mrs Miller\u001b is too quiet"}`, ErrReported, "reported"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, Options{}, "answer", c.answer)
			_, err := s.Score(t.Context(), tone(100, 16000))
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %v, want %v with %q", err, c.want, c.text)
			}
			var e *Error
			if !errors.As(err, &e) || strings.Contains(e.Err.Error(), "Miller") {
				t.Errorf("got %v, want an *Error without texts of the answer", err)
			} else if c.want == ErrReported && e.Detail != "Mrs Miller  is too quiet" {
				t.Errorf("got the detail %q", e.Detail)
			}
			p := <-s.slots
			if stays := c.want != ErrProtocol; (p != nil) != stays {
				t.Errorf("got a running program: %v, want %v", p != nil, stays)
			}
			s.slots <- p
		})
	}
}

// TestSecondAnswerIsRefused: an answer that nobody asked for must not become that of the
// next recording.
func TestSecondAnswerIsRefused(t *testing.T) {
	s := open(t, Options{}, "twice")
	if _, err := s.Score(t.Context(), tone(100, 16000)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Score(t.Context(), tone(100, 16000)); !errors.Is(err, ErrProtocol) || !strings.Contains(err.Error(), "answered recording 1, want 2") {
		t.Errorf("got %v, want the answer of the first recording refused", err)
	}
}
