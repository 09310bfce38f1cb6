package voicescreen_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// races is for how many sessions submissions race, on all stores together.
var races = flag.Int("races", 200, "for how many sessions submissions race")

// TestSubmissionRaceHasOneWinner has 32 submissions race for each session: a
// tenth of the sessions on files, which are synced, and the others in memory.
func TestSubmissionRaceHasOneWinner(t *testing.T) {
	eachStore(t, func(t *testing.T, st store.Store) {
		const racers = 32
		sessions := *races * 9 / 10
		if _, files := st.(*bolt.Store); files {
			sessions = *races - sessions
		}
		if plant := concurrentFaults[*fault]; plant != nil {
			st = plant(st)
		}
		rec := &audioStore{Store: st, refs: map[string]bool{}}
		opts := testOptions()
		opts.Workers, opts.Queue.Limit = -1, sessions+racers
		e := newEngine(t, rec, opts)
		for range sessions {
			id := initiate(t, e, "u")
			errs := make([]error, racers)
			start := make(chan struct{})
			var wg sync.WaitGroup
			for i := range racers {
				wg.Go(func() {
					<-start
					_, errs[i] = e.Submit(t.Context(), id, bytes.NewReader(tiny), nil)
				})
			}
			close(start)
			wg.Wait()
			won := 0
			for _, err := range errs {
				switch {
				case err == nil:
					won++
				case !errors.Is(err, voicescreen.ErrConflict):
					t.Errorf("got %v, want nil or ErrConflict", err)
				}
			}
			if won != 1 {
				t.Errorf("got %d winners of %d, want one", won, racers)
			}
		}
		if len(rec.refs) != sessions {
			t.Errorf("got %d audio files for %d sessions, want those of the losers removed", len(rec.refs), sessions)
		}
		if n, err := st.Due(t.Context()); err != nil || n != sessions {
			t.Errorf("got %d due, %v, want %d", n, err, sessions)
		}
	})
}

// audioStore knows which audio was put and not removed.
type audioStore struct {
	store.Store
	mu   sync.Mutex
	refs map[string]bool
}

func (a *audioStore) Audio() store.Audio {
	return hookedAudio{Audio: a.Store.Audio(), put: a.putAudio, remove: a.removeAudio}
}

func (a *audioStore) putAudio(ctx context.Context, r io.Reader) (string, error) {
	ref, err := a.Store.Audio().Put(ctx, r)
	if err == nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.refs[ref] = true
	}
	return ref, err
}

func (a *audioStore) removeAudio(ctx context.Context, ref string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.refs, ref)
	return a.Store.Audio().Remove(ctx, ref)
}

