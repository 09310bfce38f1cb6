package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/store/memory"
)

// analyzeOptions are the flags of "analyze".
type analyzeOptions struct {
	json    bool
	models  []string
	channel int
}

func newAnalyze() *cobra.Command {
	var o analyzeOptions
	cmd := &cobra.Command{
		Use:   "analyze [--json] FILE…",
		Short: "Score recordings",
		Long: `Print the scores of each WAV file, the features that weigh most in them, and the
quality of the recording. Nothing is stored.

Scores for depression and anxiety need 30 seconds of speech, a deepfake score
needs 2. A file that was cut short is analysed as far as it goes.

With --json each file gives one line, a JSON object; one that cannot be read
gives {"file":…,"error":…}. FILE may be "-" for standard input.

` + disclaimer,
		Example: "  voicescreen analyze testdata/interview_en.wav\n" +
			"  voicescreen analyze --json *.wav > scores.jsonl\n" +
			"  voicescreen analyze --channel 2 call.wav",
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.channel < 0 {
				return usagef("--channel is %d, want 1 or more", o.channel)
			}
			return runAnalyze(cmd, args, o)
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON, one object a line")
	cmd.Flags().StringArrayVar(&o.models, "model", nil, "a model file that replaces the shipped one of its category (repeatable)")
	cmd.Flags().IntVar(&o.channel, "channel", 0, "the channel to take of a recording with several, from 1 on")
	return cmd
}

// loadModels loads model files.
func loadModels(paths []string) ([]models.Scorer, error) {
	var scorers []models.Scorer
	for _, path := range paths {
		s, err := models.LoadFile(path)
		if err != nil {
			return nil, err
		}
		scorers = append(scorers, s)
	}
	return scorers, nil
}

func runAnalyze(cmd *cobra.Command, files []string, o analyzeOptions) error {
	scorers, err := loadModels(o.models)
	if err != nil {
		return err
	}
	st := memory.New()
	defer st.Close()
	engine, err := voicescreen.New(st, &voicescreen.Options{
		Workers: -1, // nothing is queued
		Models:  scorers,
	})
	if err != nil {
		return err
	}
	defer engine.Close(context.WithoutCancel(cmd.Context())) // has nothing to drain

	write := writeAnalysis
	if o.json {
		write = writeAnalysisJSON
	}
	newWork := func() func(i int) measured {
		return func(i int) measured {
			var buf bytes.Buffer
			a, err := analyzeFile(cmd.Context(), engine, files[i], cmd.InOrStdin(), o.channel)
			if err != nil {
				if o.json {
					_ = json.NewEncoder(&buf).Encode(fileError{files[i], plain(err)}) // of two strings
				}
				return measured{out: buf.Bytes(), err: err}
			}
			if err := write(&buf, files[i], a); err != nil {
				return measured{err: err}
			}
			return measured{buf.Bytes(), notWhole(a.Truncated, a.Partial, a.Duration), nil}
		}
	}
	return printEach(cmd, files, "analysing", newWork)
}

// fileError is the line of a file that could not be analysed.
type fileError struct {
	File  string `json:"file"`
	Error string `json:"error"`
}

// analyzeFile analyses one channel of a file, 0 for the only one.
func analyzeFile(ctx context.Context, e *voicescreen.Engine, path string, stdin io.Reader, channel int) (*voicescreen.Analysis, error) {
	c, err := readFile(ctx, path, stdin, channel)
	if err != nil {
		return nil, err
	}
	return e.AnalyzeChannel(ctx, c)
}

// analysisJSON is one line of "analyze --json".
type analysisJSON struct {
	File          string                                   `json:"file"`
	Duration      float64                                  `json:"duration_s"`
	SpeechSeconds float64                                  `json:"speech_s"`
	SampleRate    int                                      `json:"sample_rate_hz"`
	Truncated     bool                                     `json:"truncated"`
	Partial       bool                                     `json:"partial"`
	Quality       qualityJSON                              `json:"quality"`
	Scores        []models.Score                           `json:"scores"`
	Failures      map[models.Category]*voicescreen.Failure `json:"failures,omitempty"`
	Features      map[string]number                        `json:"features"`
	Disclaimer    string                                   `json:"disclaimer"`
}

type qualityJSON struct {
	SNR       number `json:"snr_db"`
	Clipped   number `json:"clipped_ratio"`
	Bandwidth number `json:"bandwidth_hz"`
}

func writeAnalysisJSON(w io.Writer, file string, a *voicescreen.Analysis) error {
	scores := a.Scores
	if scores == nil {
		scores = []models.Score{}
	}
	err := json.NewEncoder(w).Encode(&analysisJSON{
		File:          file,
		Duration:      a.Duration,
		SpeechSeconds: a.SpeechSeconds,
		SampleRate:    a.SampleRate,
		Truncated:     a.Truncated,
		Partial:       a.Partial,
		Quality:       qualityJSON{number(a.Quality.SNR), number(a.Quality.Clipped), number(a.Quality.Bandwidth)},
		Scores:        scores,
		Failures:      a.Failures,
		Features:      featureNumbers(a.Features),
		Disclaimer:    disclaimer,
	})
	if err != nil {
		return fmt.Errorf("encode the scores: %w", err)
	}
	return nil
}
