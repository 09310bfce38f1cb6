// Package models computes scores from the features of a recording: the [Scorer]
// interface, its implementations [Linear] and [Bayes], and their model files.
// Package models/shipped has the models of the module.
//
// A score is a screening signal and decision support, never a diagnosis. It
// carries its uncertainty: an interval, whether the model was calibrated on
// labelled recordings and on which, the contributions of features, and the share
// of the model's features that were measured.
package models
