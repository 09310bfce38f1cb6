// Package models turns what package dsp measured into scores: the named
// feature schemas, the [Scorer] interface, the shipped scorers and the files
// that models are kept in.
//
// A score is a screening signal and decision support, never a diagnosis. It
// carries what the model knows and how well: an interval, whether the model
// was calibrated on labelled recordings and on which, the features that moved
// it, and how much of what the model needs was there.
package models
