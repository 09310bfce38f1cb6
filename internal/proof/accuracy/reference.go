package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/dsp/wav"
	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// truth is an entry of synthetic/truth.json.
type truth struct {
	Kind     string
	Frames   []float64 `json:"f0_frames_10ms_from_t0"`
	F0       float64
	HNR      float64 `json:"hnr_db"`
	SNR      float64 `json:"snr_db"`
	Target   float64
	Formants []float64
	Local    float64 `json:"jitter_local"`
	RAP      float64 `json:"jitter_rap"`
	PPQ5     float64 `json:"jitter_ppq5"`
	Shimmer  float64 `json:"shimmer_local"`
	APQ3     float64 `json:"shimmer_apq3"`
	APQ5     float64 `json:"shimmer_apq5"`
	Segments []struct {
		Type   string
		T0, T1 float64
		F0     []float64
	}
}

// readSet reads the reference set in dir.
func readSet(dir string) (*set, error) {
	s := new(set)
	if err := s.readSynthetic(filepath.Join(dir, "synthetic")); err != nil {
		return nil, err
	}
	if err := s.readVoices(filepath.Join(dir, "resynthesised")); err != nil {
		return nil, err
	}
	if err := s.readCPPS(dir); err != nil {
		return nil, err
	}
	if err := s.readRecordings(filepath.Join(dir, "recorded")); err != nil {
		return nil, err
	}
	return s, s.readCepstra(dir)
}

func (s *set) readSynthetic(dir string) error {
	var all map[string]truth
	if err := readJSON(filepath.Join(dir, "truth.json"), &all); err != nil {
		return err
	}
	for _, name := range sortedKeys(all) {
		x, err := readWAV(filepath.Join(dir, name+".wav"))
		if err != nil {
			return err
		}
		s.add(name, x, all[name])
	}
	return nil
}

// add adds a synthetic signal to the list of its kind.
func (s *set) add(name string, x []float64, v truth) {
	p := perturbed{x, signals.Perturbation{
		JitterLocal: v.Local, JitterRAP: v.RAP, JitterPPQ5: v.PPQ5,
		ShimmerLocal: v.Shimmer, ShimmerAPQ3: v.APQ3, ShimmerAPQ5: v.APQ5,
	}}
	pulses := strings.Contains(name, "_pulse_")
	switch v.Kind {
	case "harmonic", "harmonic+white":
		f := v.Frames
		if f == nil {
			f = frames(signals.Constant(v.F0), float64(len(x))/dsp.SampleRate)
		}
		switch {
		case name == "hc_vibrato_220":
			s.vibrato = append(s.vibrato, pitched{x, f})
		case v.Kind == "harmonic":
			s.clean = append(s.clean, pitched{x, f})
		case v.SNR == 0:
			s.noisy = append(s.noisy, pitched{x, f})
		}
	case "vuv":
		f := func(t float64) float64 {
			for _, g := range v.Segments {
				if g.Type == "v" && t >= g.T0 && t < g.T1 {
					return g.F0[0]
				}
			}
			return 0
		}
		s.voicing = append(s.voicing, pitched{x, frames(f, float64(len(x))/dsp.SampleRate)})
	case "jitter":
		if v.Target == 0 {
			return
		}
		if pulses {
			s.jitterPulses = append(s.jitterPulses, p)
		} else {
			s.jitterVowels = append(s.jitterVowels, p)
		}
	case "shimmer":
		if pulses {
			s.shimmerPulses = append(s.shimmerPulses, p)
		} else {
			s.shimmerVowels = append(s.shimmerVowels, p)
		}
	case "hnr":
		if v.HNR >= 5 && v.HNR <= 30 {
			s.hnr = append(s.hnr, noisyVowel{x, v.HNR})
		}
	case "klatt":
		if v.F0 <= 180 {
			s.vowels = append(s.vowels, klatt{x, [3]float64(v.Formants)})
		}
	}
}

func (s *set) readVoices(dir string) error {
	var all map[string]struct{ F0 []float64 } // every 5 ms
	if err := readJSON(filepath.Join(dir, "truth.json"), &all); err != nil {
		return err
	}
	for _, name := range sortedKeys(all) {
		x, err := readWAV(filepath.Join(dir, name+".wav"))
		if err != nil {
			return err
		}
		var f []float64
		for i := 0; i < len(all[name].F0); i += 2 {
			f = append(f, all[name].F0[i])
		}
		s.voices = append(s.voices, pitched{x, f})
		s.voices5dB = append(s.voices5dB, pitched{signals.AddNoise(x, 5, seed), f})
	}
	return nil
}

// readWAV returns the samples of a mono file at dsp.SampleRate.
func readWAV(name string) ([]float64, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	a, err := wav.Decode(f, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if a.SampleRate == dsp.SampleRate {
		return a.Samples, nil
	}
	return dsp.NewResampler(a.SampleRate, dsp.SampleRate).Resample(nil, a.Samples), nil
}

func readJSON(name string, v any) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	var k []string
	for name := range m {
		k = append(k, name)
	}
	slices.Sort(k)
	return k
}
