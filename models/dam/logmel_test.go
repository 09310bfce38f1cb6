package dam

import (
	"encoding/json"
	"math"
	"testing"
)

// melTolerance is what the issue of the model's equivalence allows; a float32
// of the order of one has half an ulp of 6e-8.
const melTolerance = 1e-5

// madeSignal is the signal of testdata/logmel.py.
func madeSignal() []float64 {
	x := make([]float64, 40*sampleRate)
	state := uint32(1)
	for i := range x {
		t := float64(i) / sampleRate
		s := math.Sin(t)
		tone := math.Sin(2*math.Pi*(150*t+10*s)) + 0.5*math.Sin(2*math.Pi*(1200*t+40*s)) + 0.2*math.Sin(2*math.Pi*(3300*t+90*s))
		state = state*1664525 + 1013904223
		x[i] = 0.05 + 0.3*math.Pow(math.Sin(math.Pi*4*t), 2)*tone + 0.001*(float64(state)/(1<<31)-1)
	}
	return x
}

func TestLogMelAgainstNumpy(t *testing.T) {
	var golden struct {
		Frames []int
		Chunks [][][]float64
	}
	if err := json.Unmarshal(testFile(t, "logmel.json"), &golden); err != nil {
		t.Fatal(err)
	}
	parts := chunks(madeSignal())
	if len(parts) != 2 || len(golden.Chunks) != 2 {
		t.Fatalf("got %d chunks, want 2 as in the file, which has %d", len(parts), len(golden.Chunks))
	}
	l, dst := newLogMel(), make([]float32, melBands*melFrames)
	for c, part := range parts {
		l.compute(dst, part)
		worst := 0.0
		for i, frame := range golden.Frames {
			for j, want := range golden.Chunks[c][i] {
				worst = max(worst, math.Abs(float64(dst[j*melFrames+frame])-want))
			}
		}
		if worst > melTolerance {
			t.Errorf("chunk %d: got a difference of %v, want at most %v", c, worst, melTolerance)
		}
		for j := range melBands {
			var mean float64
			for _, v := range dst[j*melFrames:][:melFrames] {
				mean += float64(v) / melFrames
			}
			if math.Abs(mean-expectedEnergy[j]) > melTolerance {
				t.Errorf("chunk %d, band %d: got mean %v, want %v", c, j, mean, expectedEnergy[j])
			}
		}
	}
}

// Silence cannot be scaled to a level, and still gives finite numbers.
func TestLogMelOfSilence(t *testing.T) {
	l, dst := newLogMel(), make([]float32, melBands*melFrames)
	for _, x := range [][]float64{nil, make([]float64, chunkLen)} {
		chunks(x)
		l.compute(dst, x)
		for i, v := range dst {
			if math.Abs(float64(v)-expectedEnergy[i/melFrames]) > melTolerance {
				t.Fatalf("got %v in band %d, want the expected energy", v, i/melFrames)
			}
		}
	}
}

func BenchmarkLogMel(b *testing.B) {
	part := chunks(madeSignal())[0]
	l, dst := newLogMel(), make([]float32, melBands*melFrames)
	b.ReportAllocs()
	for b.Loop() {
		l.compute(dst, part)
	}
}
