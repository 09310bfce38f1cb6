package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// Options configures Open. Nil and zero fields mean the default.
type Options struct {
	Processes    int           // how many run at once at most, one for each recording at a time; default GOMAXPROCS
	Timeout      time.Duration // for one recording; default 2 minutes
	StartTimeout time.Duration // from the start to the description; default 2 minutes
	Backoff      time.Duration // the pause before a start after two faults in a row; default 1 s
	Env          []string      // the whole environment, NAME=value each; default none
	Dir          string        // the working directory; default a new empty one, which Close removes
	Logger       *slog.Logger  // of starts and ends, and at level debug of standard error; default none
}

// defaultTimeout is the default of both timeouts. Chosen: large models take a minute to
// load, and some seconds for a recording.
const defaultTimeout = 2 * time.Minute

// maxBackoff is the longest pause in terms of Options.Backoff.
const maxBackoff = 32

// Scorer is the Scorer of a program. It is safe for concurrent use.
type Scorer struct {
	command []string // the first is an absolute path
	name    string   // of the command, in messages
	opts    Options
	temp    string // directory to remove; "" for none
	info    models.Info
	slots   chan *program // one for each of Options.Processes; nil for one that is not running
	closed  context.Context
	close   func() // ends closed

	once sync.Once
	err  error // of Close

	mu     sync.Mutex
	faults int       // in a row
	next   time.Time // no program is started before
}

// Open starts a program: its name or path, which is looked up as the shell does, and its
// arguments. Paths among these should be absolute: see Options.Dir. The program describes
// itself. Ctx is that of this start. The error is that of finding the program, of its
// working directory or of ctx, or an *Error. The caller calls Close.
func Open(ctx context.Context, command []string, opts *Options) (*Scorer, error) {
	s := &Scorer{command: slices.Clone(command), name: nameOf(command)}
	if opts != nil {
		s.opts = *opts
	}
	o := &s.opts
	if len(command) == 0 || o.Processes < 0 || o.Timeout < 0 || o.StartTimeout < 0 || o.Backoff < 0 {
		return nil, errors.New("process: no command, or an option below 0")
	}
	setDefault(&o.Processes, runtime.GOMAXPROCS(0))
	setDefault(&o.Timeout, defaultTimeout)
	setDefault(&o.StartTimeout, defaultTimeout)
	setDefault(&o.Backoff, time.Second)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	path, err := exec.LookPath(command[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, fmt.Errorf("process: %q: %w", s.name, err)
	}
	s.command[0] = path
	if o.Dir == "" {
		if s.temp, err = os.MkdirTemp("", "voicescreen-scorer-"); err != nil {
			return nil, fmt.Errorf("process: %w", err)
		}
		o.Dir = s.temp
	}
	s.slots = make(chan *program, o.Processes)
	s.closed, s.close = context.WithCancel(context.Background())
	first, err := s.launch(ctx)
	if err != nil {
		s.removeTemp()
		return nil, err
	}
	s.slots <- first
	for range o.Processes - 1 {
		s.slots <- nil
	}
	return s, nil
}

func setDefault[T int | time.Duration](field *T, v T) {
	if *field == 0 {
		*field = v
	}
}

// Info returns what the program said about itself at its first start. Streams is true.
func (s *Scorer) Info() models.Info { return s.info }

// Close asks the programs to end, kills those that did not within a second, and waits for
// them. Calls of Score under way fail with ErrClosed. It may be called again.
func (s *Scorer) Close() error {
	s.once.Do(func() {
		s.close()
		var ending sync.WaitGroup
		for range cap(s.slots) { // waits for calls of Score
			if p := <-s.slots; p != nil {
				ending.Go(p.end)
			}
		}
		ending.Wait()
		close(s.slots)
		s.err = s.removeTemp()
	})
	return s.err
}

func (s *Scorer) removeTemp() error {
	if s.temp == "" {
		return nil
	}
	return os.RemoveAll(s.temp)
}

// Score returns the scores of the program, with the cautions of the recording. The error
// is ErrClosed, that of ctx, that of reading the recording, or an *Error. Score starts a
// program if none is idle, after a pause if programs failed before.
func (s *Scorer) Score(ctx context.Context, in *features.Recording) ([]screen.Score, error) {
	both, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.closed, cancel)()
	scores, err := s.score(both, in)
	switch {
	case err == nil:
		return scores, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case s.closed.Err() != nil:
		return nil, ErrClosed
	}
	return nil, err
}

