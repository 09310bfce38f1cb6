package augment

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
)

const testRate = 16000

// seeds says how many draws the tests of random channels and manipulations make.
var seeds = flag.Uint64("seeds", 2, "make so many `draws` of each manipulation of odd signals, and ten times as many of channels; 6 take half a minute")

// vowel is a jittered pulse train through two resonances, with a little noise:
// n samples at testRate of a voice of about 120 Hz.
func vowel(n int, rng *rand.Rand) []float64 {
	x := make([]float64, n)
	for at := 0.0; int(at) < n; at += testRate / 120. * (1 + 0.01*rng.NormFloat64()) {
		x[int(at)] = 0.5
	}
	for _, f := range []float64{600, 1300} {
		w := 2 * math.Pi * f / testRate
		var y1, y2 float64
		for i := range x {
			y := x[i] + 1.9*math.Cos(w)*y1 - 0.9025*y2
			y1, y2 = y, y1
			x[i] = y
		}
	}
	for i := range x {
		x[i] = 0.1*x[i] + 0.001*rng.NormFloat64()
	}
	return x
}

// similar is the correlation of two signals of one length.
func similar(x, y []float64) float64 {
	var xy float64
	for i := range x {
		xy += x[i] * y[i]
	}
	return xy / math.Sqrt(energy(x)*energy(y))
}

// passes are what draws from what may happen to a recording.
var passes = map[string]func(x []float64, rate int, rng *rand.Rand) []float64{"Channel": Channel, "Codec": Codec, "Opus": Opus}

// TestChannelKeepsTheShape passes a voice through many channels and codecs.
func TestChannelKeepsTheShape(t *testing.T) {
	x := vowel(testRate/2, rand.New(rand.NewPCG(4, 9)))
	before := slices.Clone(x)
	for name, pass := range passes {
		for seed := range 10 * *seeds {
			y := pass(x, testRate, rand.New(rand.NewPCG(seed, 0)))
			if len(y) != len(x) {
				t.Fatalf("%s: got %d samples, want %d", name, len(y), len(x))
			}
			if r := similar(x, y); !(r > 0.5) {
				t.Errorf("%s, seed %d: got a correlation of %.2f with what went in", name, seed, r)
			}
			if again := pass(x, testRate, rand.New(rand.NewPCG(seed, 0))); !slices.Equal(again, y) {
				t.Errorf("%s, seed %d: got other samples the second time", name, seed)
			}
		}
		if !slices.Equal(x, before) {
			t.Errorf("%s changed its input", name)
		}
	}
}

// TestCodecLimitsTheBand passes noise through codecs: a third of them end at 4 kHz, a
// third at 6, a third at 8.
func TestCodecLimitsTheBand(t *testing.T) {
	const draws, least = 30, 4 // of about 10 each: the chance of fewer is 1 %, with this seed fixed
	x := colouredNoise(testRate/4, 0, rand.New(rand.NewPCG(6, 6)))
	density := func(y []float64, low, high float64) float64 { return bandEnergy(y, testRate, low, high) / (high - low) }
	ends := map[int]int{}
	for seed := range uint64(draws) {
		y := Codec(x, testRate, rand.New(rand.NewPCG(seed, 5)))
		end := 8000
		for edge, above := range map[int]float64{4000: 5000, 6000: 7000} { // behind the leak of the resampler
			if density(y, above, above+800) < 1e-4*density(y, 1000, 3000) {
				end = min(end, edge)
			}
		}
		ends[end]++
	}
	if min(ends[4000], ends[6000], ends[8000]) < least {
		t.Errorf("of %d codecs so many end at each frequency in Hz: %v, want at least %d each at 4000, 6000 and 8000", draws, ends, least)
	}
}

// TestChannelOfOddities passes what is hardly a recording through channels and codecs.
func TestChannelOfOddities(t *testing.T) {
	for name, x := range map[string][]float64{"empty": nil, "one sample": {0.5}, "silence": make([]float64, 4000), "three samples": {0.1, -0.1, 0.2}} {
		for _, rate := range []int{100, 8000, 22050, 48000, 400000} {
			for seed := range 5 * *seeds {
				for drawn, pass := range passes {
					y := pass(x, rate, rand.New(rand.NewPCG(seed, 0)))
					if len(y) != len(x) {
						t.Fatalf("%s of %s at %d Hz: got %d samples, want %d", drawn, name, rate, len(y), len(x))
					}
					for _, v := range y {
						if math.IsNaN(v) || math.IsInf(v, 0) {
							t.Fatalf("%s of %s at %d Hz, seed %d: got %v", drawn, name, rate, seed, v)
						}
					}
				}
			}
		}
	}
}

