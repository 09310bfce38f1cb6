package dsp

import (
	"strings"
	"testing"
)

// referenceFile returns the path of a file of the reference set.
func referenceFile(t testing.TB, elem ...string) string {
	t.Helper()
	return sharedFile(t, "reference/"+strings.Join(elem, "/"))
}

// referenceWAV returns the samples of a file of the reference set in [-1, 1).
func referenceWAV(t testing.TB, elem ...string) (x []float64, sr float64) {
	t.Helper()
	x, rate := readWAV(t, referenceFile(t, elem...), 32768)
	return x, float64(rate)
}

// synthTruth is the truth of one synthetic reference file.
type synthTruth struct {
	Kind        string    `json:"kind"`
	F0          float64   `json:"-"`
	RawF0       any       `json:"f0"`
	Frames      []float64 `json:"f0_frames_10ms_from_t0"`
	HNR         float64   `json:"hnr_db"`
	JitterLocal float64   `json:"jitter_local"`
	JitterAbs   float64   `json:"jitter_local_abs"`
	JitterRAP   float64   `json:"jitter_rap"`
	JitterPPQ5  float64   `json:"jitter_ppq5"`
	ShimLocal   float64   `json:"shimmer_local"`
	ShimDB      float64   `json:"shimmer_local_db"`
	ShimAPQ3    float64   `json:"shimmer_apq3"`
	ShimAPQ5    float64   `json:"shimmer_apq5"`
	ShimAPQ11   float64   `json:"shimmer_apq11"`
}

// syntheticTruth reads the truth of the synthetic reference files.
func syntheticTruth(t testing.TB) map[string]synthTruth {
	t.Helper()
	m := map[string]synthTruth{}
	readJSON(t, referenceFile(t, "synthetic", "truth.json"), &m)
	for k, v := range m {
		if f, ok := v.RawF0.(float64); ok {
			v.F0 = f
			m[k] = v
		}
	}
	return m
}
