// Package spoof measures the features of schema spoof/3 (see [Schema]), which the
// deepfake scorer reads. They were chosen because synthetic and recorded speech
// differ in them also for systems and speakers that were not in the training
// data.
//
// Every recording is first brought to the same form: 16 kHz, 60 to 7400 Hz, one
// level, and a trace of noise. The families of features and their sources:
//
//   - lfcc.*: standard deviation over the active frames of the LFCC and of
//     their deltas (Sahidullah et al. 2015; [lanes.LFCC] with 20 filters from 30 to
//     8000 Hz)
//   - pitch.*, amplitude.*, periodicity.*: dynamics of the autocorrelation
//     pitch of 40 ms frames ([lanes.Autocorrelation]), and of the peak's height
//   - periodicity.band*: normalised autocorrelation of five bands at that lag
//   - lpc.*: statistics of the residual of linear prediction of order 18
//     ([dsp.LPC]), and of some coefficients of the predictor (lpc.a*)
//   - pulse.*: the residual round each glottal pulse ([dsp.Pulses]): how narrow
//     and how symmetric it is, and how like the one before
//   - coherence.*: how strictly the envelopes of bands follow the pitch
//   - fine.*: the long-term log spectrum less its running median: tones and
//     checkerboards that upsampling leaves; of blocks, of the whole (fine.whole.*),
//     and of the 10th percentile over time (fine.floor.*)
//   - modulation.*: log share of bands of the spectrum of the log band energies
//   - perturbation.*: jitter, shimmer, harmonics-to-noise ratio and CPPS, by
//     [dsp.MeasureJitter], [dsp.MeasureShimmer], [dsp.HNR] and [dsp.CPPS]
//   - quefrency.*, texture.*: the power cepstrum of the voiced frames in bands of
//     quefrency ([lanes.Cepstrum]), its change, and the flatness of bands
//   - envelope.*: skewness of the steps and bends of the envelopes of bands
//
// A frame is active if its power is within 32 dB of the 95th percentile.
package spoof
