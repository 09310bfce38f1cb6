// Package report says what an analysis found: scores, decisions, cautions and measures
// in plain sentences.
package report
