package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-audio/audio"
	"github.com/go-audio/wav"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// prominent is a signal whose smoothed cepstral peak prominence (CPPS) was measured by
// Praat 6.3.07. Only signals of one group are compared, which have one pitch, since the
// scale of CPPS depends on the window.
type prominent struct {
	name, group string
	x           []float64
	praat       float64 // dB
}

// praatCPPS is the CPPS of the signals of addCPPS as Praat 6.3.07 measured it, in dB by
// name. The script is cpps.praat.
//
//go:embed cpps.json
var praatCPPS []byte

// addCPPS adds signals of two pitches with different jitter and noise.
func (s *set) addCPPS() {
	var praat map[string]float64
	if err := json.Unmarshal(praatCPPS, &praat); err != nil {
		panic(err) // impossible: the file is embedded
	}
	const sr = dsp.SampleRate
	for i, f0 := range []float64{120, 190} {
		group := fmt.Sprint(f0)
		add := func(name string, x []float64) {
			name += "_" + group
			s.cpps = append(s.cpps, prominent{name, group, signals.Quantize(x, seed), praat[name]})
		}
		for k, jitter := range []float64{0, 0.005, 0.01, 0.02, 0.04} {
			t := signals.NewTrain(f0, duration, jitter, 0, seed+uint64(i))
			add(fmt.Sprintf("jitter_pulse_%d", k), signals.Normalize(t.Pulses(sr, duration), 0.5))
			add(fmt.Sprintf("jitter_vowel_%d", k), signals.Normalize(t.Vowel(sr, duration), 0.5))
		}
		for _, db := range []float64{0, 5, 10, 15, 20, 25, 30, 40} {
			add(fmt.Sprintf("hnr_%02.0f", db), signals.HNR(sr, f0, db, duration, seed))
		}
	}
}

// readCPPS reads the signals of the reference set in dir with different jitter and noise,
// and Praat's values for them.
func (s *set) readCPPS(dir string) error {
	var all map[string]struct {
		Praat struct {
			CPPS float64 `json:"cpps"`
		} `json:"praat"`
	}
	if err := readJSON(filepath.Join(dir, "functionals_praat_egemaps.json"), &all); err != nil {
		return err
	}
	for _, group := range []string{"_110_", "_210_"} {
		for _, name := range sortedKeys(all) {
			file, synthetic := strings.CutPrefix(name, "synth/")
			if !synthetic || !strings.Contains(file, group) || !(strings.HasPrefix(file, "jit_") || strings.HasPrefix(file, "hnr_")) {
				continue
			}
			x, err := readWAV(filepath.Join(dir, "synthetic", file+".wav"))
			if err != nil {
				return err
			}
			s.cpps = append(s.cpps, prominent{file, group, x, all[name].Praat.CPPS})
		}
	}
	return nil
}

// cppsRows takes 1 minus Spearman's rank correlation with Praat, the largest of all groups.
func cppsRows(m map[string]float64, a *dsp.Analyzer, s *set) {
	ours, theirs := map[string][]float64{}, map[string][]float64{}
	for _, p := range s.cpps {
		ours[p.group] = append(ours[p.group], a.Analyze(p.x).CPPS)
		theirs[p.group] = append(theirs[p.group], p.praat)
	}
	m["CPPS, 1 − rank correlation with Praat"] = worst(sortedKeys(ours), func(group string) float64 {
		return 1 - correlation(ranks(ours[group]), ranks(theirs[group]))
	})
}

// ranks returns the rank of each value, from 0. Equal values share the lowest rank.
func ranks(v []float64) []float64 {
	sorted := slices.Sorted(slices.Values(v))
	r := make([]float64, len(v))
	for i, x := range v {
		r[i] = float64(slices.Index(sorted, x))
	}
	return r
}

// correlation is Pearson's correlation of two lists of one length.
func correlation(a, b []float64) float64 {
	ma, mb := dsp.Mean(a), dsp.Mean(b)
	var ab, aa, bb float64
	for i := range a {
		ab += (a[i] - ma) * (b[i] - mb)
		aa += (a[i] - ma) * (a[i] - ma)
		bb += (b[i] - mb) * (b[i] - mb)
	}
	return ab / math.Sqrt(aa*bb)
}

// write writes the signals that cpps.praat measures to the directory dir, as WAV files of
// 16 bits. It creates the directory if it is missing.
func (s *set) write(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, p := range s.cpps {
		if err := writeWAV(filepath.Join(dir, p.name+".wav"), p.x); err != nil {
			return err
		}
	}
	return nil
}

func writeWAV(name string, x []float64) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	buf := &audio.IntBuffer{Format: &audio.Format{NumChannels: 1, SampleRate: dsp.SampleRate}, SourceBitDepth: 16, Data: make([]int, len(x))}
	for i, v := range x {
		buf.Data[i] = int(math.Round(v * 32768))
	}
	e := wav.NewEncoder(f, dsp.SampleRate, 16, 1, 1)
	if err := e.Write(buf); err != nil {
		return err
	}
	return e.Close()
}
