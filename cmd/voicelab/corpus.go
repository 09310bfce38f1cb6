package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/lab/corpus"
	"github.com/voicescreen/voicescreen/lab/protocol"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/learn"

	"github.com/voicescreen/voicescreen/screen"
)

// corpusOptions are the flags of the commands that read a corpus.
type corpusOptions struct{ name, root, cache string }

func (o *corpusOptions) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.name, "corpus", "", "read this corpus instead of a manifest: "+strings.Join(corpus.Names(), ", "))
	f.StringVar(&o.root, "root", "", "the folder of the corpus")
	command.Values(cmd, "corpus", corpus.Names()...)
	command.Folders(cmd, "root")
}

// addCache adds the flag of the command that works on measured features.
func (o *corpusOptions) addCache(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.cache, "cache", "", "with --corpus: keep the measured features in this folder, so that an interrupted run can be continued")
	command.Folders(cmd, "cache")
}

// check wants a manifest, or a corpus and its folder.
func (o *corpusOptions) check(manifest string) error {
	switch {
	case o.name == "" && manifest == "":
		return command.Usagef("--manifest is missing, or --corpus")
	case o.name != "" && manifest != "":
		return command.Usagef("--manifest and --corpus exclude each other")
	case o.name != "" && o.root == "":
		return command.Usagef("--root is missing, want the folder of the corpus")
	case o.name == "" && (o.root != "" || o.cache != ""):
		return command.Usagef("--root and --cache need --corpus")
	}
	return nil
}

const corpusHelp = `--corpus reads the recordings and labels of a corpus in the folder --root, in the
layout in which its makers distribute it. Only the participant's turns are used.`

const (
	// longestFile is how much of a file of a corpus is read. Chosen: interviews
	// last up to 33 minutes; an hour at 16 kHz is 0.46 GB.
	longestFile = time.Hour

	// longestSpeech is how much of what a person says is measured, the
	// beginning, as of a recording of the service.
	longestSpeech = 10 * time.Minute
)

// heard is what is measured in a session of a corpus.
type heard struct {
	Features    map[string]float64 `json:"features"`              // of the participant, those that are defined
	Interviewer map[string]float64 `json:"interviewer,omitempty"` // the same of the interviewer
	Seconds     float64            `json:"seconds"`               // of the participant that were measured
}

// readCorpus reads a corpus and measures its sessions. What cannot be used is
// printed.
func readCorpus(cmd *cobra.Command, task screen.Category, o corpusOptions) (*corpus.Corpus, []protocol.Trial, error) {
	root := os.DirFS(o.root)
	c, err := corpus.Open(o.name, root, task)
	if err != nil {
		return nil, nil, err
	}
	if o.cache != "" {
		if err := os.MkdirAll(o.cache, 0o700); err != nil {
			return nil, nil, fmt.Errorf("cache %s: %w", o.cache, command.Bare(err))
		}
	}
	trials, err := eachSession(cmd, c, "measuring", func(m *features.Measurer, s *corpus.Session) (protocol.Trial, error) {
		h, err := o.measure(cmd.Context(), root, m, s)
		if err != nil {
			return protocol.Trial{}, err
		}
		return newTrial(s, &h), nil
	})
	return c, trials, err
}

// eachSession computes something of each session of a corpus, in order, and
// leaves in the corpus those of which it could: the others are printed.
func eachSession[T any](cmd *cobra.Command, c *corpus.Corpus, what string, work func(m *features.Measurer, s *corpus.Session) (T, error)) ([]T, error) {
	type result struct {
		v   T
		err error
	}
	newWork := func() func(i int) result {
		m := features.NewMeasurer()
		return func(i int) (r result) {
			r.v, r.err = work(m, &c.Sessions[i])
			return r
		}
	}
	bar := command.NewProgress(cmd.ErrOrStderr(), len(c.Sessions), what)
	defer bar.Finish()
	var values []T
	var kept []corpus.Session
	err := command.InOrder(cmd.Context(), len(c.Sessions), newWork, func(i int, r result) error {
		bar.Step()
		s := c.Sessions[i]
		if r.err != nil {
			c.Skipped = append(c.Skipped, corpus.Skipped{ID: s.ID, Reason: r.err.Error()})
			return nil
		}
		kept, values = append(kept, s), append(values, r.v)
		return nil
	})
	if err == nil {
		err = cmd.Context().Err() // no session is left out for an interrupt
	}
	if err != nil {
		return nil, err
	}
	bar.Finish()
	c.Sessions = kept
	for _, s := range c.Skipped {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s: session %s is left out: %s\n", cmd.Root().Name(), c.Name, s.ID, s.Reason)
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("%s: no session can be used", c.Name)
	}
	return values, nil
}

