package features

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

// timing computes the measures of speech and pauses. The span is the time
// from the start of the first to the end of the last speech segment. Silence
// before and after it depends on when the recording was started and stopped.
//
//   - speech.duration_s: time in speech segments
//   - speech.ratio: that over the whole recording
//   - speech.rate_syl_s: syllable nuclei over the span, pauses included
//   - articulation.rate_syl_s: syllable nuclei over speech.duration_s (both
//     after de Jong and Wempe 2009)
//   - pause.count_min: pauses per minute of the span
//   - pause.mean_s, pause.sd_s: of their durations; need one and two pauses
//   - pause.ratio: time in pauses over the span
//
// Without speech the first two are 0 and all others NaN. The ratio of an empty
// recording is NaN.
func (e *extraction) timing() {
	a := e.a
	speech := a.SpeechDuration()
	e.set("speech.duration_s", speech)
	e.set("speech.ratio", speech/a.Duration)
	span := e.span()
	if span <= 0 {
		return
	}
	pauses := make([]float64, len(a.Pauses))
	var total float64
	for i, p := range a.Pauses {
		pauses[i] = p.Duration()
		total += pauses[i]
	}
	e.set("speech.rate_syl_s", float64(len(a.Syllables))/span)
	e.set("articulation.rate_syl_s", float64(len(a.Syllables))/speech)
	e.set("pause.count_min", 60*float64(len(pauses))/span)
	e.set("pause.mean_s", dsp.Mean(pauses))
	e.set("pause.sd_s", dsp.SD(pauses))
	e.set("pause.ratio", total/span)
}

// span is the time in seconds from the first speech to the last, 0 if there is no
// speech.
func (e *extraction) span() float64 {
	s := e.a.Speech
	if len(s) == 0 {
		return 0
	}
	return s[len(s)-1].End - s[0].Start
}

// peakProminence is how far a loudness peak must stand out, as a share of the
// 95th minus the 5th percentile of the loudness in the span. Chosen: a tenth
// keeps the syllables and leaves out the ripple on them.
const peakProminence = 0.1

// rhythm computes that of the loudness: loudness.peaks_s as GeMAPS
// has it (Eyben et al. 2016, "loudness peaks per second"), over the span, and
// mean and standard deviation of the gaps from peak to peak. The track is
// smoothed over three frames, as in GeMAPS; a peak is a local maximum whose
// prominence is at least peakProminence. Without speech all are NaN.
func (e *extraction) rhythm() {
	span := e.span()
	if span <= 0 {
		return
	}
	first := e.nearest(e.a.Speech[0].Start)
	last := e.nearest(e.a.Speech[len(e.a.Speech)-1].End)
	if last <= first {
		return
	}
	peaks := prominentPeaks(smooth3(e.loudness[first:last]), e.x)
	gaps := e.x[:0]
	for i := 1; i < len(peaks); i++ {
		gaps = append(gaps, float64(peaks[i]-peaks[i-1])*dsp.Hop)
	}
	e.set("loudness.peaks_s", float64(len(peaks))/span)
	e.set("loudness.peak_gap_mean_s", dsp.Mean(gaps))
	e.set("loudness.peak_gap_sd_s", dsp.SD(gaps))
}

// nearest is the index of the frame nearest to the time t, within the track.
func (e *extraction) nearest(t float64) int {
	return min(max(int(math.Round(t/dsp.Hop)), 0), len(e.loudness))
}

// smooth3 replaces x by its moving average over three values, at the ends over two, and
// returns it.
func smooth3(x []float64) []float64 {
	var before [1]float64
	window := before[:0]
	for i, v := range x {
		var s float64
		for _, w := range window { // the value before, as it was
			s += w
		}
		n := len(window) + 1
		s += v
		if i+1 < len(x) {
			s += x[i+1]
			n++
		}
		before[0], window = v, before[:1]
		x[i] = s / float64(n)
	}
	return x
}

// prominentPeaks returns the indices of the local maxima of x whose prominence
// is at least peakProminence of the spread of x. The prominence of a peak is
// its height over the higher of the two lowest points between it and the next
// higher value (or the end) on either side. Of a plateau the first index
// counts.
func prominentPeaks(x, scratch []float64) []int {
	y := append(scratch[:0], x...)
	least := peakProminence * (dsp.PercentileInPlace(y, 95) - dsp.PercentileInPlace(y, 5))
	var peaks []int
	low := math.Inf(1) // the lowest value since the candidate or the last peak
	candidate := -1    // the highest value since low began that stands out to the left
	for i, v := range x {
		switch {
		case candidate >= 0 && v > x[candidate]:
			candidate = i
		case candidate >= 0 && x[candidate]-v >= least && x[candidate] > v:
			peaks = append(peaks, candidate)
			candidate, low = -1, v
		case candidate < 0 && v < low:
			low = v
		case candidate < 0 && v-low >= least && v > low:
			candidate = i
		}
	}
	return peaks
}
