// Package report shows people what an analysis found. It words scores, decisions,
// cautions and measures in plain sentences, and a Page draws the analysis of one
// recording as one HTML document:
//
//	a, err := engine.AnalyzeChannel(ctx, c, nil)
//	…
//	p := report.Page{Title: "interview.wav", Analysis: a, Signal: report.NewSignal(c)}
//	err = p.Write(w)
//
// No word and no picture says more than the scores: see [screen.Disclaimer].
package report
