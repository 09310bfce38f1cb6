package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/models/process"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store/memory"
)

// analyzeOptions are the flags of "analyze".
type analyzeOptions struct {
	prior   float64
	json    bool
	verbose bool
	csv     bool
	models  command.ModelFlags
	channel int
	gender  string
	earlier []string
	most    time.Duration
	scoring command.ScoringFlags
}

func newAnalyze() *cobra.Command {
	var o analyzeOptions
	cmd := &cobra.Command{
		Use:   "analyze [--json | --csv] FILE…",
		Short: "Score recordings",
		Long: `Print the scores of each recording in words, the measures that weigh most in them, and
the quality of the recording. Nothing is stored. --verbose adds the model, its
thresholds and the numbers of the measures. "Usual" is the norm for speakers of that
sex, or for deepfakes the average recording that the model was trained on. "This
population" is the one of --base-rate and --deepfake-prior.

Scores for depression and anxiety need 30 seconds of speech, 60 to 90 are
recommended; a deepfake score needs 2. A file that was cut short is analysed as far as it goes.

With --json each file gives one line, a JSON object; one that cannot be read
gives {"file":…,"error":…}. FILE may be "-" for standard input, once.

` + foldersHelp + "\n\n" + analysisCSVHelp + "\n\n" + csvHelp + "\n\n" + screen.Disclaimer,
		Example: "  voicescreen analyze testdata/interview_en.wav\n" +
			"  voicescreen analyze --json *.wav > scores.jsonl\n" +
			"  voicescreen analyze --csv recordings/ > scores.csv\n" +
			"  voicescreen analyze --channel 2 call.wav",
		Args: command.Args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.verbose && (o.json || o.csv) {
				return command.Usagef("--verbose does not go with --json or --csv, which have the numbers")
			}
			if o.json && o.csv {
				return command.Usagef("--json and --csv exclude each other")
			}
			if err := o.check(cmd); err != nil {
				return err
			}
			files, err := findSources(cmd, args)
			if err != nil {
				return err
			}
			collectOften()
			return runAnalyze(cmd, files, o)
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON, one object a line")
	cmd.Flags().BoolVar(&o.verbose, "verbose", false, "print the numbers behind the words too")
	cmd.Flags().BoolVar(&o.csv, "csv", false, "print CSV, one row a file")
	o.add(cmd)
	command.FileArgs(cmd, recordingEndings()...)
	return cmd
}

// add adds the flags about the recordings and the models.
func (o *analyzeOptions) add(cmd *cobra.Command) {
	o.models.Add(cmd)
	command.AddPrior(cmd, &o.prior)
	cmd.Flags().StringVar(&o.gender, "gender", "", "of the speaker of all files, such as Female or Male (default: by the voice)")
	cmd.Flags().StringArrayVar(&o.earlier, "baseline", nil, "an earlier recording of the same person to compare with (repeatable)")
	o.scoring.Add(cmd)
	cmd.Flags().IntVar(&o.channel, "channel", 0, "the channel to take of a recording with several, from 1 on")
	maxDuration(cmd, &o.most)
	command.Values(cmd, "gender", genders...)
}

// check checks the flags that add adds.
func (o *analyzeOptions) check(cmd *cobra.Command) error {
	if o.channel < 0 {
		return command.Usagef("--channel is %d, want 1 or more", o.channel)
	}
	if o.most <= 0 {
		return command.Usagef("--max-duration is %v, want more than 0", o.most)
	}
	return command.CheckPrior(cmd, o.prior)
}

// engine returns an engine by the flags. It keeps nothing. The caller calls end.
func (o *analyzeOptions) engine(cmd *cobra.Command) (e *voicescreen.Engine, end func(), err error) {
	scoring := voicescreen.ScoringOptions{DeepfakePrior: o.prior}
	if err := o.scoring.Set(&scoring); err != nil {
		return nil, nil, err
	}
	scorers, err := o.models.Load(cmd.Context(), scoring.BaseRates, process.Options{})
	if err != nil {
		return nil, nil, err
	}
	command.PrintOrigins(cmd, scorers...)
	scoring.Models = scorers
	st := memory.New(nil)
	e, err = voicescreen.New(st, &voicescreen.Options{
		Workers: -1, // nothing is queued
		Scoring: scoring,
	})
	if err != nil {
		st.Close()
		return nil, nil, errors.Join(err, command.CloseModels(scorers))
	}
	return e, func() {
		e.Close(context.WithoutCancel(cmd.Context())) // has nothing to drain
		command.CloseModels(scorers)                  // the scores are there
		st.Close()
	}, nil
}

func runAnalyze(cmd *cobra.Command, files []source, o analyzeOptions) error {
	engine, end, err := o.engine(cmd)
	if err != nil {
		return err
	}
	defer end()

	about, err := o.about(cmd.Context())
	if err != nil {
		return err
	}
	format := o.format()
	newWork := func() func(i int) measured {
		return func(i int) measured {
			var buf bytes.Buffer
			if i == 0 && format.head != nil {
				if err := format.head.write(&buf); err != nil {
					return measured{err: err}
				}
			}
			path := files[i].path
			a, err := analyzeFile(cmd.Context(), engine, files[i], cmd.InOrStdin(), &o, about)
			if err != nil {
				err = errors.Join(command.WithDetail(err), format.failed(&buf, path, err))
				return measured{out: buf.Bytes(), err: err}
			}
			if err := format.write(&buf, path, a); err != nil {
				return measured{err: err}
			}
			return measured{buf.Bytes(), command.NotWhole(a.Truncated, a.Partial, a.Duration), nil}
		}
	}
	return printEach(cmd, files, "analysing", newWork)
}

// genders are the values of --gender.
var genders = []string{"Female", "Male", "Other", "Prefer Not to Specify", "Transgender Female", "Transgender Male"}

// oneOf lists values in words.
func oneOf(values []string) string {
	last := len(values) - 1
	return strings.Join(values[:last], ", ") + " or " + values[last]
}

// about is what the flags say about the recordings.
func (o *analyzeOptions) about(ctx context.Context) (*voicescreen.AnalyzeOptions, error) {
	var a voicescreen.AnalyzeOptions
	if o.gender != "" {
		g, err := screen.ParseGender(o.gender)
		if err != nil {
			return nil, command.Usagef("--gender is %q, want %s", o.gender, oneOf(genders))
		}
		a.Metadata.Gender = g
	}
	m := features.NewMeasurer()
	for _, path := range o.earlier {
		v, err := o.earlierFeatures(ctx, m, path)
		if err != nil {
			return nil, fmt.Errorf("baseline %s: %w", path, command.HelpChannel(err, true))
		}
		a.Earlier = append(a.Earlier, v)
	}
	return &a, nil
}

// earlierFeatures measures an earlier recording.
func (o *analyzeOptions) earlierFeatures(ctx context.Context, m *features.Measurer, path string) (features.Vector, error) {
	src, err := command.OpenSource(ctx, path, nil, o.channel, o.most)
	if err != nil {
		return features.Vector{}, err
	}
	defer src.Close() // was only read
	in, err := m.MeasureSource(src)
	if err != nil {
		return features.Vector{}, err
	}
	return in.Features, nil
}

// analyzeFile analyses one channel of a file.
func analyzeFile(ctx context.Context, e *voicescreen.Engine, file source, stdin io.Reader, o *analyzeOptions, about *voicescreen.AnalyzeOptions) (*voicescreen.Analysis, error) {
	if file.err != nil {
		return nil, file.err
	}
	src, err := command.OpenSource(ctx, file.path, stdin, o.channel, o.most)
	if err != nil {
		return nil, command.HelpChannel(err, true)
	}
	defer src.Close() // was only read
	return e.AnalyzeSource(ctx, src, about)
}