// snr is 10·log₁₀ of the energy of x over that of y − x.
func snr(x, y []float64) float64 {
	d := make([]float64, len(x))
	for i := range d {
		d[i] = y[i] - x[i]
	}
	return 10 * math.Log10(energy(x)/energy(d))
}

// TestCodecsSpendTheirBits checks that more bits give less noise, and that the
// noise is about what bits are for.
func TestCodecsSpendTheirBits(t *testing.T) {
	x := vowel(testRate, rand.New(rand.NewPCG(5, 5)))
	codecs := map[string]func(kbps float64) []float64{
		"mp3":  func(kbps float64) []float64 { return mp3(x, testRate, kbps) },
		"silk": func(kbps float64) []float64 { return plainCoder.silk(x, testRate, kbps, 8000) },
		"Opus": func(kbps float64) []float64 { return opusCoder.silk(x, testRate, kbps, 8000) },
	}
	for name, code := range codecs {
		last := 2.0 // dB, that any codec of 12 kbit/s reaches on a steady vowel
		for _, kbps := range []float64{12, 24, 48} {
			got := snr(x, code(kbps))
			if got < last {
				t.Errorf("%s at %v kbit/s: got %.1f dB, want at least %.1f", name, kbps, got, last)
			}
			last = got + 0.5
		}
	}
}

// TestPulsesOfOpusCostLeast compares the pulse of a sample with the cheapest of many, and
// what the decoder makes of it with RFC 6716, section 4.2.7.8.6, in its integers.
func TestPulsesOfOpusCostLeast(t *testing.T) {
	for _, offset := range []int{8, 60} {
		s := &silkState{isOpus: true, offset: float64(offset) / 256}
		var encoder, decoder uint32
		for r := -4.0; r < 4; r += 0.013 {
			pulse, level := s.quantised(r, &encoder)
			decoded := func(p float64) float64 {
				e := int(p)*256 + offset
				switch {
				case p > 0:
					e -= 20
				case p < 0:
					e += 20
				}
				return float64(e) / 256
			}
			sign := 1.0
			if decoder = decoder*196314165 + 907633515; decoder&0x80000000 != 0 {
				sign = -1
			}
			decoder += uint32(int(pulse))
			if want := sign * decoded(pulse); level != want {
				t.Fatalf("offset %d, %v steps, pulse %v: got level %v, want %v", offset, r, pulse, level, want)
			}
			cost := func(p float64) float64 { return (sign*r-decoded(p))*(sign*r-decoded(p)) + opusPulse*math.Abs(p) }
			for p := -6.0; p <= 6; p++ {
				if cost(p) < cost(pulse)-1e-12 {
					t.Errorf("offset %d, %v steps: got pulse %v at a cost of %v, but %v costs %v", offset, r, pulse, cost(pulse), p, cost(p))
				}
			}
		}
	}
}

// TestOpusLeavesNoGaps codes noise with so few bits that hardly a sample has a pulse: a
// plain codec then leaves little of the upper band, Opus fills it.
func TestOpusLeavesNoGaps(t *testing.T) {
	x := colouredNoise(testRate, 0, rand.New(rand.NewPCG(3, 1)))
	kept := func(c coder) float64 {
		c.base, c.more = 40, 0
		return bandEnergy(c.silk(x, testRate, 0, 8000), testRate, 4000, 7000) / bandEnergy(x, testRate, 4000, 7000)
	}
	if plain, opus := kept(plainCoder), kept(opusCoder); !(opus > 2*plain) {
		t.Errorf("got %.3f of the energy from 4 to 7 kHz, want twice the %.3f of a codec that fills nothing", opus, plain)
	}
}

// bandEnergy is the energy of x from low to high Hz.
func bandEnergy(x []float64, rate int, low, high float64) (e float64) {
	s := newSTFT(1024)
	for _, f := range s.frames(x) {
		for k, c := range f {
			if hz := float64(k*rate) / 1024; hz >= low && hz < high {
				e += real(c)*real(c) + imag(c)*imag(c)
			}
		}
	}
	return e
}

