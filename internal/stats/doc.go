// Package stats computes the figures of scores that both the runtime and the laboratory
// need: area under the ROC curve, calibration, bootstrap intervals and folds of groups.
// Package models/learn compares models by them. Package lab/evaluate adds figures that
// only the laboratory reports. Numeric primitives are in package dsp.
//
// A higher score means that the positive class is more likely. Functions panic if scores
// and labels differ in length, and do not change their arguments. An undefined figure is
// NaN: a class is empty, or a score is NaN.
package stats