func TestRefusedSubmissionLeavesTheSessionUsable(t *testing.T) {
	second := make([]float64, 44100)
	mono44 := encodeWAV(44100, 1, second)
	stereo := encodeWAV(44100, 2, second)
	streamed := bytes.Clone(mono44)
	copy(streamed[40:], "\xff\xff\xff\xff")
	mulaw := bytes.Clone(mono44)
	mulaw[20] = 7
	header := mono44[:44]
	broken := errors.New("connection reset")
	strict := &voicescreen.SubmitOptions{SampleRate: 44100}
	opts := testOptions()
	opts.Workers = -1
	opts.Audio.MaxBytes = 400_000

	for name, c := range map[string]struct {
		audio io.Reader
		opts  *voicescreen.SubmitOptions
		want  error
		says  string
	}{
		"empty file":            {strings.NewReader(""), nil, voicescreen.ErrAudio, "empty"},
		"no WAV file":           {strings.NewReader("fLaC and so on and on"), nil, voicescreen.ErrAudio, "FLAC"},
		"µ-law":                 {bytes.NewReader(mulaw), nil, voicescreen.ErrAudio, "µ-law"},
		"header alone":          {bytes.NewReader(header), nil, voicescreen.ErrAudio, "88200 bytes of samples announced, 0 received"},
		"cut in the header":     {bytes.NewReader(header[:30]), nil, voicescreen.ErrAudio, "ends in chunk"},
		"cut short":             {bytes.NewReader(mono44[:1044]), nil, voicescreen.ErrAudio, "88200 bytes of samples announced, 1000 received"},
		"no samples":            {bytes.NewReader(encodeWAV(44100, 1, nil)), nil, voicescreen.ErrAudio, "no samples"},
		"streamed, no samples":  {bytes.NewReader(streamed[:44]), nil, voicescreen.ErrAudio, "no samples"},
		"other rate than asked": {bytes.NewReader(encodeWAV(16000, 1, second)), strict, voicescreen.ErrAudio, "16000 Hz, want 44100"},
		"rate too low":          {bytes.NewReader(encodeWAV(7999, 1, second)), nil, voicescreen.ErrAudio, "7999 Hz"},
		"rate too high":         {bytes.NewReader(encodeWAV(192001, 1, second)), nil, voicescreen.ErrAudio, "192001 Hz"},
		"two channels":          {bytes.NewReader(stereo), nil, voicescreen.ErrAudio, "2 channels"},
		"no such channel":       {bytes.NewReader(stereo), &voicescreen.SubmitOptions{Channel: 3}, voicescreen.ErrAudio, "channel 3"},
		"long header":           {io.MultiReader(strings.NewReader("RIFF\xff\xff\xff\xffWAVELIST\xff\xff\xff\x7f"), zeros{}), nil, voicescreen.ErrAudio, "first 262144 bytes"},
		"endless":               {io.MultiReader(bytes.NewReader(streamed), zeros{}), nil, voicescreen.ErrTooLarge, ""},
		"one byte too large":    {io.MultiReader(bytes.NewReader(mono44), bytes.NewReader(make([]byte, 400_001-len(mono44)))), nil, voicescreen.ErrTooLarge, ""},
		"limit of the caller":   {io.MultiReader(bytes.NewReader(mono44[:100]), iotest.ErrReader(voicescreen.ErrTooLarge)), nil, voicescreen.ErrTooLarge, ""},
		"broken off in header":  {io.MultiReader(bytes.NewReader(mono44[:20]), iotest.ErrReader(broken)), nil, voicescreen.ErrUpload, "connection reset"},
		"broken off in samples": {io.MultiReader(bytes.NewReader(mono44[:9000]), iotest.ErrReader(io.ErrUnexpectedEOF)), nil, voicescreen.ErrUpload, "unexpected EOF"},
		"broken off behind":     {io.MultiReader(bytes.NewReader(mono44), iotest.ErrReader(broken)), nil, voicescreen.ErrUpload, "connection reset"},
		"no product":            {unread{t}, &voicescreen.SubmitOptions{Product: 77}, voicescreen.ErrInvalid, "product"},
		"no rate":               {unread{t}, &voicescreen.SubmitOptions{SampleRate: 100}, voicescreen.ErrInvalid, "100 Hz"},
		"no channel":            {unread{t}, &voicescreen.SubmitOptions{Channel: -1}, voicescreen.ErrInvalid, "channel is -1"},
	} {
		t.Run(name, func(t *testing.T) {
			st := &audioStore{Store: newMemory(t), refs: map[string]bool{}}
			e := newEngine(t, st, opts)
			id := initiate(t, e, "u")
			_, err := e.Submit(t.Context(), id, c.audio, c.opts)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %v that says %q", err, c.want, c.says)
			}
			if len(st.refs) != 0 {
				t.Errorf("got %d audio files, want none", len(st.refs))
			}
			r, err := e.Result(t.Context(), id)
			if err != nil || r.Status != screen.StatusInitiated {
				t.Errorf("got %+v, %v, want the session initiated", r, err)
			}
			submit(t, e, id, mono44)
		})
	}
}

// zeros is an endless file.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// unread fails the test when it is read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the audio was read")
	return 0, io.EOF
}

