package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store/memory"
)

// analyzeOptions are the flags of "analyze".
type analyzeOptions struct {
	prior   float64
	json    bool
	verbose bool
	models  []string
	channel int
	gender  string
	earlier []string
	scoring command.ScoringFlags
}

func newAnalyze() *cobra.Command {
	var o analyzeOptions
	cmd := &cobra.Command{
		Use:   "analyze [--json] FILE…",
		Short: "Score recordings",
		Long: `Print the scores of each WAV file in words, the measures that weigh most in them, and
the quality of the recording. Nothing is stored. --verbose adds the model, its
thresholds and the numbers of the measures. "Usual" is the norm for speakers of that
sex, or for deepfakes the average recording that the model was trained on. "This
population" is the one of --base-rate and --deepfake-prior.

Scores for depression and anxiety need 30 seconds of speech, a deepfake score
needs 2. A file that was cut short is analysed as far as it goes.

With --json each file gives one line, a JSON object; one that cannot be read
gives {"file":…,"error":…}. FILE may be "-" for standard input, once.

` + screen.Disclaimer,
		Example: "  voicescreen analyze testdata/interview_en.wav\n" +
			"  voicescreen analyze --json *.wav > scores.jsonl\n" +
			"  voicescreen analyze --channel 2 call.wav",
		Args: command.Args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.json && o.verbose {
				return command.Usagef("--verbose does not go with --json, which has all numbers")
			}
			if o.channel < 0 {
				return command.Usagef("--channel is %d, want 1 or more", o.channel)
			}
			if err := checkFiles(args); err != nil {
				return err
			}
			if err := command.CheckPrior(cmd, o.prior); err != nil {
				return err
			}
			return runAnalyze(cmd, args, o)
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON, one object a line")
	cmd.Flags().BoolVar(&o.verbose, "verbose", false, "print the numbers behind the words too")
	cmd.Flags().StringArrayVar(&o.models, "model", nil, "a model file that replaces the shipped one of its category (repeatable)")
	command.AddPrior(cmd, &o.prior)
	cmd.Flags().StringVar(&o.gender, "gender", "", "of the speaker of all files, such as Female or Male (default: by the voice)")
	cmd.Flags().StringArrayVar(&o.earlier, "baseline", nil, "an earlier recording of the same person to compare with (repeatable)")
	o.scoring.Add(cmd)
	cmd.Flags().IntVar(&o.channel, "channel", 0, "the channel to take of a recording with several, from 1 on")
	return cmd
}

func runAnalyze(cmd *cobra.Command, files []string, o analyzeOptions) error {
	scoring := voicescreen.ScoringOptions{DeepfakePrior: o.prior}
	if err := o.scoring.Set(&scoring); err != nil {
		return err
	}
	scorers, err := command.LoadModels(o.models, scoring.BaseRates)
	if err != nil {
		return err
	}
	scoring.Models = scorers
	st := memory.New(nil)
	defer st.Close()
	engine, err := voicescreen.New(st, &voicescreen.Options{
		Workers: -1, // nothing is queued
		Scoring: scoring,
	})
	if err != nil {
		return err
	}
	defer engine.Close(context.WithoutCancel(cmd.Context())) // has nothing to drain

	about, err := o.about(cmd.Context())
	if err != nil {
		return err
	}
	write := func(w io.Writer, file string, a *voicescreen.Analysis) error {
		return writeAnalysis(w, file, a, o.verbose)
	}
	if o.json {
		write = writeAnalysisJSON
	}
	newWork := func() func(i int) measured {
		return func(i int) measured {
			var buf bytes.Buffer
			a, err := analyzeFile(cmd.Context(), engine, files[i], cmd.InOrStdin(), o.channel, about)
			if err != nil {
				if o.json {
					_ = json.NewEncoder(&buf).Encode(fileError{files[i], command.Plain(err)}) // of two strings
				}
				return measured{out: buf.Bytes(), err: err}
			}
			if err := write(&buf, files[i], a); err != nil {
				return measured{err: err}
			}
			return measured{buf.Bytes(), command.NotWhole(a.Truncated, a.Partial, a.Duration), nil}
		}
	}
	return printEach(cmd, files, "analysing", newWork)
}

// about is what the flags say about the recordings.
func (o *analyzeOptions) about(ctx context.Context) (*voicescreen.AnalyzeOptions, error) {
	var a voicescreen.AnalyzeOptions
	if o.gender != "" {
		g, err := screen.ParseGender(o.gender)
		if err != nil {
			return nil, command.Usagef("--gender is %q, want Female, Male, Other, Prefer Not to Specify, Transgender Female or Transgender Male", o.gender)
		}
		a.Metadata.Gender = g
	}
	m := features.NewMeasurer()
	for _, path := range o.earlier {
		c, err := command.ReadFile(ctx, path, nil, o.channel)
		if err != nil {
			return nil, fmt.Errorf("baseline %s: %w", path, err)
		}
		a.Earlier = append(a.Earlier, m.Measure(c).Features)
	}
	return &a, nil
}

// fileError is the line of a file that could not be analysed.
type fileError struct {
	File  string `json:"file"`
	Error string `json:"error"`
}

// analyzeFile analyses one channel of a file, 0 for the only one.
func analyzeFile(ctx context.Context, e *voicescreen.Engine, path string, stdin io.Reader, channel int, about *voicescreen.AnalyzeOptions) (*voicescreen.Analysis, error) {
	c, err := command.ReadFile(ctx, path, stdin, channel)
	if err != nil {
		return nil, err
	}
	return e.AnalyzeChannel(ctx, c, about)
}

// analysisJSON is one line of "analyze --json".
type analysisJSON struct {
	File          string                              `json:"file"`
	Duration      float64                             `json:"duration_s"`
	SpeechSeconds float64                             `json:"speech_s"`
	SampleRate    int                                 `json:"sample_rate_hz"`
	Truncated     bool                                `json:"truncated"`
	Partial       bool                                `json:"partial"`
	Quality       qualityJSON                         `json:"quality"`
	Scores        []screen.Score                      `json:"scores"`
	Failures      map[screen.Category]*screen.Failure `json:"failures,omitempty"`
	Features      map[string]stats.Number             `json:"features"`
	Disclaimer    string                              `json:"disclaimer"`
}

type qualityJSON struct {
	SNR       stats.Number `json:"snr_db"`
	Clipped   stats.Number `json:"clipped_ratio"`
	Bandwidth stats.Number `json:"bandwidth_hz"`
}

func writeAnalysisJSON(w io.Writer, file string, a *voicescreen.Analysis) error {
	scores := a.Scores
	if scores == nil {
		scores = []screen.Score{}
	}
	err := json.NewEncoder(w).Encode(&analysisJSON{
		File:          file,
		Duration:      a.Duration,
		SpeechSeconds: a.SpeechSeconds,
		SampleRate:    a.SampleRate,
		Truncated:     a.Truncated,
		Partial:       a.Partial,
		Quality:       qualityJSON{stats.Number(a.Quality.SNR), stats.Number(a.Quality.Clipped), stats.Number(a.Quality.Bandwidth)},
		Scores:        scores,
		Failures:      a.Failures,
		Features:      featureNumbers(a.Features),
		Disclaimer:    screen.Disclaimer,
	})
	if err != nil {
		return fmt.Errorf("encode the scores: %w", err)
	}
	return nil
}
