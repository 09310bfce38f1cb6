package voicescreen

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"time"

	"github.com/go-audio/audio"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/dsp/wav"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/store"
)

// Analysis is what Engine.Analyze finds in a recording. It is the caller's.
type Analysis struct {
	Duration      float64     // seconds that were analysed
	SpeechSeconds float64     // of them, in stretches of speech
	SampleRate    int         // Hz, of the file
	Truncated     bool        // the file ends before what its header announces
	Partial       bool        // the recording goes on beyond AudioOptions.MaxDuration
	Quality       dsp.Quality // of the recording

	Features models.Vector // of schema voice/1; NaN where undefined

	// Scores has one for each category that the recording is good enough for,
	// in the order depression, anxiety, deepfake.
	Scores []models.Score

	// Failures says of each other category why it has no score.
	Failures map[models.Category]*Failure
}

// allCategories is what Analyze scores.
var allCategories = []models.Category{models.Depression, models.Anxiety, models.Deepfake}

// Analyze reads a WAV file of one channel, at 8 to 192 kHz, and scores it in
// every category. There is no session, and nothing is stored. It is the same
// analysis as after Submit, but that a file which was cut short is analysed as
// far as it goes.
//
// It waits while as many analyses as the engine has workers are under way. The
// error is ErrAudio for what is no such file, ErrUpload if r fails, ctx's
// error, or internal. A recording that is too short or too poor for a score is
// no error: see Analysis.Failures.
func (e *Engine) Analyze(ctx context.Context, r io.Reader) (*Analysis, error) {
	return e.analyze(ctx, func(ctx context.Context) (*recording, error) {
		return readRecording(ctx, r, 0, e.opts.Audio.MaxDuration)
	})
}

// AnalyzeBuffer is Analyze for samples in memory: one channel of a buffer, by
// its number from 1 on, or 0 for the only one. An IntBuffer must state its
// SourceBitDepth; the samples of float buffers are nominally in [-1, 1). The
// buffer is not changed and not kept.
func (e *Engine) AnalyzeBuffer(ctx context.Context, buf audio.Buffer, channel int) (*Analysis, error) {
	return e.analyze(ctx, func(context.Context) (*recording, error) {
		a, err := wav.FromBuffer(buf, channel)
		if err != nil {
			return nil, err
		}
		rec := &recording{samples: a.Samples, rate: a.SampleRate}
		if most := maxSamples(a.SampleRate, e.opts.Audio.MaxDuration); len(rec.samples) > most {
			rec.samples, rec.partial = rec.samples[:most], true
		}
		return rec, checkRate(rec.rate)
	})
}

