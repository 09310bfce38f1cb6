package main

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

const (
	gross = 0.2 // relative error from which a frame is a gross error (Rabiner et al. 1976)
	edge  = 3   // frames at each end of a synthetic signal, faded in and out, that are not counted
)

// pitchCount counts the errors of F0 tracks.
type pitchCount struct {
	cents                 []float64
	voiced, missed, gross int
	frames, wrong, extra  int // all frames, frames with wrong voicing, and unvoiced frames taken for voiced
}

func (c *pitchCount) add(f0, truth []float64, skip int) {
	for i := skip; i < min(len(f0), len(truth))-skip; i++ {
		c.frames++
		if (f0[i] > 0) != (truth[i] > 0) {
			c.wrong++
		}
		if truth[i] == 0 {
			if f0[i] > 0 {
				c.extra++
			}
			continue
		}
		c.voiced++
		switch {
		case f0[i] == 0:
			c.missed++
		case math.Abs(f0[i]/truth[i]-1) > gross:
			c.gross++
		default:
			c.cents = append(c.cents, math.Abs(1200*math.Log2(f0[i]/truth[i])))
		}
	}
}

func pitchRows(m map[string]float64, a *dsp.Analyzer, s *set) {
	count := func(v []pitched, skip int) (c pitchCount) {
		for _, p := range v {
			c.add(a.Analyze(p.x).F0, p.f0, skip)
		}
		return c
	}
	medianOf := func(p pitched) float64 {
		c := count([]pitched{p}, edge)
		return median(c.cents)
	}
	m["F0, clean, largest median"] = worst(s.clean, medianOf)
	m["F0, vibrato, median"] = worst(s.vibrato, medianOf)
	c := count(s.noisy, edge)
	m["F0 at 0 dB, median"] = median(c.cents)
	m["F0 at 0 dB, gross"] = percent(c.gross, c.voiced)
	m["F0 at 0 dB, missed"] = percent(c.missed, c.voiced)
	c = count(s.voices, 0)
	m["F0, resynthesised voices, gross"] = percent(c.gross, c.voiced-c.missed)
	m["F0, resynthesised voices, voiced frames missed"] = percent(c.missed, c.voiced)
	m["F0, resynthesised voices, unvoiced frames taken for voiced"] = percent(c.extra, c.frames-c.voiced)
	c = count(s.voices5dB, 0)
	m["F0, the same at 5 dB, gross"] = percent(c.gross, c.voiced-c.missed)
	c = count(s.voicing, 0)
	m["voicing decision, errors"] = percent(c.wrong, c.frames)
	speakerRows(m, a, s)
}

// speakerRows measures the voicing decision on connected speech. Frames of
// irregular voice are not counted: see signals.Speech.
func speakerRows(m map[string]float64, a *dsp.Analyzer, s *set) {
	var all pitchCount
	for i, suffix := range []string{"", " at 10 dB", " at 0 dB"} {
		var c pitchCount
		for _, p := range s.speakers[i] {
			f0 := a.Analyze(p.x).F0
			for k := range f0 {
				if !p.Irregular[k] {
					c.add(f0[k:k+1], p.F0[k:k+1], 0)
				}
			}
		}
		m["speakers"+suffix+", voiced frames missed"] = percent(c.missed, c.voiced)
		all.voiced, all.missed, all.gross = all.voiced+c.voiced, all.missed+c.missed, all.gross+c.gross
		if i == 0 {
			m["speakers, unvoiced frames taken for voiced"] = percent(c.extra, c.frames-c.voiced)
		}
	}
	m["speakers at 0 dB and above, gross"] = percent(all.gross, all.voiced-all.missed)
}
