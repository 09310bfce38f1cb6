package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/features/egemaps"
	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/internal/stats"
)

// featuresOptions are the flags of "features".
type featuresOptions struct {
	json    bool
	csv     bool
	frames  bool
	channel int
	most    time.Duration
	set     featureSet
}

func newFeatures() *cobra.Command {
	var o featuresOptions
	var set string
	cmd := &cobra.Command{
		Use:   "features [--set NAME] [--json | --csv | --frames] FILE…",
		Short: "Print what is measured in recordings",
		Long: `Print the features of schema voice/1 of each recording, with their units.

With --json each file gives one line, a JSON object
{"file":…,"features":{name: value or null,…},"units":{name: unit,…}}.
With --csv each file gives one row: file, error (why it could not be read), and a
column for each feature, under its name. "voicescreen features FILE" shows the units.
With --frames the tracks of one file are printed as CSV, one frame every 10 ms:
time_s is the centre of the frame, f0_hz is 0 where it is not voiced, voiced and
speech are 1 or 0, level_dbfs is -Inf in digital silence, and a measure that is
undefined is NaN.
With --set egemaps the features are the 88 of the extended Geneva minimalistic
acoustic parameter set (Eyben et al. 2016) under the names of eGeMAPSv02, in all
forms but --frames.

FILE may be "-" for standard input, once.

` + foldersHelp + "\n\n" + csvHelp,
		Example: "  voicescreen features testdata/interview_en.wav\n" +
			"  voicescreen features --json *.wav > features.jsonl\n" +
			"  voicescreen features --csv recordings/ > features.csv\n" +
			"  voicescreen features --set egemaps --csv recordings/ > egemaps.csv\n" +
			"  voicescreen features --frames testdata/short_en.wav > frames.csv",
		Args: command.Args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(set, args); err != nil {
				return err
			}
			files, err := findSources(cmd, args)
			if err != nil {
				return err
			}
			collectOften()
			return runFeatures(cmd, files, o)
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON, one object a line")
	cmd.Flags().BoolVar(&o.csv, "csv", false, "print CSV, one row a file")
	cmd.Flags().BoolVar(&o.frames, "frames", false, "print the tracks of one file as CSV")
	cmd.Flags().IntVar(&o.channel, "channel", 0, "the channel to take of a recording with several, from 1 on")
	maxDuration(cmd, &o.most)
	cmd.Flags().StringVar(&set, "set", "voice", "the `name` of the features: voice (schema voice/1) or egemaps")
	command.Values(cmd, "set", "voice", "egemaps")
	command.FileArgs(cmd, recordingEndings()...)
	return cmd
}

// check chooses the set of that name, and says what is wrong with the flags.
func (o *featuresOptions) check(set string, args []string) error {
	var ok bool
	o.set, ok = featureSets[set]
	switch {
	case !ok:
		return command.Usagef("--set is %q, want voice or egemaps", set)
	case o.frames && set != "voice":
		return command.Usagef("--frames prints no features, --set %s has none to choose", set)
	case o.json && o.frames, o.json && o.csv, o.csv && o.frames:
		return command.Usagef("--json, --csv and --frames exclude each other")
	case o.frames && (len(args) > 1 || isFolder(args[0])):
		return command.Usagef("--frames takes one file")
	case o.channel < 0:
		return command.Usagef("--channel is %d, want 1 or more", o.channel)
	case o.most <= 0:
		return command.Usagef("--max-duration is %v, want more than 0", o.most)
	}
	return nil
}

// A featureSet is what "features" can print of a recording.
type featureSet struct {
	schema *features.Schema
	new    func() func(*features.Recording) features.Vector // measures, with memory of its own
}

// featureSets are the values of --set.
var featureSets = map[string]featureSet{
	"voice": {features.VoiceSchema(), func() func(*features.Recording) features.Vector {
		return func(in *features.Recording) features.Vector { return in.Features }
	}},
	"egemaps": {egemaps.Schema(), func() func(*features.Recording) features.Vector {
		return egemaps.NewMeasurer().Measure
	}},
}

func runFeatures(cmd *cobra.Command, files []source, o featuresOptions) error {
	write := writeFeatures
	switch {
	case o.json:
		write = writeFeaturesJSON
	case o.csv:
		write = writeFeaturesCSV
	case o.frames:
		write = writeFrames
	}
	header := setHeader(o.set.schema)
	newWork := func() func(i int) measured {
		m, measure := features.NewMeasurer(), o.set.new()
		write := func(w io.Writer, file string, in *features.Recording) error {
			in.Features = measure(in)
			return write(w, file, in)
		}
		return func(i int) measured {
			var buf bytes.Buffer
			if o.csv && i == 0 {
				if err := header.write(&buf); err != nil {
					return measured{err: err}
				}
			}
			warnings, err := measureFile(cmd, m, &buf, files[i], &o, write)
			if err != nil && o.csv {
				err = errors.Join(err, failedRow(&buf, files[i].path, err, len(header)))
			}
			return measured{buf.Bytes(), warnings, err}
		}
	}
	return printEach(cmd, files, "measuring", newWork)
}

// collectOften lets the garbage collector keep the heap within a tenth of what is in use,
// from 16 MB on, unless GOGC says otherwise. An analysis leaves little garbage: 60 minutes
// take an eighth less memory. Below 16 MB the collector does not run: at a tenth more it
// took a twentieth of the time of a recording of a minute.
func collectOften() {
	if os.Getenv("GOGC") != "" {
		return
	}
	const least, percent = 400, 10 // of 4 MB, the least heap at 100 %
	debug.SetGCPercent(least)
	runtime.SetFinalizer(&firstCollection{}, func(*firstCollection) { debug.SetGCPercent(percent) })
}

// A firstCollection is garbage, so that its finalizer runs after the first collection.
// It has a size, because objects without one share an address.
type firstCollection struct{ _ [16]byte }

// maxDuration adds the flag --max-duration.
func maxDuration(cmd *cobra.Command, d *time.Duration) {
	*d = features.MaxDuration
	command.DurationVar(cmd, d, "max-duration", "how much of a recording to read, from its beginning")
}

// measureFile measures one file and writes the features.
func measureFile(cmd *cobra.Command, m *features.Measurer, w io.Writer, file source, o *featuresOptions, write func(io.Writer, string, *features.Recording) error) ([]string, error) {
	if file.err != nil {
		return nil, file.err
	}
	src, err := command.OpenSource(cmd.Context(), file.path, cmd.InOrStdin(), o.channel, o.most)
	if err != nil {
		return nil, command.HelpChannel(err, true)
	}
	defer src.Close() // was only read
	var in *features.Recording
	if o.frames || o.set.schema != features.VoiceSchema() { // all tracks, in memory
		c, err := src.Channel()
		if err != nil {
			return nil, err
		}
		in = m.Measure(c)
	} else if in, err = m.MeasureSource(src); err != nil {
		return nil, err
	}
	return command.NotWhole(src.Truncated(), src.Partial(), src.Seconds()), write(w, file.path, in)
}

func writeFeatures(w io.Writer, file string, in *features.Recording) error {
	fmt.Fprintf(w, "%s\n", command.Printable(file))
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

// featuresHeader returns the columns of "features --csv" of schema voice/1.
func featuresHeader() csvRow { return setHeader(features.VoiceSchema()) }

// setHeader returns the columns of "features --csv" of a schema.
func setHeader(schema *features.Schema) csvRow {
	head := csvRow{"file", "error"}
	for i := range schema.Len() {
		name, _ := schema.Feature(i)
		head = append(head, name)
	}
	return head
}

func writeFeaturesCSV(w io.Writer, file string, in *features.Recording) error {
	var row csvRow
	row.text(file)
	row.empty(1)
	for _, v := range in.Features.Values {
		row.number(v)
	}
	return row.write(w)
}

// failedRow writes the row of a file that could not be read, of so many columns, the
// first two of which are file and error.
func failedRow(w io.Writer, file string, err error, columns int) error {
	var row csvRow
	row.text(file)
	row.text(command.Plain(err))
	row.empty(columns - len(row))
	return row.write(w)
}

func featureNumbers(v features.Vector) map[string]stats.Number {
	m := make(map[string]stats.Number, len(v.Values))
	for i, x := range v.Values {
		name, _ := v.Schema.Feature(i)
		m[name] = stats.Number(x)
	}
	return m
}
