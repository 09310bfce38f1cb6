package spoof

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/dsp/lanes"
)

// The cepstra of the voiced frames. The long frame resolves the harmonics and
// what lies between them; of 16, 32 and 64 ms its energies separated best: alone
// AUC 0.71, 0.77 and 0.78 in cross-validation on the clips of DEEPFAKE.md.
const (
	harmonicFrame = 1024            // samples, 64 ms
	textureFrame  = 512             // samples, 32 ms
	textureLag    = lanes.Count / 2 // frames over which change is measured, 20 ms
	quefrencyLow  = 125.0           // Hz, and
	quefrencyMid  = 3500.0          // the upper end of the low band
	quefrencyHigh = 7375.0
	spectrumFloor = 1e-10 // power added to every bin, 30 dB below the dither

	harmonicFFT = harmonicFrame / 2 // points of the transform of a spectrum
	textureFFT  = textureFrame / 2

	squareBlock = 32 // samples: of these, hops and frames are whole numbers

	numQuefrencies = len(quefrencyBands) - 1
)

// quefrencies holds the tracks of quefrency.* and texture.*. A value is
// defined where its frame is on.
type quefrencies struct {
	samples int       // of the recording
	sums    []float64 // of the squares before each block of squareBlock samples, and of all

	harmonic       table    // of each quefrency band, the log of the power cepstrum
	harmonicFrames activity // on says whether the frame of 64 ms is active and voiced
	long           *lanes.Spectrum
	cepstrum       *lanes.Cepstrum
	power          []float64 // of a cepstrum

	flatness      table    // of each band of textureBands, the log of geometric over arithmetic mean power
	change        table    // of each quefrency band over 20 ms, of the whole spectrum and then of the low band
	textureFrames activity // on says whether the frame of 32 ms is active and voiced
	onChange      []bool   // whether it and the frame textureLag before are on
	short         *lanes.Spectrum
	logs          []float64 // of power of short
	whole, low    *lanes.Cepstrum
	now, before   [2]cepstra // of whole and low, of the latest four frames and the four before
}

// cepstra are those of four frames, and the power of each of their bands.
type cepstra struct {
	coefficients []float64
	power        [numQuefrencies][lanes.Count]float64
}

func newQuefrencies() *quefrencies {
	q := &quefrencies{
		long:  lanes.NewSpectrum(dsp.PeriodicHann(harmonicFrame), harmonicFrame),
		power: make([]float64, lanes.Count*(harmonicFFT/2+1)),
		short: lanes.NewSpectrum(dsp.PeriodicHann(textureFrame), textureFrame),
	}
	bins := func(s *lanes.Spectrum, hi float64) int { return s.Bin(hi, rateHz) - s.Bin(quefrencyLow, rateHz) }
	q.cepstrum = lanes.NewCepstrum(bins(q.long, quefrencyHigh), harmonicFFT)
	q.whole = lanes.NewCepstrum(bins(q.short, quefrencyHigh), textureFFT)
	q.low = lanes.NewCepstrum(bins(q.short, quefrencyMid), textureFFT)
	q.logs = make([]float64, len(q.short.Power))
	for i := range q.now {
		q.now[i].coefficients = make([]float64, 2*lanes.Count*(textureFFT/2+1))
		q.before[i].coefficients = make([]float64, 2*lanes.Count*(textureFFT/2+1))
	}
	return q
}

// quefrencyEdges are the first coefficients of the bands of quefrency, and one
// past the last, of a cepstrum of m points of spectra of n-sample frames.
func quefrencyEdges(n, m int) (edges [len(quefrencyBands)]int) {
	for i, ms := range quefrencyBands {
		edges[i] = min(int(math.Ceil(ms*rateHz/1000*float64(m)/float64(n))), m/2+1)
	}
	return edges
}

// measure measures x, whose F0 is given.
func (q *quefrencies) measure(x, f0 []float64) {
	q.samples = len(x)
	q.sums = append(q.sums[:0], 0)
	for i := 0; i < len(x); i += squareBlock {
		block := x[i:min(i+squareBlock, len(x))]
		q.sums = append(q.sums, q.sums[len(q.sums)-1]+dsp.Dot(block, block))
	}
	q.voicedFrames(&q.harmonicFrames, f0, harmonicFrame)
	q.voicedFrames(&q.textureFrames, f0, textureFrame)
	q.harmonics(x)
	q.textures(x)
}

// voicedFrames sets which of the frames of size samples every hop are active
// and have their middle in a voiced frame of the track f0.
func (q *quefrencies) voicedFrames(a *activity, f0 []float64, size int) {
	last := len(q.sums) - 1
	a.reset(frameCount(q.samples, hopLen, size))
	for t := range a.power {
		a.power[t] = q.sums[min((t*hopLen+size)/squareBlock, last)] - q.sums[min(t*hopLen/squareBlock, last)]
	}
	a.decide()
	for t, on := range a.on {
		a.on[t] = on && voicedAt(f0, t*hopLen+size/2)
	}
}

