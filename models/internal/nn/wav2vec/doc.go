// Package wav2vec runs the networks of wav2vec 2.0 (Baevski et al. 2020) and HuBERT
// (Hsu et al. 2021) with a classifier on the mean over time: a feature extractor of
// convolutions on the samples, a convolution for the positions, a transformer encoder,
// and a head.
//
// All numbers are float32, but for the means over time and the head, which are
// float64, and for the integers of Options.Int8. The result depends neither on the number of goroutines nor on what the
// network computed before.
package wav2vec
