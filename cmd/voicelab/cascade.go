package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/models"
)

// writeCascade prints how many recordings a cascade sent on, and what they took.
func writeCascade(cmd *cobra.Command, scorer *rowScorer) error {
	c, ok := scorer.Scorer.(*models.Cascade)
	if !ok {
		return nil
	}
	s := c.Stats()
	seconds := func(d time.Duration, n int) string {
		if n == 0 {
			return "–"
		}
		return fmt.Sprintf("%.3f s", d.Seconds()/float64(n))
	}
	p := &command.Printer{W: cmd.OutOrStdout()}
	p.Printf("\ncascade   %d of %s went to the model (%.1f %%); each took %s in the shipped model and %s in the model\n",
		s.Sent, command.Count(s.Recordings, "recording"), 100*float64(s.Sent)/float64(max(s.Recordings, 1)), seconds(s.First, s.Recordings), seconds(s.Second, s.Sent))
	return p.Err
}
