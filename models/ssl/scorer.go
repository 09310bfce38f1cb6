package ssl

import (
	"cmp"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"runtime"
	"slices"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/internal/nn/wav2vec"
	"github.com/voicescreen/voicescreen/screen"
)

// Model is the Scorer of deepfake. It is safe for concurrent use.
type Model struct {
	network *wav2vec.Network
	card    Card
	sum     string // SHA-256 of the file of the weights, in hexadecimal
}

// Card returns what is known about the model. The caller must not change it.
func (m *Model) Card() Card { return m.card }

// Int8 reports whether the weights are rounded to eight bits (Options.Int8).
func (m *Model) Int8() bool { return m.network.Int8() }

// Info returns name, version, category and origin of the model. The version is the
// beginning of the checksum of the weights, then "-int8" where they are rounded to eight
// bits, and the checksum of a calibration.
func (m *Model) Info() models.Info {
	i := models.Info{
		Name: m.card.Name, Version: m.sum[:min(len(m.sum), 12)], Categories: []screen.Category{screen.Deepfake}, Streams: true,
		Licence: m.card.Licence, Source: m.card.Source, SHA256: m.sum, NonCommercial: NonCommercial(m.card.Licence),
	}
	if m.Int8() {
		i.Version += "-int8"
	}
	if c := m.card.Calibration; c != nil {
		i.Calibrated, i.CalibratedOn = true, c.On
		i.Version += fmt.Sprintf("-%08x", crc32.ChecksumIEEE(fmt.Append(nil, *c)))
	}
	return i
}

