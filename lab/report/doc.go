// Package report says how well a model scores labelled recordings: as
// numbers, as text, and as a page with plots that needs no other file.
//
// Every figure stands beside its interval and the number of recordings behind
// it. There are two kinds of interval for the figures of all recordings: by
// recording, and by cluster, of one source and one system or of one person,
// which is the wider and the one to trust where recordings of a cluster
// resemble each other. The AUC of a group of people has the interval by cluster.
// Shares have Wilson's interval, which is by recording. Figures of groups of
// people with fewer than MinCell recordings behind them are not given: they would
// be noise, and could identify single persons. In reports of depression and
// anxiety, kinds, systems and sources are such groups.
package report

import (
	"github.com/voicescreen/voicescreen/screen"
)

// MinCell is the least number of recordings for a figure of a group.
const MinCell = 10

// A Row is one labelled recording and its score.
type Row struct {
	Positive bool
	Class    screen.Severity // the true class, 0 if unknown
	Train    bool            // whether the row is for training; see Report.Training
	Score    screen.Score
	Other    screen.Score      // of a second model; see Report.Compare
	SNR      float64           // dB, NaN if it was not measured
	Refused  string            // why the quality gate refused the recording, "" if it did not
	Groups   map[string]string // such as "sex": "Female"; the unknown are left out

	Cluster string // recordings of one cluster resemble each other; "" is one of its own
	Source  string // "" if unknown, which is the same as no other
	System  string // what synthesised it, "" if unknown
	Kind    string // of synthesis, "" if unknown
}
