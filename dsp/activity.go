package dsp

import (
	"math"
	"slices"
)

// blocksPerSecond is the number of blocks of energy in a second. A block is 3.3 ms, a
// third of a hop, so that the centre of a frame is between two blocks.
const blocksPerSecond = 300

// silence is the lowest level in dBFS; lower ones are raised to it. Chosen: below the
// noise of any 16-bit recording (-98) and of any microphone.
const silence = -120

// activityBlocks is half the window, in blocks, of the level that separates speech
// from pauses: 27 ms in all, two periods of a deep voice.
const activityBlocks = 4

// Thresholds of speech activity, in dB or in frames.
//
// In N. de Jong and T. Wempe, "Praat script to detect syllable nuclei and measure
// speech rate automatically", Behavior Research Methods 41 (2009), 385–390, a frame is
// silent that is 25 dB below the (nearly) loudest. In noise that level may be below
// the noise floor, so the threshold is at least onAbove over the floor. The shortest
// pause is 0.2 s: shorter gaps are the closures of stops (E. Campione and J. Véronis,
// "A large-scale multilingual study of silent pause duration", Speech Prosody 2002).
const (
	speechRange  = 25   // dB below the speech level where speech starts
	onAbove      = 6    // dB above the noise floor where speech starts, at most half the range
	offAbove     = 4    // dB above the noise floor where speech ends, at most a third of the range
	hysteresis   = 3    // dB from start to end without noise; chosen
	voicedRange  = 35   // dB below the speech level down to which voicing alone is speech; chosen
	leastRange   = 3    // dB, least level of speech over noise at which levels are used; chosen, the level at 0 dB SNR
	voicedRun    = 3    // frames, 30 ms, of voicing that count: the shortest vowels (chosen)
	noiseGuard   = 2    // frames beside a voiced one that do not count as noise; chosen, the window of the level
	leastNoise   = 10   // frames, 0.1 s, that a noise floor needs; chosen
	shortSpeech  = 10   // frames, 0.1 s, of the shortest stretch of speech; chosen, a short syllable
	shortPause   = 20   // frames, 0.2 s, of the shortest pause
	speechTop    = 0.95 // rank of the speech level among the voiced frames; chosen
	noiseBottom  = 0.10 // rank of the noise floor among the frames away from voicing; chosen
	loudestShare = 0.99 // De Jong & Wempe's "maximum"
)

// An activity separates speech from pauses and finds syllable nuclei. It owns its
// scratch and is not safe for concurrent use.
type activity struct {
	rate    int                   // Hz
	blocks  [blockRing][2]float64 // sum and sum of squares of the latest blocks of samples less offset
	next    int                   // block that is summed next
	offset  float64
	level   []float64 // dBFS, each frame, activityBlocks
	contour []float64 // dBFS, each frame, of the syllables; in the memory of level
	sorted  []float64 // scratch
	state   []bool    // scratch
	quiet   []bool    // of each frame; see markNoise
	floor   []bool    // of each frame; see markFloor
	speech  float64   // dBFS, speech level; NaN without speech
	noise   float64   // dBFS, noise floor
	window  []float64 // weights of the blocks, half of the symmetric window
}

func newActivity(rate int) *activity {
	return &activity{rate: rate, window: blockWindow(activityBlocks)}
}

// blockWindow returns half of a Hann window over 2·n blocks, from the centre.
func blockWindow(n int) []float64 {
	w := make([]float64, n)
	for k := range w {
		w[k] = 0.5 + 0.5*math.Cos(math.Pi*(float64(k)+0.5)/float64(n))
	}
	return w
}

// start begins to measure a recording of n frames, less offset.
func (v *activity) start(n int, offset float64) {
	v.next, v.offset = 0, offset
	v.level = emptied(v.level, n)
}

// detect fills out.IsSpeech, out.Speech and out.Pauses from the levels of all frames and
// from out.F0.
//
// The level of a frame is the variance under a window of 27 ms, so that an offset or
// a slow drift has no effect. The speech level is the 95th percentile of the voiced
// frames. The noise floor is the 10th percentile of the frames away from voicing. A
// stretch starts where the level exceeds the upper threshold or where 30 ms are
// voiced, and lasts as long as the level stays above the lower threshold. Gaps under
// 0.2 s are closed. Stretches under 0.1 s, or with less than 30 ms of voicing, are
// then dropped. Without voicing there is no speech.
func (v *activity) detect(out *Analysis) {
	v.sorted = emptied(v.sorted, len(out.F0))
	v.levels(out.F0)
	v.state = filled(v.state, len(out.F0), false)
	if !math.IsNaN(v.speech) {
		v.mark(out.F0)
		v.segments(out, out.Duration, false)
	}
}

// blockRing is how many blocks are kept, a power of two: those of one window are
// 2·activityBlocks, and 3 more follow with the next frame.
const blockRing = 16

