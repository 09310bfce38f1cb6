// Package spoof measures the features of schema spoof/10 (see [Schema]), which the
// deepfake scorer reads. They were chosen because synthetic and recorded speech
// differ in them also for systems and speakers that were not in the training
// data.
//
// Every recording is first brought to the same form: 16 kHz, 60 to 7400 Hz, one
// level, and a trace of noise. The families of features and their sources:
//
//   - pitch.*, amplitude.*, periodicity.*: dynamics of the autocorrelation
//     pitch of 40 ms frames ([lanes.Autocorrelation]), and of the peak's height
//   - periodicity.band*: normalised autocorrelation of five bands at that lag, and how
//     those of two bands, and their changes, go together
//   - lpc.*: statistics of the residual of linear prediction of order 18
//     ([dsp.LPC]) in voiced and in unvoiced sounds, and of some coefficients of the
//     predictor (lpc.a*)
//   - pulse.*: the peak of the residual at each glottal pulse ([dsp.Pulses]): its
//     sign, and how its level moves from pulse to pulse
//   - fine.*: the long-term log spectrum less its running median: tones and
//     checkerboards that upsampling leaves; of the whole (fine.whole.*), and of the
//     10th percentile over time (fine.floor.*)
//   - perturbation.*: jitter and shimmer, by [dsp.MeasureJitter] and
//     [dsp.MeasureShimmer] of the pulses of [dsp.Pulses], and how the changes of period
//     and amplitude go together and follow each other
//   - fundamental.*: how frequency and amplitude of the first harmonic change from pulse
//     to pulse, together and after each other
//   - cycle.*: how the waveform round a pulse, and its shape, change over one, five and
//     ten pulses, in bands, and how much of its likeness is left after ten and twenty,
//     in halves of them
//   - joint.*: how like unvoiced sounds are to what follows them, and lines in the
//     spectrum of the envelopes: what programs leave that change tempo or pitch by
//     joining segments
//   - quefrency.*: the power cepstrum of the voiced frames in bands of quefrency
//     ([lanes.Cepstrum])
//   - envelope.*: skewness of the steps and bends of the envelopes of bands, and how the
//     envelopes of two bands, and of a band and of all, go together, and more so
//     those of neighbours than those of bands further off
//
// A frame is active if its power is within 32 dB of the 95th percentile.
package spoof
