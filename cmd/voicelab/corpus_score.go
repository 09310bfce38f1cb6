package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/lab/corpus"
	"github.com/voicescreen/voicescreen/lab/manifest"
	"github.com/voicescreen/voicescreen/lab/report"
)

// scoreCorpus scores what the participants of a corpus say. What cannot be used
// is printed and left out.
func scoreCorpus(cmd *cobra.Command, scorer *rowScorer, o corpusOptions, split string) ([]manifest.Row, []report.Row, error) {
	root := os.DirFS(o.root)
	c, err := corpus.Open(o.name, root, scorer.task)
	if err != nil {
		return nil, nil, err
	}
	c.Sessions = slices.DeleteFunc(c.Sessions, func(s corpus.Session) bool { return split != "" && s.Split != split })
	if n := len(c.Sessions); scorer.against != nil && n > 0 && !slices.ContainsFunc(c.Sessions, func(s corpus.Session) bool { return s.Positive != c.Sessions[0].Positive }) {
		return nil, nil, fmt.Errorf("%s: all %d sessions are of one class, want both for --against", c.Name, n)
	}
	scored, err := eachSession(cmd, c, "scoring", func(m *features.Measurer, s *corpus.Session) (scoredSession, error) {
		r := scoredSession{row: manifest.Row{
			Path: s.ID, Label: "0", Positive: s.Positive, Speaker: s.Speaker, Use: s.Split, Language: c.Language,
			Metadata: s.Metadata, Total: s.Total, HasTotal: s.HasTotal,
		}}
		if s.Positive {
			r.row.Label = "1"
		}
		participant, _, err := sessionAudio(cmd.Context(), root, s)
		if err != nil {
			return r, err
		}
		r.out, err = scorer.row(cmd.Context(), &r.row, m.Measure(participant))
		return r, err
	})
	if err != nil {
		return nil, nil, err
	}
	rows, out := make([]manifest.Row, len(scored)), make([]report.Row, len(scored))
	for i, r := range scored {
		rows[i], out[i] = r.row, r.out
	}
	return rows, out, nil
}

// scoredSession is a session as a row of a manifest, and what the model says.
type scoredSession struct {
	row manifest.Row
	out report.Row
}
