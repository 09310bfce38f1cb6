// Package screen holds the nouns of the service: what is predicted of a
// recording, how far that is, the scores, the person's metadata, the labels, and
// why a prediction failed. Each noun has one Go type and one JSON shape, which
// all packages of the module share. It imports the standard library only.
//
// Enumerations start at 1; their zero value means "not given". Undefined
// numbers are NaN in Go and null in JSON.
package screen

// Disclaimer stands wherever scores are shown to people.
const Disclaimer = "Scores are investigational and support a decision; they are not a diagnosis."
