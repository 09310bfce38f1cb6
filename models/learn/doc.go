// Package learn updates the depression and anxiety models with labels: it computes
// the posterior of a prior given labelled recordings ([Learn]), and evaluates the
// result on people who were held out. Without labels it updates their norms ([Adapt]).
//
// The model is a proportional odds regression of the four bands of a
// questionnaire, with a normal prior on its parameters. What it learns is
// Laplace's approximation of their posterior, and its file is read by package
// models. The package reads no audio and no file. Everything is deterministic,
// from a seed where chance is needed.
package learn