func newTrial(s *corpus.Session, m *heard) protocol.Trial {
	t := protocol.Trial{
		Recording: &features.Recording{Features: features.VoiceSchema().Vector(m.Features), Metadata: s.Metadata},
		Positive:  s.Positive, Total: s.Total, HasTotal: s.HasTotal, Speaker: s.Speaker, Split: s.Split, Fold: s.Fold,
	}
	if m.Interviewer != nil {
		t.Interviewer = features.VoiceSchema().Vector(m.Interviewer)
	}
	return t
}

// measure measures a session, or takes what an earlier run kept.
func (o *corpusOptions) measure(ctx context.Context, root fs.FS, m *features.Measurer, s *corpus.Session) (heard, error) {
	kept := o.kept(root, s)
	if b, err := os.ReadFile(kept); kept != "" && err == nil {
		var out heard
		if json.Unmarshal(b, &out) == nil && out.Features != nil {
			return out, nil
		}
	}
	out, err := measureSession(ctx, root, m, s)
	if err != nil || kept == "" {
		return out, err
	}
	return out, keep(kept, out)
}

// kept is the file that keeps the features of a session. Its name is a hash of the
// recordings, the turns and the extractor, and holds nothing about a person.
func (o *corpusOptions) kept(root fs.FS, s *corpus.Session) string {
	if o.cache == "" {
		return ""
	}
	h := sha256.New()
	fmt.Fprintln(h, features.VoiceSchema().Name(), command.BuildVersion(), o.name)
	for _, f := range s.Files {
		info, err := fs.Stat(root, f.Path)
		if err != nil {
			return ""
		}
		fmt.Fprintln(h, f.Path, info.Size(), info.ModTime().UnixNano(), f.Participant, f.Interviewer)
	}
	return filepath.Join(o.cache, hex.EncodeToString(h.Sum(nil)[:16])+".json")
}

func keep(path string, m heard) error {
	out, err := command.NewOutput(path)
	if err != nil {
		return err
	}
	defer out.Discard()
	return out.Finish(func(w io.Writer) error { return json.NewEncoder(w).Encode(m) })
}

// sessionAudio returns what the participant says in a session, one turn after
// the other, and the same of the interviewer, nil if the interviewer's turns are
// unknown.
func sessionAudio(ctx context.Context, root fs.FS, s *corpus.Session) (participant, interviewer *features.Channel, err error) {
	participant = &features.Channel{}
	for _, f := range s.Files {
		c, err := readCorpusFile(ctx, root, f.Path)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		if participant.Rate != 0 && participant.Rate != c.Rate {
			return nil, nil, fmt.Errorf("%s is at %d Hz, the files before it at %d", f.Path, c.Rate, participant.Rate)
		}
		participant.Rate = c.Rate
		participant.Samples = append(participant.Samples, cut(c, f.Participant)...)
		if f.Interviewer != nil {
			if interviewer == nil {
				interviewer = &features.Channel{Rate: c.Rate}
			}
			interviewer.Samples = append(interviewer.Samples, cut(c, f.Interviewer)...)
		}
	}
	if len(participant.Samples) == 0 {
		return nil, nil, errors.New("the participant's turns lie outside the recording")
	}
	if interviewer != nil && len(interviewer.Samples) == 0 {
		interviewer = nil
	}
	for _, c := range []*features.Channel{participant, interviewer} {
		if c != nil {
			c.Samples = c.Samples[:min(len(c.Samples), int(longestSpeech.Seconds())*c.Rate)]
		}
	}
	return participant, interviewer, nil
}

// measureSession measures what the participant says, and apart from it what the
// interviewer says if that is known.
func measureSession(ctx context.Context, root fs.FS, m *features.Measurer, s *corpus.Session) (out heard, err error) {
	participant, interviewer, err := sessionAudio(ctx, root, s)
	if err != nil {
		return out, err
	}
	in := m.Measure(participant)
	if in.Analysis.SpeechDuration() == 0 {
		return out, errors.New("nobody speaks in the participant's turns")
	}
	out.Features, out.Seconds = in.Features.Map(), float64(len(participant.Samples))/float64(participant.Rate)
	if interviewer != nil {
		out.Interviewer = m.Measure(interviewer).Features.Map()
	}
	return out, nil
}