// score is Score with a ctx that also ends with Close.
func (s *Scorer) score(ctx context.Context, in *features.Recording) (scores []screen.Score, err error) {
	var p *program
	select {
	case slot, open := <-s.slots:
		if !open {
			return nil, ErrClosed
		}
		p = slot
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	stays := false
	defer func() {
		if p != nil && !stays { // a fault, or a panic
			p.kill(nil)
			p.end()
			p = nil
		}
		s.slots <- p
	}()
	if p != nil && p.ended() {
		s.opts.Logger.Warn("scorer program ended while it was idle", "error", s.failed(ctx, p, p.explain(io.EOF)))
		p = nil
	}
	if p == nil {
		if p, err = s.launch(ctx); err != nil {
			return nil, err
		}
	}
	scores, reported, err := s.ask(ctx, p, in)
	var source *sourceError
	switch {
	case err == nil:
		s.succeeded()
	case errors.Is(err, ErrAnswer), errors.Is(err, ErrReported):
		s.succeeded()
		err = &Error{Command: s.name, Err: err, Detail: printable(reported)}
		s.opts.Logger.Debug("scorer program", "error", err, "reported", printable(reported), "stderr", p.said())
	case errors.As(err, &source):
		return nil, err
	default:
		return nil, s.failed(ctx, p, err)
	}
	stays = true
	return scores, err
}

// launch starts a program, after the pause that is due, and checks its description.
func (s *Scorer) launch(ctx context.Context) (*program, error) {
	if err := s.pause(ctx); err != nil {
		return nil, err
	}
	p, err := startProgram(s.command, s.opts.Env, s.opts.Dir)
	if err != nil {
		return nil, s.failed(ctx, nil, err)
	}
	info, err := p.hello(ctx, s.opts.StartTimeout)
	if err == nil && s.info.Name != "" && !reflect.DeepEqual(info, s.info) {
		err = fmt.Errorf("%w: it describes itself otherwise than at the first start", ErrProtocol)
	}
	if err != nil {
		return nil, s.failed(ctx, p, err)
	}
	if s.info.Name == "" { // in Open
		s.info = info
	}
	s.opts.Logger.Info("scorer program started", "command", s.name, "model", info.Name, "version", info.Version)
	return p, nil
}

// pause waits until a program may be started.
func (s *Scorer) pause(ctx context.Context) error {
	s.mu.Lock()
	wait := time.Until(s.next)
	s.mu.Unlock()
	if wait <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// failed ends a program, logs it, and returns the fault as an *Error. A fault delays the
// next start; the end of ctx is none.
func (s *Scorer) failed(ctx context.Context, p *program, fault error) error {
	e := &Error{Command: s.name, Err: fault, before: p == nil || p.asked == 0}
	if p != nil {
		p.kill(nil)
		p.end()
		e.Detail = p.said()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.mu.Lock()
	s.faults++
	pause := time.Duration(0)
	if s.faults > 1 {
		pause = s.opts.Backoff * time.Duration(min(1<<min(s.faults-2, 30), maxBackoff))
	}
	s.next = time.Now().Add(pause)
	s.mu.Unlock()
	s.opts.Logger.Debug("scorer program", "error", e, "pause", pause, "stderr", e.Detail)
	return e
}

// succeeded ends a series of faults.
func (s *Scorer) succeeded() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults, s.next = 0, time.Time{}
}

// question is what a program is told about a recording, before the samples.
type question struct {
	ID         uint64            `json:"id"`
	SampleRate int               `json:"sample_rate"`
	Samples    int               `json:"samples"`
	Categories []screen.Category `json:"categories"`
	Metadata   screen.Metadata   `json:"metadata"`
	Speech     screen.Speech     `json:"speech,omitempty"`
	Intervals  [][2]float64      `json:"speech_intervals"`
	Lossy      bool              `json:"lossy,omitempty"`
}

// ask asks a program about a recording.
func (s *Scorer) ask(ctx context.Context, p *program, in *features.Recording) (scores []screen.Score, reported string, err error) {
	src, n, rate := in.Mono()
	r := dsp.NewResampler(rate, sampleRate)
	if n = r.Len(n); n > maxSamples {
		return nil, "", &sourceError{fmt.Errorf("it has %d samples, want at most %d", n, maxSamples)}
	}
	p.asked++
	q := question{
		ID: p.asked, SampleRate: sampleRate, Samples: n, Categories: s.info.Categories,
		Metadata: in.Metadata, Speech: in.Speech, Intervals: [][2]float64{}, Lossy: in.Lossy,
	}
	if in.Analysis != nil {
		for _, g := range in.Analysis.Speech {
			q.Intervals = append(q.Intervals, [2]float64{g.Start, g.End})
		}
	}
	head, err := json.Marshal(q)
	if err != nil {
		return nil, "", &sourceError{err}
	}
	p.mu.Lock()
	p.wrote = 0
	p.mu.Unlock()
	err = p.within(ctx, s.opts.Timeout, func() error {
		if err := writeFrame(p.in, head); err != nil {
			return err
		}
		if err := writeSamples(p.in, r.Samples(src), n); err != nil {
			return err
		}
		if err := p.in.Flush(); err != nil {
			return err
		}
		data, err := readFrame(p.out)
		if err != nil {
			return err
		}
		scores, reported, err = parseAnswer(data, q.ID, s.info)
		return err
	})
	if err != nil {
		return nil, reported, err
	}
	addCautions(scores, in.Cautions())
	return scores, "", nil
}

// addCautions adds the cautions of the recording to those of the scores, in order.
func addCautions(scores []screen.Score, more []screen.Caution) {
	for i := range scores {
		c := append(scores[i].Cautions, more...)
		slices.Sort(c)
		scores[i].Cautions = slices.Compact(c)
	}
}
