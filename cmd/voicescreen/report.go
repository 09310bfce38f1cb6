package main

import (
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/report"
	"github.com/voicescreen/voicescreen/screen"
)

func newReport() *cobra.Command {
	var o analyzeOptions
	var out, title string
	cmd := &cobra.Command{
		Use:   "report [-o PAGE] FILE",
		Short: "Draw the analysis of one recording as a page",
		Long: `Write one HTML page about a recording, for the screen and for paper: each score with
its sentence, interval and what moved it, the deepfake score by segment, where the
speaker lies beside the norms, the quality of the recording, and pictures of wave,
spectrogram, formants and pitch, each with its text. The page loads nothing and runs
no script. Its title is the name of the file, or --title.

The page is about a person's health. With -o only you can read it, and an existing
file is not replaced. FILE may be "-" for standard input.

` + screen.Disclaimer,
		Example: "  voicescreen report -o report.html testdata/interview_en.wav\n" +
			"  voicescreen report --gender Female --title \"Visit 3\" interview.wav > report.html",
		Args: command.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			p, err := newPage(cmd, args[0], &o)
			if err != nil {
				return err
			}
			if title != "" {
				p.Title = title
			}
			return writePage(cmd.OutOrStdout(), out, p)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "the file to write (default: standard output)")
	cmd.Flags().StringVar(&title, "title", "", "title of the page (default: the name of the file)")
	o.add(cmd)
	command.FileArgs(cmd, recordingEndings()...)
	return cmd
}

// newPage analyses a recording for its page.
func newPage(cmd *cobra.Command, path string, o *analyzeOptions) (*report.Page, error) {
	engine, end, err := o.engine(cmd)
	if err != nil {
		return nil, err
	}
	defer end()
	about, err := o.about(cmd.Context())
	if err != nil {
		return nil, err
	}
	src, err := command.OpenSource(cmd.Context(), path, cmd.InOrStdin(), o.channel, o.most)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, command.HelpChannel(err, true))
	}
	defer src.Close() // was only read
	a, err := engine.AnalyzeSource(cmd.Context(), src, about)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c, err := src.Channel() // for the pictures
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, warning := range command.Warnings(c) {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", command.Printable(path), warning)
	}
	p := &report.Page{Made: time.Now(), Analysis: a, Signal: report.NewSignal(c)}
	if path != "-" {
		p.Title = filepath.Base(path)
	}
	return p, nil
}

// writePage writes a page to a file, or to stdout where the path is "".
func writePage(stdout io.Writer, path string, p *report.Page) error {
	if path == "" {
		return p.Write(stdout)
	}
	out, err := command.NewPrivateOutput(path)
	if err != nil {
		return err
	}
	defer out.Discard()
	return out.Finish(p.Write)
}
