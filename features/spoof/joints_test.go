package spoof

import (
	"math"
	"math/cmplx"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
)

// slowRepeat is how like the 12 ms from sample at on are to the most alike after them, by
// the definition.
func slowRepeat(residual []float64, at int) float64 {
	most := 0
	for lag := 64; lag < 400; lag++ {
		agree := 0
		for i := at; i < at+192; i++ {
			if math.Signbit(residual[i]) == math.Signbit(residual[i+lag]) {
				agree++
			}
		}
		most = max(most, agree)
	}
	return math.Atanh(min(math.Sin(math.Pi/2*(2*float64(most)/192-1)), 0.995))
}

// slowLines computes joint.line* of the frames from lo to hi by their definition.
func slowLines(e *envelopes, lo, hi int) (out [2]float64) {
	n := hi - lo
	sum := make([]float64, n)
	for b := 6; b < 12; b++ {
		for i := range sum {
			sum[i] += e.bands.tracks[b][lo+i]
		}
	}
	d := make([]float64, n)
	var sizes []float64
	for i := range d {
		if e.active.on[lo+i] {
			d[i] = sum[i] - dsp.Mean(sum[max(i-12, 0):min(i+13, n)])
			sizes = append(sizes, math.Abs(d[i]))
		}
	}
	limit := 3 * dsp.Percentile(sizes, 50)
	power := make([]float64, 1025)
	for from := 0; from < n; from += 2048 {
		part := d[from:min(from+2048, n)]
		for k := 60; k < 520; k++ { // those that a line or a median needs
			var c complex128
			for i, v := range part {
				w := math.Pow(math.Sin(math.Pi*(float64(i)+0.5)/float64(len(part))), 2)
				c += complex(w*min(max(v/limit, -1), 1), 0) * cmplx.Rect(1, -2*math.Pi*float64(k*i%2048)/2048)
			}
			power[k] += real(c)*real(c) + imag(c)*imag(c)
		}
	}
	for b, edge := range [...][2]int{{122, 225}, {225, 450}} { // 30, 55 and 110 Hz in bins of 500/2048 Hz
		for k := edge[0]; k < edge[1]; k++ {
			middle := edge[0] + (k-edge[0])/16*16 + 8
			out[b] = max(out[b], power[k]/dsp.Percentile(power[middle-60:middle+61], 50))
		}
		out[b] = math.Log(out[b])
	}
	return out
}

// slowRepeats returns median, 90th percentile and their difference over the unvoiced,
// active frames, by the definition, and how many these are.
func slowRepeats(e *Extractor) (out [3]float64, n int) {
	var powers, repeats []float64
	for at := 0; at+192 <= len(e.x); at += 128 {
		powers = append(powers, dsp.Dot(e.x[at:at+192], e.x[at:at+192]))
	}
	floor := dsp.Percentile(powers, 95) * math.Pow(10, -3.2)
	for i, p := range powers {
		at := 128 * i
		voiced := voicedAt(e.voice.f0, at) || voicedAt(e.voice.f0, at+96) || voicedAt(e.voice.f0, at+192)
		if p > floor && !voiced && at+592 <= len(e.x) {
			repeats = append(repeats, slowRepeat(e.pulse.residual, at))
		}
	}
	median, p90 := dsp.Percentile(repeats, 50), dsp.Percentile(repeats, 90)
	return [3]float64{median, p90, p90 - median}, len(repeats)
}

func TestJointsEqualDefinitions(t *testing.T) {
	e := track(speech(t), dsp.SampleRate)
	for name, c := range map[string]struct {
		e     *Extractor
		least int // frames
	}{"speech": {e, 40}, "noise": {track(noise(1.2), rateHz), 120}} {
		want, n := slowRepeats(c.e)
		if n < c.least {
			t.Errorf("%s: got %d frames, want %d or more", name, n, c.least)
		}
		for i, got := range c.e.joint.repeat {
			if math.IsNaN(got) {
				continue
			}
			if want := slowRepeat(c.e.pulse.residual, 128*i); !near(got, want) {
				t.Fatalf("%s: frame %d: got %v, want %v", name, i, got, want)
			}
		}
		v := c.e.Vector(nil, 0, c.e.Duration()).Values
		for i, w := range want {
			if got := v[schema.Index("joint.repeat_median")+i]; !near(got, w) {
				t.Errorf("%s: measure %d of repeats: got %v, want %v", name, i, got, w)
			}
		}
	}
	long := track(slices.Concat(speech(t), speech(t)), dsp.SampleRate) // more than one spectrum
	for name, e := range map[string]*Extractor{"one": e, "two": long} {
		v := e.Vector(nil, 0, e.Duration()).Values
		for b, want := range slowLines(e.envelope, 0, len(e.envelope.voiced)) {
			if got := v[schema.Index("joint.line1_log")+b]; !near(got, want) {
				t.Errorf("%s: line %d: got %v, want %v", name, b+1, got, want)
			}
		}
	}
}

// joined is x in segments of 60 ms, each of which begins with the last 20 ms of the one
// before.
func joined(x []float64) (y []float64) {
	const segment, back = 960, 320
	for at := 0; at+segment <= len(x); at += segment - back {
		y = append(y, x[at:at+segment]...)
	}
	return y
}

func TestJointsOfKnownNoise(t *testing.T) {
	feature := func(x []float64, name string) float64 { return extract(x, rateHz).Values[schema.Index(name)] }
	swelling := func(hertz float64) []float64 {
		x := noise(4)
		for i := range x {
			x[i] *= 1 + 0.15*math.Sin(2*math.Pi*hertz*float64(i)/rateHz)
		}
		return x
	}
	plain, again := noise(4), joined(noise(4))
	if a, b := feature(plain, "joint.repeat_p90"), feature(again, "joint.repeat_p90"); a > 0.6 || b < 1.2 { // of 336 lags the best agrees in 61 % of the signs by chance
		t.Errorf("p90 of noise and of noise that repeats: got %v and %v, want less than 0.6 and more than 1.2", a, b)
	}
	if a, b := feature(plain, "joint.repeat_median"), feature(again, "joint.repeat_median"); math.Abs(a-b) > 0.1 {
		t.Errorf("medians: got %v and %v, want the same: most of it does not repeat", a, b)
	}
	for _, c := range []struct {
		x          []float64
		high, less string
	}{{swelling(43), "joint.line1_log", "joint.line2_log"}, {swelling(81), "joint.line2_log", "joint.line1_log"}} {
		if a, b := feature(c.x, c.high), feature(c.x, c.less); a < b+1.5 || math.Abs(b-feature(plain, c.less)) > 1 {
			t.Errorf("%s: got %v, want it far above %s, %v, which is that of plain noise", c.high, a, c.less, b)
		}
	}
}

func TestJointsNeedSound(t *testing.T) {
	for name, c := range map[string]struct {
		x       []float64
		feature string
	}{
		"voice does not count": {pulses(2, func(int) float64 { return 100 }), "joint.repeat_median"},
		"too few frames":       {noise(0.1), "joint.repeat_median"},
		"too short for lines":  {noise(0.7), "joint.line1_log"},
	} {
		if got := extract(c.x, rateHz).Values[schema.Index(c.feature)]; !math.IsNaN(got) {
			t.Errorf("%s: got %v, want NaN", name, got)
		}
	}
}