// edge is the first sample of block b.
func (v *activity) edge(b int) int { return b * v.rate / blocksPerSecond }

// sumBlock sums the next block of x − offset; the last one may be shorter.
func (v *activity) sumBlock(x *signal) {
	part := x.part(v.edge(v.next), min(v.edge(v.next+1), x.n))
	first, second := powers(part, v.offset, hasAVX)
	v.blocks[v.next%blockRing] = [2]float64{first, second}
	v.next++
}

// measure measures the level in dBFS of the frames before limit, which ascends from call
// to call: the variance under the window, at least silence.
func (v *activity) measure(x *signal, limit int) {
	last := (x.n*blocksPerSecond+v.rate-1)/v.rate - 1
	for i := len(v.level); i < limit; i++ {
		for v.next <= min(3*i+activityBlocks-1, last) {
			v.sumBlock(x)
		}
		var s, q, c float64
		for k, wk := range v.window {
			for _, b := range [2]int{3*i + k, 3*i - 1 - k} {
				if b < 0 || b > last {
					continue
				}
				size := float64(min(v.edge(b+1), x.n) - v.edge(b))
				block := &v.blocks[b%blockRing]
				s += wk * block[0]
				q += wk * block[1]
				c += wk * size
			}
		}
		m := s / c
		l := max(silence, level(max(0, q/c-m*m)))
		if c == 0 {
			l = silence
		}
		v.level = append(v.level, l)
	}
}

// levels sets the speech level and the noise floor.
func (v *activity) levels(f0 []float64) {
	v.speech, v.noise = math.NaN(), silence
	voiced := v.sorted[:0]
	for i, f := range f0 {
		if f > 0 {
			voiced = append(voiced, v.level[i])
		}
	}
	v.sorted = voiced
	if len(voiced) < voicedRun {
		return
	}
	v.speech = nearestRank(voiced, speechTop)
	rest := v.sorted[:0]
	since := noiseGuard + 1
	for i, f := range f0 {
		since++
		if f > 0 {
			since = 0
		}
		if since <= noiseGuard || slices.ContainsFunc(f0[i:min(i+noiseGuard+1, len(f0))], positive) {
			continue
		}
		rest = append(rest, v.level[i])
	}
	v.sorted = rest
	if len(rest) >= leastNoise {
		v.noise = nearestRank(rest, noiseBottom)
	}
}

func positive(f float64) bool { return f > 0 }

// nearestRank sorts x, which must not be empty, and returns the value of the
// nearest rank to the share p, 0 to 1, of the others. Unlike [Percentile] it does
// not interpolate.
func nearestRank(x []float64, p float64) float64 {
	slices.Sort(x)
	return x[int(p*float64(len(x)-1)+0.5)]
}

// mark sets state in the frames of speech, before gaps are closed.
func (v *activity) mark(f0 []float64) {
	span := v.speech - v.noise
	on := max(v.speech-speechRange, v.noise+min(onAbove, span/2))
	off := max(v.speech-speechRange-hysteresis, v.noise+min(offAbove, span/3))
	if span < leastRange {
		on, off = math.Inf(1), math.Inf(1)
	}
	n := len(f0)
	for i := 0; i < n; {
		j := i
		for j < n && f0[j] > 0 && v.level[j] >= v.speech-voicedRange {
			j++
		}
		if j-i >= voicedRun {
			for k := i; k < j; k++ {
				v.state[k] = true
			}
		}
		i = max(j, i+1)
	}
	for i, l := range v.level {
		v.state[i] = v.state[i] || l >= on || (i > 0 && v.state[i-1] && l >= off)
	}
	for i := n - 2; i >= 0; i-- {
		v.state[i] = v.state[i] || (v.state[i+1] && v.level[i] >= off)
	}
}

// segments closes short gaps in state, drops short stretches and those without
// voicing, and fills out. The recording lasts duration seconds. If open, it goes on, and
// a stretch at its end may be short.
func (v *activity) segments(out *Analysis, duration float64, open bool) {
	n := len(v.state)
	for i := 0; i < n; {
		if !v.state[i] {
			i++
			continue
		}
		end, voiced := i, 0 // end: last frame of the stretch
		for j := i; j < n && j-end <= shortPause; j++ {
			if v.state[j] {
				end = j
			}
		}
		for _, f := range out.F0[i : end+1] {
			if f > 0 {
				voiced++
			}
		}
		long := end+1-i >= shortSpeech || open && n-end <= shortPause
		if long && voiced >= voicedRun {
			s := Segment{max(0, (float64(i)-0.5)*Hop), min(duration, (float64(end)+0.5)*Hop)}
			if m := len(out.Speech); m > 0 {
				out.Pauses = append(out.Pauses, Segment{out.Speech[m-1].End, s.Start})
			}
			out.Speech = append(out.Speech, s)
			for k := i; k <= end; k++ {
				out.IsSpeech[k] = true
			}
		}
		i = end + 1
	}
}