// harmonics fills harmonic.
func (q *quefrencies) harmonics(x []float64) {
	frames := q.harmonicFrames.on
	q.harmonic.reset(numQuefrencies, len(frames))
	s := q.long
	lo, hi := s.Bin(quefrencyLow, rateHz), s.Bin(quefrencyHigh, rateHz)
	edges := quefrencyEdges(harmonicFrame, harmonicFFT)
	for t := 0; t < len(frames); t += lanes.Count {
		if !anyOf(frames, t) {
			continue
		}
		s.Measure(x, t*hopLen, hopLen, len(frames)-t)
		band := dsp.AddConstant(s.Bins(lo, hi), spectrumFloor)
		q.cepstrum.Power(q.power, dsp.Log(band, band))
		for b, track := range q.harmonic.tracks {
			mean := lanes.Sum(q.power[lanes.Count*edges[b] : lanes.Count*edges[b+1]])
			for l := range mean {
				mean[l] /= float64(edges[b+1] - edges[b])
			}
			dsp.Log(mean[:], mean[:])
			copy(track[t:], mean[:])
		}
	}
}

// textures fills flatness, change and onChange.
func (q *quefrencies) textures(x []float64) {
	frames := q.textureFrames.on
	q.flatness.reset(len(textureBands)-1, len(frames))
	q.change.reset(2*numQuefrencies, len(frames))
	q.onChange = sized(q.onChange, len(frames))
	s := q.short
	lo, mid, hi := s.Bin(quefrencyLow, rateHz), s.Bin(quefrencyMid, rateHz), s.Bin(quefrencyHigh, rateHz)
	for t, on := range frames {
		q.onChange[t] = on && t >= textureLag && frames[t-textureLag]
	}
	for t := 0; t < len(frames); t += lanes.Count {
		if !anyOf(frames, t) {
			continue
		}
		s.Measure(x, t*hopLen, hopLen, len(frames)-t)
		dsp.AddConstant(s.Power, spectrumFloor)
		logs := q.logs
		dsp.Log(logs[lanes.Count*lo:lanes.Count*hi], s.Bins(lo, hi))
		for b, track := range q.flatness.tracks {
			k0, k1 := s.Bin(textureBands[b], rateHz), s.Bin(textureBands[b+1], rateHz)
			geometric, arithmetic := lanes.Sum(logs[lanes.Count*k0:lanes.Count*k1]), lanes.Sum(s.Bins(k0, k1))
			n := float64(k1 - k0)
			for l := range min(lanes.Count, len(frames)-t) {
				track[t+l] = geometric[l]/n - math.Log(arithmetic[l]/n)
			}
		}
		q.now, q.before = q.before, q.now
		q.whole.Coefficients(q.now[0].coefficients, logs[lanes.Count*lo:lanes.Count*hi])
		q.low.Coefficients(q.now[1].coefficients, logs[lanes.Count*lo:lanes.Count*mid])
		q.changes(t)
	}
}

// changes fills change of the four frames from t on. Where onChange holds, before is of the
// four frames before.
func (q *quefrencies) changes(t int) {
	edges := quefrencyEdges(textureFrame, textureFFT)
	for i := range q.now {
		now, before := &q.now[i], &q.before[i]
		for b := range numQuefrencies {
			lo, hi := 2*lanes.Count*edges[b], 2*lanes.Count*edges[b+1]
			c := now.coefficients[lo:hi]
			now.power[b] = lanes.Squares(c)
			d := lanes.Change(c, before.coefficients[lo:hi])
			p, old := &now.power[b], &before.power[b]
			ratio := [lanes.Count]float64{d[0] / (p[0] + old[2]), d[1] / (p[1] + old[3]), d[2] / (p[2] + p[0]), d[3] / (p[3] + p[1])}
			copy(q.change.tracks[i*numQuefrencies+b][t:], ratio[:])
		}
	}
}

// quefrency fills quefrency.* and texture.*.
func (v *vector) quefrency(q *quefrencies) {
	on := q.harmonicFrames.on
	lo, hi := v.frames(len(on), hopLen, harmonicFrame)
	v.from("quefrency.band1.mean_log")
	for _, track := range q.harmonic.tracks {
		v.put(v.enough(track[lo:hi], on[lo:hi]))
	}
	on = q.textureFrames.on
	lo, hi = v.frames(len(on), hopLen, textureFrame)
	v.from("texture.band1.flatness_mean")
	for _, track := range q.flatness.tracks {
		v.put(v.enough(track[lo:hi], on[lo:hi]))
	}
	for _, track := range q.change.tracks {
		m, _ := v.enough(track[lo:hi], q.onChange[lo:hi])
		v.put(m)
	}
}