// TestMP3CutsWhereLAMEDoes compares with the edges measured on LAME 3.100 with
// white noise: 8.25 kHz at 32 kbit/s and a rate of 24 kHz, 7.25 kHz at 16 kHz.
func TestMP3CutsWhereLAMEDoes(t *testing.T) {
	for _, c := range []struct {
		rate int
		kbps float64
		edge float64
	}{{24000, 32, 8250}, {16000, 64, 7250}, {24000, 64, 10870}} {
		y := mp3(colouredNoise(c.rate, 0, rand.New(rand.NewPCG(1, 7))), c.rate, c.kbps)
		// Per Hz: just below the edge something is coded, above it hardly anything.
		below := bandEnergy(y, c.rate, c.edge-2000, c.edge-100) / 1900
		above := bandEnergy(y, c.rate, c.edge+150, float64(c.rate)/2) / (float64(c.rate)/2 - c.edge - 150)
		if db := 10 * math.Log10(below/above); !(db > 30) {
			t.Errorf("%d Hz, %v kbit/s: got %.1f dB of difference at %v Hz, want 30", c.rate, c.kbps, db, c.edge)
		}
	}
}

// TestNoiseLevel measures what addNoise adds.
func TestNoiseLevel(t *testing.T) {
	x := vowel(testRate, rand.New(rand.NewPCG(3, 3)))
	var low, high float64 = 99, 0
	for seed := range uint64(60) {
		y := slices.Clone(x)
		addNoise(y, testRate, rand.New(rand.NewPCG(seed, 1)))
		db := snr(x, y)
		if db < 12-1e-9 || db > 35+1e-9 {
			t.Errorf("seed %d: got %.2f dB, want 12 to 35", seed, db)
		}
		low, high = min(low, db), max(high, db)
	}
	if low > 15 || high < 32 {
		t.Errorf("got %.1f to %.1f dB, want nearly all of 12 to 35", low, high)
	}
}

// TestPinkNoise checks the slope: half the power in each octave's width.
func TestPinkNoise(t *testing.T) {
	y := pinkNoise(16*testRate, rand.New(rand.NewPCG(3, 3)))
	for f := 125.0; f < 4000; f *= 2 {
		ratio := bandEnergy(y, testRate, f, 2*f) / bandEnergy(y, testRate, 2*f, 4*f)
		// ±0.3 dB of the filter, as much of the estimate, and the bins' edges.
		if db := 10 * math.Log10(ratio); math.Abs(db) > 0.8 {
			t.Errorf("octaves from %v Hz: got a ratio of %.2f dB, want 0", f, db)
		}
	}
}

// TestTelephone checks the band and the noise of 8 bits of µ-law, 38 dB for a
// signal of any level in its range (Jayant & Noll 1984, section 5.3).
func TestTelephone(t *testing.T) {
	x := make([]float64, testRate)
	for i := range x {
		x[i] = 0.3 * math.Sin(2*math.Pi*1000.3*float64(i)/testRate)
	}
	y := telephone(x, testRate)
	if got := snr(x[1000:15000], y[1000:15000]); math.Abs(got-38) > 2 {
		t.Errorf("got %.1f dB, want about 38", got)
	}
	z := telephone(colouredNoise(testRate, 0, rand.New(rand.NewPCG(8, 8))), testRate)
	if db := 10 * math.Log10(bandEnergy(z, testRate, 2000, 3500)/bandEnergy(z, testRate, 4500, 8000)); db < 40 {
		t.Errorf("got %.1f dB between 3 and 6 kHz, want 40", db)
	}
}

// TestLeaky compares what ffmpeg 5.1 leaves of white noise of 16 kHz after 8 kHz
// and back: all below 3.5 kHz, -14 to -27 dB from 4 to 4.5, -43 to -50 to 5 kHz.
func TestLeaky(t *testing.T) {
	x := colouredNoise(2*testRate, 0, rand.New(rand.NewPCG(4, 4)))
	y := leaky(leaky(x, testRate, 8000), 8000, testRate)
	for _, c := range []struct{ low, high, least, most float64 }{{100, 3500, -0.2, 0.2}, {4000, 4500, -27, -14}, {4500, 5000, -55, -40}, {5500, 8000, -150, -60}} {
		db := 10 * math.Log10(bandEnergy(y, testRate, c.low, c.high)/bandEnergy(x, testRate, c.low, c.high))
		if db < c.least || db > c.most {
			t.Errorf("%v to %v Hz: got %.1f dB, want %v to %v", c.low, c.high, db, c.least, c.most)
		}
	}
	for _, n := range []int{0, 1, 7, 1000} {
		if got, want := len(leaky(x[:n], 22050, 8000)), dsp.NewResampler(22050, 8000).Len(n); got != want {
			t.Errorf("%d samples: got %d, want %d", n, got, want)
		}
	}
}
