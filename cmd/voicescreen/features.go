package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/internal/stats"
)

// featuresOptions are the flags of "features".
type featuresOptions struct {
	json    bool
	frames  bool
	channel int
}

func newFeatures() *cobra.Command {
	var o featuresOptions
	cmd := &cobra.Command{
		Use:   "features [--json | --frames] FILE…",
		Short: "Print what is measured in recordings",
		Long: `Print the features of schema voice/1 of each WAV file, with their units.

With --json each file gives one line, a JSON object
{"file":…,"features":{name: value or null,…},"units":{name: unit,…}}.
With --frames the tracks of one file are printed as CSV, one frame every 10 ms:
time_s is the centre of the frame, f0_hz is 0 where it is not voiced, voiced and
speech are 1 or 0, level_dbfs is -Inf in digital silence, and a measure that is
undefined is NaN.

FILE may be "-" for standard input, once.`,
		Example: "  voicescreen features testdata/interview_en.wav\n" +
			"  voicescreen features --json *.wav > features.jsonl\n" +
			"  voicescreen features --frames testdata/short_en.wav > frames.csv",
		Args: command.Args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.json && o.frames:
				return command.Usagef("--json and --frames exclude each other")
			case o.frames && len(args) > 1:
				return command.Usagef("--frames takes one file")
			case o.channel < 0:
				return command.Usagef("--channel is %d, want 1 or more", o.channel)
			}
			if err := checkFiles(args); err != nil {
				return err
			}
			return runFeatures(cmd, args, o)
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON, one object a line")
	cmd.Flags().BoolVar(&o.frames, "frames", false, "print the tracks of one file as CSV")
	cmd.Flags().IntVar(&o.channel, "channel", 0, "the channel to take of a recording with several, from 1 on")
	command.FileArgs(cmd, "wav")
	return cmd
}

// measured is what became of one file: what to print, or an error.
type measured struct {
	out      []byte
	warnings []string
	err      error
}

func runFeatures(cmd *cobra.Command, files []string, o featuresOptions) error {
	write := writeFeatures
	switch {
	case o.json:
		write = writeFeaturesJSON
	case o.frames:
		write = writeFrames
	}
	newWork := func() func(i int) measured {
		m := features.NewMeasurer()
		return func(i int) measured {
			c, err := command.ReadFile(cmd.Context(), files[i], cmd.InOrStdin(), o.channel)
			if err != nil {
				return measured{err: command.HelpChannel(err, true)}
			}
			var buf bytes.Buffer
			err = write(&buf, files[i], m.Measure(c))
			return measured{buf.Bytes(), command.Warnings(c), err}
		}
	}
	return printEach(cmd, files, "measuring", newWork)
}

// printEach does the work on every file and prints the results in order. The
// files that go wrong are reported, and the others printed all the same.
func printEach(cmd *cobra.Command, files []string, what string, newWork func() func(i int) measured) error {
	bar := command.NewProgress(cmd.ErrOrStderr(), len(files), what)
	defer bar.Finish()
	failed := false
	err := command.InOrder(cmd.Context(), len(files), newWork, func(i int, m measured) error {
		bar.Hide()
		for _, w := range m.warnings {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: warning: %s: %s\n", cmd.Root().Name(), files[i], w)
		}
		if m.err != nil {
			failed = true
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s: %s\n", cmd.Root().Name(), files[i], command.Plain(m.err))
		}
		_, err := cmd.OutOrStdout().Write(m.out)
		bar.Step()
		return err
	})
	if err == nil && failed {
		return command.ErrReported
	}
	return err
}

func writeFeatures(w io.Writer, file string, in *features.Recording) error {
	fmt.Fprintf(w, "%s\n", file)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, v := range in.Features.Values {
		name, unit := in.Features.Schema.Feature(i)
		fmt.Fprintf(tw, "  %s\t%s\t%s\n", name, command.Text(v, "%.5g"), unit)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

// featuresJSON is one line of "features --json".
type featuresJSON struct {
	File     string                  `json:"file"`
	Features map[string]stats.Number `json:"features"`
	Units    map[string]string       `json:"units"`
}

func writeFeaturesJSON(w io.Writer, file string, in *features.Recording) error {
	f := featuresJSON{file, featureNumbers(in.Features), map[string]string{}}
	for i := range in.Features.Values {
		name, unit := in.Features.Schema.Feature(i)
		f.Units[name] = unit
	}
	return json.NewEncoder(w).Encode(&f)
}

func featureNumbers(v features.Vector) map[string]stats.Number {
	m := make(map[string]stats.Number, len(v.Values))
	for i, x := range v.Values {
		name, _ := v.Schema.Feature(i)
		m[name] = stats.Number(x)
	}
	return m
}
