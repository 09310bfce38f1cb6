package dsp

import "math"

// meterLevel is over how many frames the level of a [Reading] is averaged: 50 ms, some
// periods of a deep voice. Chosen.
const meterLevel = 5

// A Meter measures a recording while it is made: what a person who records should know,
// and how much speech there is so far. Its speech detector is that of [Analyzer], and its
// pitch is found by the same steps as that of [Pitch], both with what is known by now. It
// works at the rate of the recording.
//
// The speech so far differed from that of the Analyzer at the end by at most 0.28 s on
// recordings of one person in quiet, at 20 and at 10 dB SNR (24 runs of 3 to 55 s). It
// differed by at most 0.75 s, and by less than 0.01 s in the median, on 23 recordings of 26
// to 46 s that were assembled from clips of ten people each at gains of 0 to -9 dB, at 50
// to 7 dB SNR.
//
// The memory of a Meter grows by 20 bytes for each 10 ms. It is not safe for concurrent
// use. Use [NewMeter]: the zero value panics.
type Meter struct {
	rate     int
	x        signal    // the latest samples
	n        int       // samples so far
	scratch  []float64 // those that replace others
	chunk    []float64 // samples of a hop that are not surveyed yet
	survey   Survey
	high     Clipping // at the highest value so far
	low      Clipping // at the lowest
	top      extent   // whose values high and low have
	pitch    *runningPitch
	activity *activity
	speech   speechMeter
}

// A Reading is what a [Meter] found so far. All but Duration is behind the samples by as
// much as its comment says.
type Reading struct {
	Duration float64 // s of samples

	// Speech is the time in s in stretches of speech, as Analysis.SpeechDuration has it
	// of the frames so far. It is up to 0.1 s behind. A gap within speech counts once it
	// is over, if it lasts less than 0.2 s; a longer one is a pause. A sound at the end
	// counts before it is certain that it lasts long enough: Speech can decrease by 0.1 s
	// then, and by more while a voice begins that is far louder than what came before.
	Speech float64

	// Level is the level in dBFS of the latest 50 ms, less their mean, at least -120. It
	// is up to 25 ms behind. NaN before the first frame.
	Level float64

	// F0 is the pitch in Hz, 0 if there is no voice. It is up to 80 ms behind.
	F0 float64

	// Clipped is the share of the samples so far, 0 to 1, that are clipped at their highest
	// or lowest value so far, by the definition of Quality.Clipped. It is up to 10 ms
	// behind.
	Clipped float64

	// Voice is the level in dBFS of the loudest twentieth of the voiced frames so far, and
	// Noise that of the quietest tenth of the frames away from voices, both rounded to 0.1
	// dB. They are up to 0.1 s behind, and 0.05 s more while it is not decided whether
	// there is a voice. NaN before 30 ms of voice or 0.1 s without.
	Voice, Noise float64
}

// NewMeter returns a Meter for mono samples at the rate in Hz. It panics if that is below
// [MinResampleRate] or above [MaxResampleRate].
func NewMeter(rate int) *Meter {
	if rate < MinResampleRate || rate > MaxResampleRate {
		panic("dsp: sample rate of a meter out of range")
	}
	m := &Meter{rate: rate, pitch: newRunningPitch(float64(rate)), activity: newActivity(rate)}
	m.x.n = endless
	m.chunk = make([]float64, 0, rate/100)
	m.high, m.low = newClipping(extent{}), newClipping(extent{})
	m.speech = newSpeechMeter()
	return m
}

// Add takes the next samples of the recording, nominally in [-1, 1), any number of them.
// A sample that is NaN or infinite counts as 0, and a sample beyond ±16 as ±16. x is neither
// changed nor kept. What a Reading says does not depend on how the samples are divided
// into calls.
func (m *Meter) Add(x []float64) {
	for len(x) > 0 {
		part := x[:min(len(x), cap(m.chunk)-len(m.chunk))]
		x = x[len(part):]
		m.take(part)
	}
}

// Len is the number of samples so far.
func (m *Meter) Len() int { return m.n }

// take takes samples up to the end of a chunk.
func (m *Meter) take(x []float64) {
	var v Survey
	if x = v.Add(m.scratch, x); v.dirty {
		m.scratch = x
	}
	m.chunk = append(m.chunk, x...)
	if len(m.chunk) == cap(m.chunk) {
		m.survey.Add(nil, m.chunk)
		m.clip(m.survey.extent())
		m.chunk = m.chunk[:0]
	}
	m.x.x = append(m.x.x, x...)
	m.n += len(x)
	// a frame's level depends on the blocks under its window
	for m.n >= m.activity.edge(3*len(m.activity.level)+activityBlocks) {
		m.activity.measure(&m.x, len(m.activity.level)+1)
	}
	m.pitch.follow(&m.x, m.n)
	m.speech.add(m.pitch, m.activity.level)
	m.forget()
}

// forget drops samples that no later frame reads, a quarter of a second at a time.
func (m *Meter) forget() {
	margin := m.rate / 4 // as signalMargin
	old := m.pitch.next*m.rate/100 - margin - m.x.base
	if old >= margin {
		m.x.x = m.x.x[:copy(m.x.x, m.x.x[old:])]
		m.x.base += old
	}
}

// clip counts what is clipped in the chunk. e is the extent of the samples up to its end.
// What was clipped at a value that is not an extreme any more does not count.
func (m *Meter) clip(e extent) {
	high, low := newFlat(e.hi-e.mean, e.hi), newFlat(e.mean-e.lo, -e.lo)
	if m.top.hi < high.flat {
		m.high.clipped, m.high.run = 0, 0
	}
	if -m.top.lo < low.flat {
		m.low.clipped, m.low.run = 0, 0
	}
	none := newFlat(0, 0)
	m.high.high, m.high.low, m.low.high, m.low.low, m.top = high, none, none, low, e
	m.high.Add(m.chunk)
	m.low.Add(m.chunk)
}

// Reading returns what is known by now.
func (m *Meter) Reading() Reading {
	high, low := m.high, m.low // Share ends the run
	r := Reading{
		Duration: float64(m.n) / float64(m.rate),
		Level:    m.level(),
		Clipped:  high.Share() + low.Share(),
		Voice:    m.speech.voice(), Noise: m.speech.noise(),
	}
	if n := len(m.pitch.f0); n > 0 {
		r.F0 = m.pitch.f0[n-1]
	}
	r.Speech = m.speech.seconds(m.pitch.f0, m.activity)
	return r
}

// level is the mean level of the latest frames.
func (m *Meter) level() float64 {
	l := m.activity.level
	l = l[max(len(l)-meterLevel, 0):]
	var power float64
	for _, v := range l {
		power += math.Pow(10, v/10)
	}
	return level(power / float64(len(l)))
}
