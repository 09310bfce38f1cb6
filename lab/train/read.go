package train

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/features/spoof"
	"github.com/voicescreen/voicescreen/lab/augment"
	"github.com/voicescreen/voicescreen/lab/manifest"
)

// read extracts the features of all rows, in parallel.
func (t *trainer) read(ctx context.Context) error {
	t.vectors = make([][][]features.Vector, len(t.train))
	t.made, t.manipulated = make([][]madeSpoof, len(t.train)), make([][]madeSpoof, len(t.train))
	t.heldVectors = make([][]features.Vector, len(t.held))
	if t.nested && t.opts.Through != nil {
		t.through = make([][]features.Vector, len(t.train))
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex // protects t.done and the order of Progress
		jobs = make(chan int)
	)
	for range t.workers() {
		wg.Go(func() {
			w := &reader{trainer: t}
			for i := range jobs {
				if err := w.row(i); err != nil {
					cancel(err)
					continue
				}
				mu.Lock()
				t.advance()
				mu.Unlock()
			}
		})
	}
	for i := 0; i < len(t.train)+len(t.held) && ctx.Err() == nil; i++ {
		jobs <- i
	}
	close(jobs)
	wg.Wait()
	return context.Cause(ctx)
}

// reader is one goroutine's means of extraction.
type reader struct {
	*trainer
	analyzer  *dsp.Analyzer
	resampler *dsp.Resampler
	rate      int
	extractor *spoof.Extractor
}

// row extracts row i, counting the training rows first.
func (r *reader) row(i int) error {
	held := i >= len(r.train)
	var row manifest.Row
	if held {
		row = r.held[i-len(r.train)]
	} else {
		row = r.train[i]
	}
	x, rate, err := decoded(r.opts.Decode, row.Path)
	if err != nil {
		return err
	}
	if held {
		r.heldVectors[i-len(r.train)] = r.extract(x, rate)
		return nil
	}
	if r.through != nil {
		y, rate, err := decoded(r.opts.Through, row.Path)
		if err != nil {
			return fmt.Errorf("%w, after a channel", err)
		}
		r.through[i] = r.extract(y, rate)
	}
	r.vectors[i] = [][]features.Vector{r.extract(x, rate)}
	rng := rand.New(rand.NewPCG(r.opts.Seed, uint64(i)))
	for _, pass := range r.copies {
		r.vectors[i] = append(r.vectors[i], r.extract(pass(x, rate, rng), rate))
	}
	if len(r.copies) > 0 && !row.Positive {
		r.made[i] = r.spoofsOf(x, rate, i)
		r.manipulated[i] = r.manipulationsOf(x, rate, i)
	}
	return nil
}

// decoded is the recording at path.
func decoded(decode func(path string) ([]float64, int, error), path string) (x []float64, rate int, err error) {
	if x, rate, err = decode(path); err != nil {
		return nil, 0, fmt.Errorf("train: read %s: %w", path, err)
	}
	if rate < dsp.MinResampleRate || rate > dsp.MaxResampleRate {
		return nil, 0, fmt.Errorf("train: read %s: rate of %d Hz", path, rate)
	}
	return x, rate, nil
}

// spoofsOf makes synthetic voices of the real one of row i: one by a method that exists,
// and one whose bands err, through a channel.
func (r *reader) spoofsOf(x []float64, rate, i int) []madeSpoof {
	rng := rand.New(rand.NewPCG(r.opts.Seed, uint64(len(r.train)+i))) // not that of its channels
	y, method := augment.Spoof(x, rate, rng)
	if method == "" {
		return nil // too short
	}
	out := []madeSpoof{{r.extract(y, rate), method}}
	y, method = augment.Decoded(x, rate, rng)
	return append(out, madeSpoof{r.extract(augment.Channel(y, rate, rng), rate), method})
}

// manipulationsOf changes pitch or tempo of the recording of row i in each way, and passes
// each of these voices through one of what makes the copies of a recording besides.
func (r *reader) manipulationsOf(x []float64, rate, i int) (out []madeSpoof) {
	rng := rand.New(rand.NewPCG(r.opts.Seed, uint64(2*len(r.train)+i))) // not that of its spoofs
	augment.Manipulated(x, rate, rng, func(y []float64, method string) {
		pass := r.copies[rng.IntN(len(r.copies))]
		out = append(out, madeSpoof{r.extract(y, rate), method}, madeSpoof{r.extract(pass(y, rate, rng), rate), method})
	})
	return out
}

// extract computes the features of the task's schema: of the segments that a
// model of it scores.
func (r *reader) extract(x []float64, rate int) []features.Vector {
	if r.schema == spoof.Schema() {
		if r.extractor == nil {
			r.extractor = spoof.NewExtractor()
		}
		return r.extractor.Segments(x, rate)
	}
	if r.analyzer == nil {
		r.analyzer = dsp.NewAnalyzer()
	}
	if r.rate != rate {
		r.resampler, r.rate = dsp.NewResampler(rate, dsp.SampleRate), rate
	}
	return []features.Vector{features.Extract(r.analyzer.Analyze(r.resampler.Resample(nil, x)))}
}