func (e *Engine) analyze(ctx context.Context, read func(context.Context) (*recording, error)) (_ *Analysis, err error) {
	ctx, leave, err := e.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	b, err := e.takeBench(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if v := recover(); v != nil {
			b, err = nil, panicError(v) // its scratch may be in any state
		}
		e.benches <- b
	}()

	rec, err := read(ctx)
	if err != nil {
		return nil, audioError(err)
	}
	in := b.measure(rec)
	out := &Analysis{
		Duration:      in.Analysis.Duration,
		SpeechSeconds: in.Analysis.SpeechDuration(),
		SampleRate:    rec.rate,
		Truncated:     rec.truncated,
		Partial:       rec.partial,
		Quality:       in.Analysis.Quality,
		Features:      in.Features,
		Failures:      map[models.Category]*Failure{},
	}
	var good []models.Category
	for _, c := range allCategories {
		if f := e.opts.Audio.gate(c, in.Analysis); f != nil {
			out.Failures[c] = f
		} else {
			good = append(good, c)
		}
	}
	out.Scores, err = e.models.score(ctx, in, good)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// outcome is what came of the analysis of a session: scores and features, or a
// failure.
type outcome struct {
	scores   []models.Score
	features map[string]float64
	failure  *Failure
}

// analyzeSession analyses the stored recording of s. An error means that it
// may be tried again.
func (e *Engine) analyzeSession(ctx context.Context, s *store.Session) (out outcome, err error) {
	b, err := e.takeBench(ctx)
	if err != nil {
		return out, err
	}
	defer func() {
		if v := recover(); v != nil {
			e.benches <- nil // its scratch may be in any state
			panic(v)
		}
		e.benches <- b
	}()

	rec, err := e.openRecording(ctx, s)
	if err != nil && isAudioFault(err) {
		out.failure = decodeFailure(err)
		return out, nil
	}
	if err != nil {
		return out, err
	}
	categories := s.Product.Categories()
	seconds := float64(len(rec.samples)) / float64(rec.rate)
	for _, c := range categories { // before the work, which a short one is not worth
		if out.failure = e.opts.Audio.lengthFailure(c, seconds); out.failure != nil {
			return out, nil
		}
	}
	in := b.measure(rec)
	in.Metadata = s.Metadata
	for _, c := range categories {
		if out.failure = e.opts.Audio.gate(c, in.Analysis); out.failure != nil {
			return out, nil
		}
	}
	if out.scores, err = e.models.score(ctx, in, categories); err != nil {
		return outcome{}, err
	}
	out.features = featureMap(in.Features)
	return out, nil
}

func (e *Engine) openRecording(ctx context.Context, s *store.Session) (*recording, error) {
	f, err := e.store.OpenAudio(ctx, s.Audio)
	if err != nil {
		return nil, fmt.Errorf("voicescreen: open the audio: %w", err)
	}
	defer f.Close()
	return readRecording(ctx, f, s.Channel, e.opts.Audio.MaxDuration)
}

// featureMap returns the features that are defined, by name.
func featureMap(v models.Vector) map[string]float64 {
	m := make(map[string]float64, len(v.Values))
	for i, x := range v.Values {
		if !math.IsNaN(x) {
			name, _ := v.Schema.Feature(i)
			m[name] = x
		}
	}
	return m
}

// recording is one channel of what a file holds.
type recording struct {
	samples   []float64 // at rate
	rate      int       // Hz
	truncated bool      // the file was cut short
	partial   bool      // there is more than was read
}

// readRecording decodes one channel of a WAV file, 0 for the only one, up to
// the given length. Memory grows with what is read. Its errors are those of
// package wav, ErrAudio, and ctx's.
func readRecording(ctx context.Context, r io.Reader, channel int, most time.Duration) (*recording, error) {
	wr, err := wav.NewReader(r)
	if err != nil {
		return nil, err
	}
	f := wr.Format()
	o := SubmitOptions{Channel: channel}
	if err := o.checkFormat(f); err != nil {
		return nil, err
	}
	rec := &recording{rate: f.SampleRate}
	limit := maxSamples(f.SampleRate, most)
	first := max(channel, 1) - 1
	var x samples
	block := make([]float64, checkBlock*f.Channels)
	for x.n <= limit {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := wr.Read(block)
		for i := first; i < n; i += f.Channels {
			x.add(block[i])
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	rec.partial = x.n > limit
	rec.truncated = wr.Truncated()
	rec.samples = x.join(min(x.n, limit))
	return rec, nil
}

// samples collects samples in blocks: a slice that grows by append holds more
// than twice the memory while it does.
type samples struct {
	full  [][]float64
	block []float64
	n     int
}

// sampleBlock is the length of a block. Chosen: 0.5 MB, a second and a half at
// 44.1 kHz.
const sampleBlock = 1 << 16

func (s *samples) add(v float64) {
	if len(s.block) == cap(s.block) {
		if s.block != nil {
			s.full = append(s.full, s.block)
		}
		s.block = make([]float64, 0, sampleBlock)
	}
	s.block = append(s.block, v)
	s.n++
}

// join returns the first n samples in one slice.
func (s *samples) join(n int) []float64 {
	x := make([]float64, 0, n)
	for _, b := range append(s.full, s.block) {
		x = append(x, b[:min(len(b), n-len(x))]...)
	}
	return x
}

// maxSamples is how many samples of a recording are analysed. Rates above
// 48 kHz have no more samples than that one, and so less time.
func maxSamples(rate int, d time.Duration) int {
	return int(min(d.Seconds()*float64(min(rate, 48000)), math.MaxInt32))
}

func checkRate(rate int) error {
	o := SubmitOptions{}
	return o.checkFormat(wav.Format{SampleRate: rate, Channels: 1})
}

// bench is what one analysis at a time works with. It keeps its memory from
// one recording to the next.
type bench struct {
	analyzer  *dsp.Analyzer
	resampler *dsp.Resampler // for the rate below; nil at first
	from      int            // Hz
}

// benchCount is how many analyses may be under way at once: as many as there
// are workers, so that they bound the memory, or as processors where there are
// none.
func benchCount(workers int) int {
	if workers > 0 {
		return workers
	}
	return runtime.GOMAXPROCS(0)
}

// takeBench waits for a bench to be free. It goes back into e.benches, or nil
// in its place.
func (e *Engine) takeBench(ctx context.Context) (*bench, error) {
	select {
	case b := <-e.benches:
		if b == nil {
			b = &bench{analyzer: dsp.NewAnalyzer()}
		}
		return b, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// measure analyses a recording. What it returns is valid until the next call.
func (b *bench) measure(rec *recording) *models.Recording {
	in := &models.Recording{Samples: rec.samples, Native: rec.samples, NativeRate: rec.rate}
	if rec.rate != dsp.SampleRate {
		if b.from != rec.rate {
			b.resampler, b.from = dsp.NewResampler(rec.rate, dsp.SampleRate), rec.rate
		}
		in.Samples = b.resampler.Resample(nil, rec.samples)
	}
	in.Analysis = b.analyzer.Analyze(in.Samples)
	if rec.rate != dsp.SampleRate { // resampling rounds what was cut off
		in.Analysis.Quality.Clipped = dsp.Clipped(rec.samples)
	}
	in.Features = models.Extract(in.Analysis)
	return in
}
