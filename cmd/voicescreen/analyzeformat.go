package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/screen"
)

// analysisFormat is how "analyze" writes its results.
type analysisFormat struct {
	head   csvRow // before the first file; nil for none
	write  func(w io.Writer, file string, a *voicescreen.Analysis) error
	failed func(w io.Writer, file string, err error) error
}

// format returns the format that the flags ask for.
func (o *analyzeOptions) format() analysisFormat {
	switch {
	case o.json:
		return analysisFormat{write: writeAnalysisJSON, failed: func(w io.Writer, file string, err error) error {
			return json.NewEncoder(w).Encode(fileError{file, command.Plain(err)})
		}}
	case o.csv:
		head := analysisHeader()
		return analysisFormat{head: head, write: writeAnalysisCSV, failed: func(w io.Writer, file string, err error) error {
			return failedRow(w, file, err, len(head))
		}}
	}
	words := func(w io.Writer, file string, a *voicescreen.Analysis) error {
		return writeAnalysis(w, file, a, o.verbose)
	}
	return analysisFormat{write: words, failed: func(io.Writer, string, error) error { return nil }}
}

// fileError is the line of a file that could not be analysed.
type fileError struct {
	File  string `json:"file"`
	Error string `json:"error"`
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

// analysisCSVHelp describes the columns of "analyze --csv".
const analysisCSVHelp = `With --csv each file gives one row: file, error (why it could not be read),
duration_s, speech_s, sample_rate_hz, truncated, partial, snr_db, clipped_ratio,
bandwidth_hz, and for each of depression, anxiety and deepfake the columns
CATEGORY_probability (0 to 1), _low and _high (its 90 % interval), _decision,
_severity (not of deepfake), _coverage, _calibrated, _prior, _baseline, _cautions,
_model, _version, and _error: why there is no score, such as audio_length_error.
--json has the contributions and the features too, "features --csv" the features.`

// analysisColumns are the columns of "analyze --csv" before those of the scores.
var analysisColumns = csvRow{"file", "error", "duration_s", "speech_s", "sample_rate_hz", "truncated", "partial", "snr_db", "clipped_ratio", "bandwidth_hz"}

// analysisHeader returns the columns of "analyze --csv".
func analysisHeader() csvRow {
	head := append(csvRow(nil), analysisColumns...)
	for _, c := range scoredCategories {
		head = append(append(head, scoreHeader(c)...), c.String()+"_error")
	}
	return head
}

func writeAnalysisCSV(w io.Writer, file string, a *voicescreen.Analysis) error {
	var row csvRow
	row.text(file)
	row.empty(1)
	row.number(a.Duration)
	row.number(a.SpeechSeconds)
	row.count(a.SampleRate)
	row.truth(a.Truncated)
	row.truth(a.Partial)
	row.number(a.Quality.SNR)
	row.number(a.Quality.Clipped)
	row.number(a.Quality.Bandwidth)
	for _, c := range scoredCategories {
		row.score(c, a.Scores)
		if f := a.Failures[c]; f != nil {
			row.text(f.Code)
		} else {
			row.empty(1)
		}
	}
	return row.write(w)
}
