package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/dsp/wav"
	"github.com/voicescreen/voicescreen/models"
)

// maxDuration is how much of a recording is analysed, from its beginning. It
// is what the engine takes by default, and bounds the memory.
const maxDuration = 10 * time.Minute

// The rates that the engine takes, in Hz.
const (
	minRate = 8000
	maxRate = 192000
)

// recording is one channel of a file.
type recording struct {
	samples   []float64
	rate      int  // Hz
	truncated bool // the file ends before what its header announces
	partial   bool // the recording goes on beyond maxDuration
}

// readRecording reads one channel of a WAV file, 0 for the only one, up to
// maxDuration.
func readRecording(r io.Reader, channel int) (*recording, error) {
	wr, err := wav.NewReader(r)
	if err != nil {
		return nil, err
	}
	f := wr.Format()
	if f.SampleRate < minRate || f.SampleRate > maxRate {
		return nil, fmt.Errorf("sample rate is %d Hz, want %d to %d", f.SampleRate, minRate, maxRate)
	}
	if channel == 0 && f.Channels > 1 || channel > f.Channels {
		return nil, &wav.ChannelError{Channels: f.Channels, Channel: channel}
	}
	rec := &recording{rate: f.SampleRate}
	limit := int(maxDuration.Seconds()) * f.SampleRate
	block := make([]float64, 4096*f.Channels) // chosen: a tenth of a second
	for {
		n, err := wr.Read(block)
		for i := max(channel, 1) - 1; i < n; i += f.Channels {
			rec.samples = append(rec.samples, block[i])
		}
		if len(rec.samples) > limit {
			rec.samples, rec.partial = rec.samples[:limit], true
			return rec, nil
		}
		if err == io.EOF {
			rec.truncated = wr.Truncated()
			return rec, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// openFile opens a file, or standard input for "-". The error says what is
// wrong and not the path, which the caller adds.
func openFile(path string, stdin io.Reader) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(stdin), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, bare(err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, errors.New("is a directory")
	}
	return f, nil
}

// bare takes the path out of an error of package os.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// bench measures one recording at a time and keeps its memory. What it returns
// is valid until its next call.
type bench struct {
	analyzer  *dsp.Analyzer
	resampler *dsp.Resampler // from the rate below
	from      int            // Hz; 0 at first
}

func newBench() *bench { return &bench{analyzer: dsp.NewAnalyzer()} }

// readFile reads one channel of the file at path, 0 for the only one. The error
// says what is wrong and not the path.
func readFile(path string, stdin io.Reader, channel int) (*recording, error) {
	f, err := openFile(path, stdin)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rec, err := readRecording(f, channel)
	if err == nil && len(rec.samples) == 0 {
		return nil, errors.New("file holds no samples")
	}
	return rec, err
}

func (b *bench) measure(rec *recording) *models.Recording {
	in := &models.Recording{Samples: rec.samples, Native: rec.samples, NativeRate: rec.rate}
	if rec.rate != dsp.SampleRate {
		if b.from != rec.rate {
			b.resampler, b.from = dsp.NewResampler(rec.rate, dsp.SampleRate), rec.rate
		}
		in.Samples = b.resampler.Resample(nil, rec.samples)
	}
	in.Analysis = b.analyzer.Analyze(in.Samples)
	in.Features = models.Extract(in.Analysis)
	return in
}

// warnings says what of the file was not analysed.
func warnings(truncated, partial bool) []string {
	var w []string
	if truncated {
		w = append(w, "the file was cut short; it is analysed as far as it goes")
	}
	if partial {
		w = append(w, fmt.Sprintf("only the first %.0f minutes are analysed", maxDuration.Minutes()))
	}
	return w
}
