package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/dsp/wav"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/features/egemaps"
	"github.com/voicescreen/voicescreen/internal/command"
)

// direct measures a file without the command line.
func direct(t *testing.T, path string) *features.Recording {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, err := wav.Decode(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	x := a.Samples
	if a.SampleRate != dsp.SampleRate {
		x = dsp.NewResampler(a.SampleRate, dsp.SampleRate).Resample(nil, x)
	}
	in := &features.Recording{Analysis: dsp.NewAnalyzer().Analyze(x)}
	in.Features = features.Extract(in.Analysis)
	return in
}

func TestFeaturesJSON(t *testing.T) {
	for _, path := range []string{short, voice16k} {
		var got map[string]json.RawMessage
		if err := json.Unmarshal([]byte(ok(t, "features", "--json", path).stdout), &got); err != nil {
			t.Fatal(err)
		}
		if len(got) != 3 {
			t.Errorf("got %d members, want file, features and units", len(got))
		}
		var file string
		var features map[string]*float64
		var units map[string]string
		for name, v := range map[string]any{"file": &file, "features": &features, "units": &units} {
			if err := json.Unmarshal(got[name], v); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if file != path {
			t.Errorf("got file %q, want %q", file, path)
		}
		want := direct(t, path).Features
		if len(features) != want.Schema.Len() || len(units) != want.Schema.Len() {
			t.Errorf("got %d features and %d units, want %d", len(features), len(units), want.Schema.Len())
		}
		for i, v := range want.Values {
			name, unit := want.Schema.Feature(i)
			if got, ok := units[name]; !ok || got != unit {
				t.Errorf("unit of %s: got %q, want %q", name, got, unit)
			}
			got, ok := features[name]
			switch {
			case !ok:
				t.Errorf("%s is missing", name)
			case math.IsNaN(v) != (got == nil):
				t.Errorf("%s: got %v, want null exactly if undefined: %v", name, got, v)
			case got != nil && *got != v:
				t.Errorf("%s: got %v, want %v", name, *got, v)
			}
		}
	}
}

func TestFeaturesOfSeveralFilesKeepTheirOrder(t *testing.T) {
	files := []string{short, voice16k, writeTone(t, 1, 8000, 1, 200, 0.5), short, voice16k}
	o := ok(t, append([]string{"features", "--json"}, files...)...)
	lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
	if len(lines) != len(files) {
		t.Fatalf("got %d lines, want %d", len(lines), len(files))
	}
	for i, line := range lines {
		var f featuresJSON
		if err := json.Unmarshal([]byte(line), &struct {
			File *string `json:"file"`
		}{&f.File}); err != nil {
			t.Fatal(err)
		}
		if f.File != files[i] {
			t.Errorf("line %d: got %s, want %s", i, f.File, files[i])
		}
	}
	if lines[0] != lines[3] {
		t.Error("the same file gives different features")
	}
}

func TestFrames(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(ok(t, "features", "--frames", short).stdout)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(rows[0][:4], ","), "time_s,f0_hz,voiced,level_dbfs"; got != want {
		t.Fatalf("got columns %s, want %s", got, want)
	}
	a := direct(t, short).Analysis
	if len(rows)-1 != len(a.F0) {
		t.Fatalf("got %d frames, want %d", len(rows)-1, len(a.F0))
	}
	voiced := 0
	for i, row := range rows[1:] {
		values := make([]float64, len(row))
		for c, cell := range row {
			if values[c], err = strconv.ParseFloat(cell, 64); err != nil {
				t.Fatalf("row %d, column %s: %v", i, rows[0][c], err)
			}
		}
		near := func(c int, want float64) {
			const digits = 0.0051 // half of the last of two digits, and rounding
			if got := values[c]; !(math.Abs(got-want) <= digits || got == want) {
				t.Fatalf("row %d, %s: got %v, want %v", i, rows[0][c], got, want)
			}
		}
		near(0, float64(i)*dsp.Hop)
		near(1, a.F0[i])
		near(3, a.Level[i])
		if (values[2] == 1) != (a.F0[i] > 0) || values[2] != 0 && values[2] != 1 {
			t.Fatalf("row %d: voiced is %v and f0 %v", i, values[2], a.F0[i])
		}
		voiced += int(values[2])
	}
	if voiced == 0 {
		t.Error("no frame of the speech is voiced")
	}
}

// The tone of each channel is found in it, at any rate.
func TestFeaturesOfOneChannel(t *testing.T) {
	stereo := writeTone(t, 1, 16000, 2, 150, 0.5)
	for channel, want := range map[string]float64{"1": 150, "2": 300} {
		rows, err := csv.NewReader(strings.NewReader(ok(t, "features", "--frames", "--channel", channel, stereo).stdout)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		got, err := strconv.ParseFloat(rows[50][1], 64)
		const cents = 0.01 // of the frequency: a pure tone is found far better than within 17 cents
		if err != nil || math.Abs(got-want) > cents*want {
			t.Errorf("channel %s: got %v Hz, %v, want %v", channel, got, err, want)
		}
	}
	for _, args := range [][]string{{stereo}, {"--channel", "3", stereo}} {
		o := cli(t, append([]string{"features"}, args...)...)
		if o.code != command.ExitError || !strings.Contains(o.stderr, "channel") || o.stdout != "" {
			t.Errorf("%v: got %+v, want an error about the channel", args, o)
		}
	}
}

// An error about channels or another format says what helps.
func TestErrorsNameWhatHelps(t *testing.T) {
	stereo := writeTone(t, 1, 16000, 2, 150, 0.5)
	m4a := filepath.Join(t.TempDir(), "talk.wav") // as somebody renamed it
	write(t, m4a, []byte("\x00\x00\x00\x20ftypM4A and the rest of a song"))
	mp3 := filepath.Join(t.TempDir(), "song.wav")
	write(t, mp3, []byte("ID3\x04\x00 and the rest of a song"))
	for _, command := range []string{"analyze", "features"} {
		for _, c := range []struct{ args, want string }{
			{stereo, "recording has 2 channels, want 1; choose one from 1 to 2 with --channel\n"},
			{"--channel 3 " + stereo, "channel 3 of a recording with 2; choose one from 1 to 2 with --channel\n"},
			{"--channel 2 " + short, "channel 2 of a recording with 1; leave out --channel\n"},
			{m4a, "MP4 file, of which AAC is not read; convert it with \"ffmpeg -i in.m4a -ac 1 -ar 44100 out.wav\"\n"},
			{mp3, "MP3: file ends in the ID3 tag\n"},
		} {
			o := cli(t, append([]string{command}, strings.Fields(c.args)...)...)
			if o.code != 1 || !strings.HasSuffix(o.stderr, c.want) {
				t.Errorf("%s %s: got code %d, %q, want %q", command, c.args, o.code, o.stderr, c.want)
			}
		}
	}
}

// Bad files are named with what is wrong, and the good ones printed.
func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	good, err := os.ReadFile(short)
	if err != nil {
		t.Fatal(err)
	}
	mulaw := bytes.Clone(good)
	mulaw[20] = 7
	for name, want := range map[string]struct {
		bytes []byte
		says  string
	}{
		"empty.wav":    {nil, "empty"},
		"text.wav":     {[]byte("this is no sound file at all"), "RIFF"},
		"header.wav":   {good[:30], "ends"},
		"mulaw.wav":    {mulaw, "µ-law"},
		"flac.wav":     {append([]byte("fLaC"), good[4:]...), "FLAC"},
		"nosample.wav": {good[:44], "no samples"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, want.bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		o := cli(t, "features", "--json", path, short)
		if o.code != command.ExitError || !strings.Contains(o.stderr, path) || !strings.Contains(o.stderr, want.says) {
			t.Errorf("%s: got code %d, %q, want an error that says %q", name, o.code, o.stderr, want.says)
		}
		if !strings.Contains(o.stdout, short) || strings.Count(o.stdout, "\n") != 1 {
			t.Errorf("%s: the other file is not printed", name)
		}
	}
	for path, says := range map[string]string{filepath.Join(dir, "none.wav"): "no such file", t.TempDir(): "the folder has no recording"} {
		if o := cli(t, "features", path); o.code != command.ExitError || !strings.Contains(o.stderr, path+": "+says) {
			t.Errorf("%s: got %+v, want %q", path, o, says)
		}
	}
}

func TestTruncatedFileIsMeasuredWithAWarning(t *testing.T) {
	good, err := os.ReadFile(short)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cut.wav")
	if err := os.WriteFile(path, good[:len(good)/2+1], 0o600); err != nil {
		t.Fatal(err)
	}
	if o := ok(t, "features", "--json", path); !strings.Contains(o.stderr, "cut short") || o.stdout == "" {
		t.Errorf("got %+v, want features and a warning", o)
	}
}

func TestFeaturesFromStandardInput(t *testing.T) {
	file, err := os.ReadFile(short)
	if err != nil {
		t.Fatal(err)
	}
	o := cliStdin(t, string(file), "features", "--json", "-")
	want := strings.Replace(ok(t, "features", "--json", short).stdout, short, "-", 1)
	if o.code != 0 || o.stdout != want {
		t.Errorf("got %+v, want what the file gives", o)
	}
}

// --set egemaps prints the 88 published names in each form, also of folders and of files
// that cannot be read.
func TestFeaturesOfAnotherSet(t *testing.T) {
	c, err := command.ReadFile(t.Context(), short, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := egemaps.NewMeasurer().Measure(features.NewMeasurer().Measure(c))

	var got featuresJSON
	if err := json.Unmarshal([]byte(ok(t, "features", "--set", "egemaps", "--json", short).stdout), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Features) != 88 || len(got.Units) != 88 {
		t.Errorf("got %d features and %d units, want 88", len(got.Features), len(got.Units))
	}
	for i, v := range want.Values {
		name, unit := want.Schema.Feature(i)
		if g, ok := got.Features[name]; !ok || float64(g) != v && !math.IsNaN(v) || got.Units[name] != unit {
			t.Errorf("%s: got %v %q, %v, want %v %q", name, g, got.Units[name], ok, v, unit)
		}
	}
	if o := ok(t, "features", "--set", "egemaps", short); !strings.Contains(o.stdout, "F0semitoneFrom27.5Hz_sma3nz_amean") || strings.Contains(o.stdout, "f0.mean_hz") {
		t.Errorf("got %s, want features of the set alone", o.stdout)
	}

	dir := t.TempDir()
	for _, name := range []string{"a.wav", "b.wav"} {
		b, err := os.ReadFile(short)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), b)
	}
	write(t, filepath.Join(dir, "c.wav"), []byte("no recording"))
	o := cli(t, "features", "--set", "egemaps", "--csv", dir)
	rows, err := csv.NewReader(strings.NewReader(o.stdout)).ReadAll()
	if err != nil || len(rows) != 4 || o.code != command.ExitError {
		t.Fatalf("got %d rows, %v, code %d, want a header, three rows and an error", len(rows), err, o.code)
	}
	for i, row := range rows {
		if len(row) != 2+88 {
			t.Errorf("row %d: got %d columns, want 90", i, len(row))
		}
	}
	if rows[0][2] != "F0semitoneFrom27.5Hz_sma3nz_amean" || rows[1][2] == "" || rows[1][2] != rows[2][2] || rows[3][1] == "" || rows[3][2] != "" {
		t.Errorf("got rows %.3q, want equal values of equal files and an error for the third", rows)
	}
}

func TestFeatureSetIsChecked(t *testing.T) {
	for args, want := range map[string]string{
		"--set compare":          `--set is "compare", want voice or egemaps`,
		"--set egemaps --frames": "--frames prints no features",
	} {
		o := cli(t, append(append([]string{"features"}, strings.Fields(args)...), short)...)
		if o.code != command.ExitUsage || !strings.Contains(o.stderr, want) || o.stdout != "" {
			t.Errorf("%s: got code %d, %q, want %q", args, o.code, o.stderr, want)
		}
	}
}
