// Package screen holds the nouns of the service: products and categories, the
// status of a session, scores, the metadata of the person, labels, thresholds,
// and the reason of a failure. Each noun has one Go type and one JSON shape,
// which all packages of the module share. It imports the standard library only.
//
// Enumerations start at 1; their zero value means "not given". Undefined
// numbers are NaN in Go and null in JSON.
package screen

// Disclaimer is the text that accompanies scores wherever people read them.
const Disclaimer = "Scores are investigational and support a decision; they are not a diagnosis."
