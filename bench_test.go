package voicescreen_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/dsp/wav"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models/shipped"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
	"github.com/voicescreen/voicescreen/store/memory"
)

// BenchmarkStage runs each stage of the analysis, on one core, over the
// recording of testdata/interview_en.wav; "analysis" is all that happens between
// decoding and the features, "whole" is from WAV bytes to the features.
//
//	go test -run '^$' -bench . .
func BenchmarkStage(b *testing.B) {
	file := readInterview(b)
	rec, err := wav.Decode(bytes.NewReader(file), nil)
	if err != nil {
		b.Fatal(err)
	}
	x := rec.Samples
	narrow := dsp.NewResampler(dsp.SampleRate, 16000).Resample(nil, x)
	a := dsp.NewAnalyzer()
	an := a.Analyze(x)
	f0 := an.F0
	vector := features.Extract(an)

	stage := func(name string, run func()) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				run()
			}
			reportAudio(b, an.Duration*float64(b.N))
		})
	}
	stage("decode", func() { wav.Decode(bytes.NewReader(file), nil) })
	resampler, wide := dsp.NewResampler(16000, dsp.SampleRate), []float64(nil)
	stage("resample from 16 kHz", func() { wide = resampler.Resample(wide, narrow) })
	spectral, tracks := dsp.NewSpectral(), dsp.NewAnalyzer().Analyze(x)
	stage("level, loudness, spectrum, cepstrum", func() { spectral.Frames(x, 0, tracks) })
	pitch, track := dsp.NewPitch(dsp.SampleRate, nil), []float64(nil)
	stage("pitch", func() { track = pitch.Track(track, x) })
	pulses, times := dsp.NewPulses(dsp.SampleRate), []float64(nil)
	stage("pulses, jitter, shimmer", func() {
		times = pulses.Find(times, x, f0)
		dsp.MeasureJitter(times)
		dsp.MeasureShimmer(times, pulses.Amplitudes())
	})
	hnr, ratios := dsp.NewHNR(dsp.SampleRate), []float64(nil)
	stage("harmonics-to-noise ratio", func() { ratios = hnr.Track(ratios, x, f0) })
	cpps := dsp.NewCPPS(dsp.SampleRate)
	stage("cepstral peak prominence", func() { cpps.Measure(x, f0) })
	formants, resonances := dsp.NewFormantTracker(), []dsp.Formants(nil)
	stage("formants", func() { resonances = formants.Track(resonances, x, 0, f0) })
	stage("analysis", func() { an = a.Analyze(x) })
	stage("features", func() { features.Extract(an) })
	scorers, err := shipped.Scorers()
	if err != nil {
		b.Fatal(err)
	}
	in := &features.Recording{Features: vector, Analysis: an, Samples: x, Native: x, NativeRate: dsp.SampleRate}
	for _, s := range scorers {
		stage("score "+s.Info().Categories[0].String(), func() {
			if _, err := s.Score(b.Context(), in); err != nil {
				b.Fatal(err)
			}
		})
	}
	stage("whole", func() {
		r, err := wav.Decode(bytes.NewReader(file), nil)
		if err != nil {
			b.Fatal(err)
		}
		features.Extract(a.Analyze(r.Samples))
	})
}

// BenchmarkAnalyze runs the whole as a caller does: from WAV bytes to the
// three scores.
func BenchmarkAnalyze(b *testing.B) {
	e, err := voicescreen.New(newMemory(b), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close(context.Background())
	file := readInterview(b)
	var seconds float64
	for b.Loop() {
		a, err := e.Analyze(b.Context(), bytes.NewReader(file), nil)
		if err != nil {
			b.Fatal(err)
		}
		seconds += a.Duration
	}
	reportAudio(b, seconds)
}

// BenchmarkGonumFFT is the yardstick of this machine: gonum's real transform
// of 1024 points. Figures of two machines compare as ratios to it.
func BenchmarkGonumFFT(b *testing.B) {
	x := make([]float64, 1024)
	for i := range x {
		x[i] = float64(i % 17)
	}
	f := fourier.NewFFT(len(x))
	c := f.Coefficients(nil, x)
	for b.Loop() {
		f.Coefficients(c, x)
	}
}

// reportAudio reports how many seconds of audio went through in a second.
func reportAudio(b *testing.B, seconds float64) {
	b.ReportMetric(seconds/b.Elapsed().Seconds(), "s/s")
	b.ReportMetric(1e3*b.Elapsed().Seconds()/seconds, "ms/s")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkCalibrate10000 is a calibration of depression on 10,000 labelled
// sessions of a store on disk.
func BenchmarkCalibrate10000(b *testing.B) {
	path := filepath.Join(b.TempDir(), "clinic.db")
	st, err := bolt.Open(path, &bolt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	filled := memory.New(nil)
	addLabelled(b, filled, "a", 10000, 1)
	list, err := filled.Scan(b.Context(), "", 10000)
	if err != nil {
		b.Fatal(err)
	}
	var group sync.WaitGroup
	work := make(chan *store.Session)
	for range 64 { // commits are shared
		group.Go(func() {
			for s := range work {
				if err := st.Create(b.Context(), s); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for _, s := range list {
		work <- s
	}
	close(work)
	group.Wait()
	e, err := voicescreen.New(st, idle())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		got, err := e.Calibrate(b.Context(), &voicescreen.CalibrateOptions{Categories: []screen.Category{screen.Depression}, DryRun: true})
		if err != nil || got[0].Learned == nil {
			b.Fatalf("got %+v and error %v", got, err)
		}
	}
	if err := errors.Join(e.Close(context.WithoutCancel(b.Context())), st.Close()); err != nil {
		b.Fatal(err)
	}
}
