package dsp

// SampleRate is the rate, in Hz, at which recordings are analysed. Chosen: the rate
// of most recorders, whose band holds all of the voice.
const SampleRate = 44100

// Hop is the time, in seconds, from one frame to the next: frame i of a track is
// centred on i·Hop. It is the hop of HTK and GeMAPS.
const Hop = 0.010

// NumMFCC is the number of cepstral coefficients of a frame, c0 included.
const NumMFCC = 13

// A Segment is a stretch of time, in seconds from the first sample.
type Segment struct{ Start, End float64 }

// Duration is the length of the segment in seconds.
func (s Segment) Duration() float64 { return s.End - s.Start }

// Jitter holds the period perturbation measures of a recording, by the definitions
// of [MeasureJitter]. They are ratios, at least 0 (0.01 is 1 %), but for Absolute,
// which is in seconds. A measure with too few periods is NaN.
type Jitter struct{ Local, Absolute, RAP, PPQ5, DDP float64 }

// Shimmer holds the amplitude perturbation measures of a recording, by the
// definitions of [MeasureShimmer]. They are ratios, at least 0 (0.01 is 1 %), but
// for LocalDB, which is in dB. A measure with too few periods is NaN.
type Shimmer struct{ Local, LocalDB, APQ3, APQ5, APQ11 float64 }

// Quality describes the recording rather than the voice. The three measures are
// the project's own.
type Quality struct {
	// SNR is the level of the speech over the level of the pauses, in dB.
	// Without a pause the quietest twentieth of the speech counts as noise if it
	// is 10 dB lower. Otherwise, and without speech, SNR is NaN.
	SNR float64
	// Clipped is the share of the samples, 0 to 1, in flat runs of three or
	// more at the highest or lowest value. Clipping before a resampling does not
	// count; for that see [Clipped].
	Clipped float64
	// Bandwidth is the frequency in Hz above which there is only noise floor: speech
	// is less than 3 dB above the noise between it, or all is less than 10 dB above
	// the lowest part of the spectrum. NaN for silence and for less than 23 ms. In
	// what was resampled the noise alone counts; without pauses, or where a gate took
	// it out of them, the bandwidth is about that of the former rate.
	Bandwidth float64
}

// Spectrum holds the spectral measures of one frame of 23.2 ms under a Hann window.
// All are NaN in a frame of digital silence. Slopes, alpha ratio and Hammarberg
// index have the bands of GeMAPS (F. Eyben et al., "The Geneva minimalistic acoustic
// parameter set (GeMAPS) for voice research and affective computing", IEEE Trans.
// Affective Computing 7, 2016, 190–202, section 3.1). The flux is after G.
// Tzanetakis and P. Cook, "Musical genre classification of audio signals", IEEE
// Trans. Speech and Audio Processing 10, 2002, 293–302.
type Spectrum struct {
	Centroid   float64 // Hz
	Rolloff85  float64 // Hz, frequency below which 85 % of the power is
	Flux       float64 // Euclidean distance to the previous frame's magnitudes, both of unit norm, 0 to √2; 0 in frame 0, NaN after silence
	Flatness   float64 // geometric over arithmetic mean of the power spectrum in 50 to 5000 Hz, 0 to 1
	Slope500   float64 // dB per Hz, regression over 0 to 500 Hz
	Slope1500  float64 // dB per Hz, regression over 500 to 1500 Hz
	Alpha      float64 // dB, power in 50 to 1000 Hz over power in 1 to 5 kHz
	Hammarberg float64 // dB, strongest peak in 0 to 2 kHz over strongest in 2 to 5 kHz
}

// Formants holds the frequencies F and the -3 dB bandwidths B of F1 to F3 of one
// frame in Hz, as [FormantTracker] finds them. Both are NaN for a formant that the
// frame does not have.
type Formants struct{ F, B [3]float64 }

// Analysis is everything that one pass over a recording measures.
//
// The slices belong to the [Analyzer] that filled them and stay valid until
// its next call. Every track has len(F0) frames; frame i is centred on i·Hop.
type Analysis struct {
	Duration float64 // seconds of audio

	F0        []float64          // Hz; 0 where unvoiced
	Irregular []bool             // whether the voice is irregular, such as creak, in a frame without F0, by [Pitch.Irregular]
	Level     []float64          // dBFS of the frame's RMS, less the recording's mean; -Inf in digital silence
	Loudness  []float64          // auditory loudness after Hermansky (1990) as in GeMAPS, relative, ≥ 0
	HNR       []float64          // dB, harmonics-to-noise ratio by [HNR]; NaN where unvoiced
	Spectrum  []Spectrum         // spectral measures
	MFCC      [][NumMFCC]float64 // HTK mel cepstrum by [MFCC], c0 first
	Formants  []Formants         // F1 to F3; NaN outside voiced frames
	IsSpeech  []bool             // whether the frame is in a speech segment
	Pulses    []float64          // times of the glottal pulses in seconds by [Pulses], ascending; beyond the voiced frames only of periods like the one before
	Speech    []Segment          // stretches of speech, ascending, disjoint, with 0.1 s or more each
	Pauses    []Segment          // silent pauses of 0.2 s or more between stretches of speech
	Syllables []float64          // times of the syllable nuclei in seconds, ascending (de Jong and Wempe 2009)

	// Jitter and Shimmer are of Pulses. The creak at the ends of phrases, which Irregular
	// has, hardly counts in them, so that they compare with norms and published effects of
	// tracks that leave it out.
	Jitter  Jitter
	Shimmer Shimmer
	CPPS    float64 // dB, smoothed cepstral peak prominence by [CPPS]; NaN without voiced frames
	Quality Quality
}

// SpeechDuration is the total duration of the speech segments in seconds.
func (a *Analysis) SpeechDuration() float64 {
	var t float64
	for _, s := range a.Speech {
		t += s.Duration()
	}
	return t
}
