package dsp

// SampleRate is the rate, in Hz, at which recordings are analysed.
const SampleRate = 44100

// Hop is the time, in seconds, from one frame to the next: frame i of a track
// is centred on i·Hop.
const Hop = 0.010

// NumMFCC is the number of cepstral coefficients of a frame, c0 included.
const NumMFCC = 13

// A Segment is a stretch of time, in seconds from the first sample.
type Segment struct{ Start, End float64 }

// Duration is the length of the segment in seconds.
func (s Segment) Duration() float64 { return s.End - s.Start }

// Jitter holds the period perturbation measures of a recording, as ratios
// (0.01 is 1 %) but for Absolute, which is in seconds. A measure for which
// there were too few periods is NaN.
type Jitter struct{ Local, Absolute, RAP, PPQ5, DDP float64 }

// Shimmer holds the amplitude perturbation measures of a recording, as ratios
// (0.01 is 1 %) but for LocalDB, which is in dB. A measure for which there
// were too few periods is NaN.
type Shimmer struct{ Local, LocalDB, APQ3, APQ5, APQ11 float64 }

// Quality describes the recording rather than the voice.
type Quality struct {
	// SNR is the level of speech over the level of what is not speech, in dB.
	// Without a pause the quietest twentieth of the speech stands for noise if
	// it is 10 dB lower; NaN if not, and without speech.
	SNR float64
	// Clipped is the share of the samples, 0 to 1, in flat runs of three or
	// more at the highest or lowest value. It does not see clipping before a
	// resampling; for that see [Clipped].
	Clipped float64
	// Bandwidth is the frequency in Hz above which there is only noise floor;
	// NaN for silence and for less than 23 ms.
	Bandwidth float64
}

// Spectrum holds the spectral measures of one frame. All are NaN in a frame
// of digital silence.
type Spectrum struct {
	Centroid   float64 // Hz
	Rolloff85  float64 // Hz below which 85 % of the power lies
	Flux       float64 // Euclidean distance to the previous frame's magnitudes, both of unit norm; 0 in frame 0, NaN after silence
	Flatness   float64 // geometric over arithmetic mean of the power spectrum in 50 to 5000 Hz, 0 to 1
	Slope500   float64 // dB per Hz, regression over 0 to 500 Hz
	Slope1500  float64 // dB per Hz, regression over 500 to 1500 Hz
	Alpha      float64 // dB, power in 50 to 1000 Hz over power in 1 to 5 kHz
	Hammarberg float64 // dB, strongest peak in 0 to 2 kHz over strongest in 2 to 5 kHz
}

// Formants holds the frequencies and bandwidths of F1 to F3 of one frame in
// Hz; NaN where the frame has no such formant.
type Formants struct{ F, B [3]float64 }

// Analysis is everything that one pass over a recording measures.
//
// The slices belong to the [Analyzer] that filled them and stay valid until
// its next call. Every track has len(F0) frames; frame i is centred on i·Hop.
type Analysis struct {
	Duration float64 // seconds of audio

	F0        []float64          // Hz; 0 where unvoiced
	Level     []float64          // dBFS of the frame's RMS, less the recording's mean; -Inf in digital silence
	Loudness  []float64          // relative auditory loudness (sone-like, ≥ 0)
	HNR       []float64          // dB, harmonics-to-noise ratio; NaN where unvoiced
	Spectrum  []Spectrum         // spectral measures
	MFCC      [][NumMFCC]float64 // HTK mel cepstrum, c0 first
	Formants  []Formants         // F1 to F3; NaN outside voiced frames
	IsSpeech  []bool             // whether the frame lies in a speech segment
	Pulses    []float64          // times of the glottal pulses in seconds, ascending
	Speech    []Segment          // stretches of speech, ascending, disjoint
	Pauses    []Segment          // silent pauses between stretches of speech
	Syllables []float64          // times of the syllable nuclei in seconds, ascending

	Jitter  Jitter
	Shimmer Shimmer
	CPPS    float64 // dB, smoothed cepstral peak prominence over voiced frames; NaN if there are none
	Quality Quality
}

// SpeechDuration is the time in seconds that lies in speech segments.
func (a *Analysis) SpeechDuration() float64 {
	var t float64
	for _, s := range a.Speech {
		t += s.Duration()
	}
	return t
}
