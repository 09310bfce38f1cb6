package prior

import (
	"math"
	"math/rand/v2"

	"github.com/voicescreen/voicescreen/dsp"
)

// A piece is a stretch of speech without a pause, at dsp.SampleRate, and the RMS of
// the noise that it was recorded in.
type piece struct {
	samples []float64
	noise   float64
}

// pieceEdge is how many seconds a piece keeps before and after its speech. Chosen:
// what a detector of speech may leave out of a weak sound.
const pieceEdge = 0.03

const (
	leastStretch = 0.2                // seconds of speech between two pauses; chosen, a short word
	reach        = dsp.SampleRate / 4 // samples that a stretch may be longer or shorter than drawn; chosen
	window       = dsp.SampleRate / 50
)

// pieces cuts a clip at its pauses.
func pieces(analyzer *dsp.Analyzer, clip []float64) []piece {
	const edge = int(pieceEdge * dsp.SampleRate)
	noise := quietest(clip)
	var out []piece
	for _, s := range analyzer.Analyze(clip).Speech {
		from := max(int(s.Start*dsp.SampleRate)-edge, 0)
		to := min(int(s.End*dsp.SampleRate)+edge, len(clip))
		out = append(out, piece{clip[from:to], noise})
	}
	return out
}

// assemble puts the pieces of a person in a row, over and over, in stretches with
// pauses between as the speaker has them, to the given duration in seconds. A stretch
// ends where the speech is quietest within 0.25 s of the drawn length. The noise of a
// pause is white.
func assemble(from []piece, sp speaker, seconds float64, rng *rand.Rand) []float64 {
	n := int(seconds * dsp.SampleRate)
	x := make([]float64, 0, n)
	var k int         // the piece at hand
	var at int        // where in it
	var noise float64 // of the last piece
	for len(x) < n {
		left := int(max(sp.stretch.draw(rng), leastStretch) * dsp.SampleRate)
		for left > 0 {
			p := from[k%len(from)]
			noise = p.noise
			end := len(p.samples)
			if end-at > left+reach {
				end = quietPlace(p.samples, max(at+left-reach, at+window), at+left+reach)
			}
			x = append(x, p.samples[at:end]...)
			left -= end - at
			if at = end; at == len(p.samples) {
				k, at = k+1, 0
				if left < reach {
					break
				}
			}
		}
		pause := min(sp.pause.draw(rng), longestPause) - 2*pieceEdge
		for range int(pause * dsp.SampleRate) {
			x = append(x, noise*rng.NormFloat64())
		}
	}
	return x[:n]
}

// quietPlace returns the middle of the 20 ms with the least energy that begin in
// [from, to). x must hold them.
func quietPlace(x []float64, from, to int) int {
	least, best := math.Inf(1), from+window/2
	for i := from; i+window <= min(to, len(x)); i += window / 4 {
		var s float64
		for _, v := range x[i : i+window] {
			s += v * v
		}
		if s < least {
			least, best = s, i+window/2
		}
	}
	return best
}