func readCorpusFile(ctx context.Context, root fs.FS, name string) (*features.Channel, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, command.Bare(err)
	}
	defer f.Close()
	return features.ReadChannel(ctx, f, 0, longestFile)
}

// cut returns the samples of the turns, one after the other; all for nil.
func cut(c *features.Channel, turns []dsp.Segment) []float64 {
	if turns == nil {
		return c.Samples
	}
	var x []float64
	at := func(t float64) int { return min(max(int(t*float64(c.Rate)), 0), len(c.Samples)) }
	for _, t := range turns {
		x = append(x, c.Samples[at(t.Start):at(t.End)]...)
	}
	return x
}

// trainCorpus runs the protocol of the corpus, and updates the prior with all of
// its labels.
func trainCorpus(cmd *cobra.Command, task screen.Category, o trainOptions) error {
	out, err := command.NewOutput(o.out)
	if err != nil {
		return err
	}
	defer out.Discard()
	prior, err := command.ShippedPrior(task)
	if err != nil {
		return err
	}
	c, trials, err := readCorpus(cmd, task, o.corpus)
	if err != nil {
		return err
	}
	parts, err := protocol.Run(cmd.Context(), prior, trials, o.seed)
	if err != nil {
		return err
	}
	p := &command.Printer{W: cmd.OutOrStdout()}
	printProtocol(p, c, parts)
	if p.Err != nil {
		return p.Err
	}
	former, err := models.NewBayes(prior)
	if err != nil {
		return err
	}
	var examples []learn.Example
	for i := range trials {
		examples = append(examples, trials[i].Example(task))
	}
	l, err := learn.Learn(cmd.Context(), prior, former, examples, &learn.LearnOptions{
		Version: o.version, Seed: o.seed, Data: cmp.Or(o.data, c.Name), Licence: "that of the corpus",
	})
	if err != nil {
		return err
	}
	l.File.Name, l.File.Licence = cmp.Or(o.name, l.File.Name), cmp.Or(o.licence, l.File.Licence)
	if err := out.Finish(l.File.Write); err != nil {
		return err
	}
	p.Printf("\n%s: %s %s, the prior %v on all %d sessions; log score on held-out people %.4f, of the prior %.4f\n",
		o.out, l.File.Name, l.File.Version, l.Kind, len(trials), l.New.LogScore, l.Former.LogScore)
	return p.Err
}

// printProtocol prints the figures that papers report.
func printProtocol(p *command.Printer, c *corpus.Corpus, parts []protocol.Tested) {
	p.Printf("%s: %d sessions, %d left out; positive is %s\n", c.Name, len(c.Sessions), len(c.Skipped), c.Criterion)
	p.Printf("reported as: %s\n", c.Protocol)
	if strings.HasPrefix(c.Name, "E-DAIC") || strings.HasPrefix(c.Name, "DAIC") {
		p.Printf("DAIC-WOZ and E-DAIC share sessions: a model trained on one must not be tested on the other\n")
	}
	for _, t := range parts {
		p.Printf("\n%s: %d sessions, %d of them positive\n", t.Part, t.N, t.Positive)
		p.Printf("%-24s AUC                    F1 pos  F1 neg  UAR    accuracy  sens   spec   RMSE   MAE    CCC\n", "")
		for _, s := range t.Systems {
			totals := "–      –      –"
			if s.Totals.N > 0 {
				totals = fmt.Sprintf("%-6.2f %-6.2f %.3f", s.Totals.RMSE, s.Totals.MAE, s.Totals.CCC)
			}
			fewer := ""
			if s.N < t.N {
				fewer = fmt.Sprintf("  on %d sessions", s.N)
			}
			p.Printf("%-24s %.3f (%.3f–%.3f)    %.3f   %.3f   %.3f  %.3f     %.3f  %.3f  %s%s\n",
				s.Name, s.AUC, s.Low, s.High, s.F1, s.F1Negative, s.UAR, s.Accuracy, s.Sensitivity, s.Specificity, totals, fewer)
		}
	}
	p.Printf("\nWhat sex and age alone, or the interviewer alone, reach is not due to the voice.\n")
}