func TestSubmissionIsTakenAsSpecified(t *testing.T) {
	x := make([]float64, 4410)
	mono44 := encodeWAV(44100, 1, x)
	streamed := bytes.Clone(mono44)
	copy(streamed[40:], "\xff\xff\xff\xff")
	for name, c := range map[string]struct {
		file    []byte
		opts    *voicescreen.SubmitOptions
		channel int
	}{
		"as the service":          {mono44, &voicescreen.SubmitOptions{SampleRate: 44100}, 0},
		"lowest rate":             {encodeWAV(8000, 1, x), nil, 0},
		"highest rate":            {encodeWAV(192000, 1, x), nil, 0},
		"rate asked for":          {encodeWAV(48000, 1, x), &voicescreen.SubmitOptions{SampleRate: 48000}, 0},
		"second of two channels":  {encodeWAV(44100, 2, x), &voicescreen.SubmitOptions{Channel: 2}, 2},
		"first of one":            {mono44, &voicescreen.SubmitOptions{Channel: 1}, 0},
		"size unknown":            {streamed, nil, 0},
		"chunks behind":           {append(bytes.Clone(mono44), "LIST\x04\x00\x00\x00INFO"...), nil, 0},
		"every product has a run": {mono44, &voicescreen.SubmitOptions{Product: screen.DeepfakeBinary}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			st := newMemory(t)
			opts := testOptions()
			opts.Workers = -1
			e := newEngine(t, st, opts)
			id := initiate(t, e, "u")
			// One byte at a time, as a slow client sends.
			if _, err := e.Submit(t.Context(), id, iotest.OneByteReader(bytes.NewReader(c.file)), c.opts); err != nil {
				t.Fatal(err)
			}
			s, err := st.Get(t.Context(), "", id)
			if err != nil {
				t.Fatal(err)
			}
			want := screen.DepressionAnxiety
			if c.opts != nil && c.opts.Product != 0 {
				want = c.opts.Product
			}
			if s.Status != screen.StatusProcessing || s.Channel != c.channel || s.Product != want || s.Due.IsZero() || s.SubmittedAt.IsZero() {
				t.Errorf("got record %+v, want it queued, channel %d, %v", s, c.channel, want)
			}
			f, err := st.Audio().Open(t.Context(), s.Audio)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, c.file) {
				t.Errorf("got %d bytes stored, %v, want the %d that came", len(got), err, len(c.file))
			}
		})
	}
}

func TestWrongStateIsSaidBeforeAudioIsRead(t *testing.T) {
	opts := testOptions()
	opts.Workers, opts.Queue.Limit = -1, 1
	e := newEngine(t, newMemory(t), opts)
	if _, err := e.Submit(t.Context(), "nosuchsession", unread{t}, nil); !errors.Is(err, voicescreen.ErrNotFound) {
		t.Errorf("unknown session: got %v, want ErrNotFound", err)
	}
	id := initiate(t, e, "u")
	submit(t, e, id, tiny)
	if _, err := e.Submit(t.Context(), id, unread{t}, nil); !errors.Is(err, voicescreen.ErrConflict) {
		t.Errorf("second submission: got %v, want ErrConflict", err)
	}
	if _, err := e.Submit(t.Context(), initiate(t, e, "u"), unread{t}, nil); !errors.Is(err, voicescreen.ErrBusy) {
		t.Errorf("full queue: got %v, want ErrBusy", err)
	}
}

func TestUploadsOnTheirWayCountAsQueued(t *testing.T) {
	opts := testOptions()
	opts.Workers, opts.Queue.Limit = -1, 1
	e := newEngine(t, newMemory(t), opts)
	first, second := initiate(t, e, "u"), initiate(t, e, "u")
	if err := e.Busy(t.Context()); err != nil {
		t.Errorf("Busy of an empty queue: got %v", err)
	}
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() { _, err := e.Submit(context.Background(), first, r, nil); done <- err }()
	if _, err := w.Write(tiny[:50]); err != nil { // the submission is under way
		t.Fatal(err)
	}
	if _, err := e.Submit(t.Context(), second, unread{t}, nil); !errors.Is(err, voicescreen.ErrBusy) {
		t.Errorf("got %v, want ErrBusy", err)
	}
	if err := e.Busy(t.Context()); !errors.Is(err, voicescreen.ErrBusy) {
		t.Errorf("Busy: got %v, want ErrBusy", err)
	}
	if _, err := w.Write(tiny[50:]); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestSubmitEndsWithItsContext(t *testing.T) {
	st := &audioStore{Store: newMemory(t), refs: map[string]bool{}}
	e := newEngine(t, st, testOptions())
	id := initiate(t, e, "u")
	ctx, cancel := context.WithCancel(t.Context())
	file := io.MultiReader(bytes.NewReader(tiny[:100]), readerFunc(func(p []byte) (int, error) {
		cancel()
		return copy(p, tiny[100:]), nil
	}))
	_, err := e.Submit(ctx, id, file, nil)
	if !errors.Is(err, voicescreen.ErrUpload) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want ErrUpload and the context's error", err)
	}
	if len(st.refs) != 0 {
		t.Errorf("got %d audio files, want none", len(st.refs))
	}
	submit(t, e, id, tiny)
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
