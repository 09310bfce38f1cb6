package main

import (
	"bufio"
	"fmt"
	"io"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
)

// framesHeader names the columns of "features --frames", but for the cepstrum
// that follows.
const framesHeader = "time_s,f0_hz,voiced,level_dbfs,speech,loudness,hnr_db,f1_hz,f2_hz,f3_hz," +
	"spectral_centroid_hz,spectral_rolloff85_hz,spectral_flux,spectral_flatness"

func writeFrames(w io.Writer, _ string, in *features.Recording) error {
	bw := bufio.NewWriter(w)
	bw.WriteString(framesHeader)
	for k := range dsp.NumMFCC {
		fmt.Fprintf(bw, ",mfcc_%d", k)
	}
	bw.WriteByte('\n')
	for i := range in.Analysis.F0 {
		writeFrame(bw, in.Analysis, i)
	}
	return bw.Flush()
}

func writeFrame(w *bufio.Writer, a *dsp.Analysis, i int) {
	s := &a.Spectrum[i]
	f := &a.Formants[i]
	fmt.Fprintf(w, "%.2f,%.3f,%d,%.3f,%d,%.4f,%.3f,%.1f,%.1f,%.1f,%.1f,%.1f,%.5f,%.5f",
		float64(i)*dsp.Hop, a.F0[i], bit(a.F0[i] > 0), a.Level[i], bit(a.IsSpeech[i]),
		a.Loudness[i], a.HNR[i], f.F[0], f.F[1], f.F[2],
		s.Centroid, s.Rolloff85, s.Flux, s.Flatness)
	for _, c := range a.MFCC[i] {
		fmt.Fprintf(w, ",%.5f", c)
	}
	w.WriteByte('\n')
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
