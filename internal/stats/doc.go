// Package stats has the figures of scores that both the runtime and the
// laboratory report: area under the ROC curve, calibration, bootstrap intervals
// and folds of groups. It stands below models/learn, which judges what it learned
// by them, and below lab/evaluate, which adds what only the laboratory reports.
//
// A score is higher the more it speaks for the positive class. Every function
// wants scores and labels of one length and panics otherwise; none changes
// its arguments. A figure that is not defined, because one class is empty or
// a score is NaN, is NaN. Numeric primitives on plain numbers are in package dsp.
package stats