// Recalibrated returns the model with another calibration of the probabilities that it
// gives: a and b of c apply to their logits, after a calibration that the model has. It
// shares the weights. The error wraps ErrFile if c is invalid.
func (m *Model) Recalibrated(c Calibration) (*Model, error) {
	if former := m.card.Calibration; former != nil {
		c.A, c.B = c.A*former.A, c.A*former.B+c.B
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	out := *m
	out.card.Calibration = &c
	return &out, nil
}

// Score returns a deepfake score with a segment for each window. The bounds of its
// interval are NaN. The contributions, "time.0.0-11.0_s" and so on, are the shares of
// the windows in the logit: Value is the score of a window before the calibration. A
// window costs seconds of processor time, which SSL.md states.
//
// Windows with less than 2 s of the speech that dsp found do not count, and their
// segments have no probability. If all are so, all count, and the score has the caution
// LittleSpeech.
func (m *Model) Score(ctx context.Context, in *features.Recording) ([]screen.Score, error) {
	r := newReader(in)
	w := windows(r.n)
	enough := slices.ContainsFunc(w, func(w [2]int) bool { return speech(in, w) >= minSpeech })
	logits, sum, n := make([]float64, len(w)), 0.0, 0.0
	for k, at := range w {
		if logits[k] = math.NaN(); enough && speech(in, at) < minSpeech {
			continue
		}
		x, err := r.read(at[0], at[1])
		if err == nil {
			logits[k], err = m.Logit(ctx, x)
		}
		if err != nil {
			return nil, fmt.Errorf("ssl: %w", err)
		}
		sum += logits[k]
		n++
	}
	s := m.score(sum/n, logits, segments(w))
	total := 0.0
	for _, at := range segments(w) {
		total += speech(in, at)
	}
	s.Coverage = min(total/minSpeech, 1)
	s.Cautions = in.Cautions()
	if !enough && !slices.Contains(s.Cautions, screen.LittleSpeech) {
		s.Cautions = append(s.Cautions, screen.LittleSpeech)
		slices.Sort(s.Cautions)
	}
	s.Decide(s.Band) // again: the cautions count
	return []screen.Score{s}, nil
}

// maxContributions is the greatest number of contributions of a score, as that of the
// shipped models.
const maxContributions = 20

// score returns the score of a recording with this mean of its windows' logits, which
// are NaN for a window without a score. The segments' limits are in samples.
func (m *Model) score(mean float64, logits []float64, limits [][2]int) screen.Score {
	info, c := m.Info(), m.card.Calibration
	if c == nil {
		c = &Calibration{A: 1}
	}
	s := screen.Score{
		Category: screen.Deepfake, Model: info.Name, Version: info.Version, Calibrated: info.Calibrated, Prior: c.Prior,
		Probability: dsp.Logistic(c.A*mean + c.B), Low: math.NaN(), High: math.NaN(), Segments: make([]screen.Segment, len(logits)),
	}
	n := 0.0
	for _, v := range logits {
		if !math.IsNaN(v) {
			n++
		}
	}
	for k, v := range logits {
		start, end := float64(limits[k][0])/sampleRate, float64(limits[k][1])/sampleRate
		s.Segments[k] = screen.Segment{Start: start, End: end, Probability: math.NaN()}
		if math.IsNaN(v) {
			continue
		}
		s.Segments[k].Probability = dsp.Logistic(c.A*v + c.B)
		s.Contributions = append(s.Contributions, screen.Contribution{
			Feature: fmt.Sprintf("time.%.1f-%.1f_s", start, end), Value: v, Unit: "1", Logits: c.A * v / n,
		})
	}
	slices.SortStableFunc(s.Contributions, func(a, b screen.Contribution) int { return cmp.Compare(math.Abs(b.Logits), math.Abs(a.Logits)) })
	s.Contributions = s.Contributions[:min(len(s.Contributions), maxContributions)]
	s.Decide(screen.Band{Low: screen.Half, High: screen.Half})
	return s
}

// Logit returns the logit of the probability that the network gives to the synthetic
// classes for the samples x, mono at 16 kHz, of at most 13 s. Fewer samples than the
// network's receptive field, 25 ms, are followed by zeros. Logit does not change x; it
// panics if x is longer. The error is that of ctx.
func (m *Model) Logit(ctx context.Context, x []float32) (float64, error) {
	defer runtime.KeepAlive(m.network) // its weights may be mapped from a file until nothing refers to it
	s := m.network.Shape()
	if field := s.Field(); len(x) < field {
		x = append(slices.Clone(x), make([]float32, field-len(x))...)
	}
	y, err := m.network.Logits(ctx, x)
	if err != nil {
		return 0, err
	}
	top := slices.Max(y)
	var odds [2]float64
	for i, v := range y {
		k := 0
		if m.card.Synthetic[i] {
			k = 1
		}
		odds[k] += math.Exp(v - top)
	}
	return math.Log(max(odds[1], leastOdds)) - math.Log(max(odds[0], leastOdds)), nil
}

// leastOdds keeps the logit of a class that the network excludes finite: e⁻⁷⁰⁰.
const leastOdds = 1e-304

// speech returns how many seconds of a stretch of the recording, given in samples, are
// speech: all where that was not measured.
func speech(in *features.Recording, at [2]int) float64 {
	start, end := float64(at[0])/sampleRate, float64(at[1])/sampleRate
	if in.Analysis == nil {
		return end - start
	}
	sum := 0.0
	for _, s := range in.Analysis.Speech {
		sum += max(0, min(s.End, end)-max(s.Start, start))
	}
	return sum
}

// reader reads stretches of a recording at sampleRate, in ascending order of their
// beginnings.
type reader struct {
	src  dsp.Samples
	n    int       // samples
	kept []float32 // samples that were read,
	at   int       // from this one on
	open bool
	buf  []float64
}

func newReader(in *features.Recording) *reader {
	src, n, rate := in.Mono()
	r := dsp.NewResampler(rate, sampleRate)
	return &reader{src: r.Samples(src), n: r.Len(n), buf: make([]float64, readBlock)}
}

// readBlock is how many samples are read at a time. Chosen.
const readBlock = 8192

// read returns the samples lo to hi−1, valid until the next call. One that is not finite
// is 0.
func (r *reader) read(lo, hi int) ([]float32, error) {
	if !r.open {
		if err := r.src.Rewind(); err != nil {
			return nil, err
		}
		r.open = true
	}
	drop := min(lo-r.at, len(r.kept))
	r.kept = append(r.kept[:0], r.kept[drop:]...)
	for r.at += drop; r.at < lo || r.at+len(r.kept) < hi; {
		want := hi - r.at - len(r.kept)
		if len(r.kept) == 0 && r.at < lo { // skip what is between stretches
			want = lo - r.at
		}
		n, err := r.src.Read(r.buf[:min(want, len(r.buf))])
		if err == io.EOF {
			err = dsp.ErrChanged
		}
		if err != nil {
			return nil, err
		}
		if r.at < lo {
			r.at += n
			continue
		}
		for _, v := range r.buf[:n] {
			if !dsp.Finite(v) {
				v = 0
			}
			r.kept = append(r.kept, float32(v))
		}
	}
	return r.kept[:hi-lo], nil
}
