// Package voicescreen listens to a recording of a person speaking and returns
// screening scores: signs of depression, signs of anxiety, and the risk that
// the voice is synthetic. Round the scores it keeps the flow of a clinical
// service: consent, one prediction a session, non-blocking submission,
// results, and feedback from which the models learn.
//
// Results are investigational and serve as decision support. They are not a
// diagnosis.
package voicescreen
