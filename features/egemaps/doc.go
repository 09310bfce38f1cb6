// Package egemaps measures the extended Geneva minimalistic acoustic parameter set: 88
// functionals of 25 low-level descriptors (F. Eyben et al., "The Geneva minimalistic
// acoustic parameter set (GeMAPS) for voice research and affective computing", IEEE
// Trans. Affective Computing 7, 2016, 190–202, section 3). Their names and order are
// those of eGeMAPSv02, under which models and corpora are published.
//
// # Descriptors
//
// F0, formants, pulses, harmonics-to-noise ratio and spectral balance are the tracks of
// [dsp.Analysis], which the schema voice/1 uses too. Levels of harmonics are of frames of
// 60 ms under a Gaussian window with a standard deviation of 0.4 half lengths. Cepstrum,
// loudness and flux are of frames of 20 ms under a Hamming window at the recording's own
// rate. Descriptors are smoothed over three frames, those of voiced frames within a voiced
// stretch only.
//
// # Functionals
//
// The suffix _amean is the arithmetic mean, _stddevNorm the standard deviation over the
// mean, which has the sign of the mean. F0 and loudness have percentiles, and mean and
// standard deviation of the slopes of their rising and falling parts. The descriptors of
// F0, perturbation, harmonics and formants count in voiced frames only. Those of the
// spectrum have the suffix V in voiced and UV in unvoiced frames. The voiced frames count
// as one sequence where slopes are taken, without the gaps between them.
//
// # Level and sampling rate
//
// Loudness and flux depend on the gain of the recording, and, as published values do, on
// its sampling rate: spectra are sums over the samples of 20 ms. Values of recordings at
// 16 kHz compare with published values at 16 kHz.
//
// docs/EGEMAPS.md shows how the values agree with those of openSMILE 3.0.1, and where they
// differ on purpose.
package egemaps
