package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/command"
)

// recordingsDir makes a folder as people have them: recordings below each other, one
// that cannot be read, one in another format, hidden files, and other files.
func recordingsDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string][]byte{
		"b.WAV":             clip(read(t, short), 2.5),
		"site/c/a.wav":      read(t, voice16k),
		"site/bad.wav":      []byte("this is no sound file at all"),
		"site/a.wave":       clip(read(t, short), 2.5),
		"site/notes.txt":    []byte("canary"),
		"site/d.m4a":        []byte("x"),
		"._b.WAV":           []byte("of the file manager"),
		".trash/gone.wav":   clip(read(t, short), 2.5),
		"z/.DS_Store":       nil,
		"=HYPERLINK(1).wav": read(t, short),
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, path, content)
	}
	return dir
}

// inDir are the recordings of recordingsDir, in their order.
func inDir(dir string) []string {
	names := []string{"=HYPERLINK(1).wav", "b.WAV", "site/a.wave", "site/bad.wav", "site/c/a.wav"}
	for i := range names {
		names[i] = filepath.Join(dir, filepath.FromSlash(names[i]))
	}
	return names
}

// A folder gives what its recordings give when they are named, in the same order each
// time; what failed is listed behind everything else.
func TestFolders(t *testing.T) {
	t.Parallel()
	dir := recordingsDir(t)
	for _, args := range [][]string{{"features", "--json"}, {"features"}, {"features", "--csv"}, {"analyze", "--json"}, {"analyze", "--csv"}, {"analyze"}} {
		got := cli(t, append(args, dir)...)
		want := cli(t, append(args, inDir(dir)...)...)
		if got.stdout != want.stdout || got.stdout == "" {
			t.Errorf("%v: got\n%s\nfor the folder, want that of its files\n%s", args, got.stdout, want.stdout)
		}
		if len(args) == 1 { // the order is that of all formats
			if again := cli(t, append(args, dir)...); again != got {
				t.Errorf("%v: got another result the second time:\n%v", args, again)
			}
		}
		if got.code != command.ExitError {
			t.Errorf("%v: got code %d, want that one file failed", args, got.code)
		}
		lines := strings.Split(strings.TrimSpace(got.stderr), "\n")
		if len(lines) != 3 {
			t.Fatalf("%v: got %q, want the file in another format, how many failed, and which", args, lines)
		}
		for i, says := range [][]string{{"1 recording (.m4a)", "ffmpeg"}, {"failed: 1 of 5 files"}, {inDir(dir)[3], "RIFF"}} {
			for _, s := range says {
				if !strings.Contains(lines[i], s) {
					t.Errorf("%v: got %q, want %q in it", args, lines[i], s)
				}
			}
		}
		if strings.Contains(got.stderr+got.stdout, "canary") {
			t.Errorf("%v: the content of another file is printed", args)
		}
	}
}

// Links to files are read; links to folders are named and not followed, so that a
// link that leads back ends.
func TestFoldersWithLinks(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	write(t, in("a.wav"), read(t, short))
	for to, link := range map[string]string{in("a.wav"): "b.wav", dir: "loop", in("none"): "broken.wav"} {
		if err := os.Symlink(to, in(link)); err != nil {
			t.Fatal(err)
		}
	}
	o := cli(t, "features", "--csv", dir)
	rows := parseCSV(t, o.stdout)
	var files []string
	for _, row := range rows[1:] {
		files = append(files, row[0])
	}
	if want := []string{in("a.wav"), in("b.wav"), in("broken.wav")}; !slices.Equal(files, want) {
		t.Errorf("got %q, want %q", files, want)
	}
	for _, says := range []string{in("loop") + ": a link to a folder, which is not followed", in("broken.wav") + ": no such file"} {
		if !strings.Contains(o.stderr, says) {
			t.Errorf("got %q, want %q in it", o.stderr, says)
		}
	}
	if o.code != command.ExitError {
		t.Errorf("got code %d, want that one file failed", o.code)
	}
	if rows := parseCSV(t, cli(t, "features", "--csv", in("loop")).stdout); len(rows) != len(files)+1 {
		t.Errorf("got %d rows, want the files of the folder where the link to it is named", len(rows))
	}
}

// A folder that cannot be read fails as a file does, and the others are printed.
func TestFoldersThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	locked := filepath.Join(dir, "locked")
	write(t, filepath.Join(dir, "a.wav"), read(t, short))
	if err := os.Mkdir(locked, 0o000); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadDir(locked); err == nil {
		if err := os.Chmod(locked, 0o700); err != nil {
			t.Fatal(err)
		}
		locked = filepath.Join(dir, "empty") // the user of the test may read everything
		if err := os.Mkdir(locked, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	o := cli(t, "features", "--json", dir, locked)
	if o.code != command.ExitError || strings.Count(o.stdout, "\n") != 1 || !strings.Contains(o.stderr, locked+": ") {
		t.Errorf("got %+v, want one file and that %s failed", o, locked)
	}
}

// parseCSV parses a table, which must be as RFC 4180 has it.
func parseCSV(t *testing.T, text string) [][]string {
	t.Helper()
	if strings.Count(text, "\r\n") != strings.Count(text, "\n") || !strings.HasSuffix(text, "\r\n") {
		t.Errorf("got %.200q, want every line to end with CR LF", text)
	}
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll() // which wants as many fields as the header has
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// column returns the field of a row under a name of the header.
func column(t *testing.T, rows [][]string, row int, name string) string {
	t.Helper()
	i := slices.Index(rows[0], name)
	if i < 0 {
		t.Fatalf("there is no column %s in %q", name, rows[0])
	}
	return rows[row][i]
}

func TestFeaturesCSV(t *testing.T) {
	t.Chdir(recordingsDir(t))
	rows := parseCSV(t, cli(t, "features", "--csv", ".").stdout)
	if len(rows) != 6 || len(rows[0]) != 2+features.VoiceSchema().Len() {
		t.Fatalf("got %d rows of %d columns, want 6 of file, error and the features", len(rows), len(rows[0]))
	}
	if got := column(t, rows, 1, "file"); got != "'=HYPERLINK(1).wav" {
		t.Errorf("got the file name %q, want no formula", got)
	}
	want := direct(t, "b.WAV").Features
	for i, v := range want.Values {
		name, _ := want.Schema.Feature(i)
		var cell csvRow
		cell.number(v)
		if got := column(t, rows, 2, name); got != cell[0] {
			t.Errorf("%s: got %q, want %q", name, got, cell[0])
		}
	}
	if got := column(t, rows, 4, "error"); column(t, rows, 4, "file") != filepath.Join("site", "bad.wav") || !strings.Contains(got, "RIFF") {
		t.Errorf("got the error %q, want why the file could not be read", got)
	}
}

// The numbers of the table are those of the JSON.
func TestAnalyzeCSV(t *testing.T) {
	rows := parseCSV(t, program(t, "analyze", "--csv", interview, short).stdout)
	all := analyzed(t)
	if len(rows) != 3 || len(all) != 2 {
		t.Fatalf("got %d rows and %d objects, want a header and 2, and 2", len(rows), len(all))
	}
	for i, a := range all {
		var want csvRow
		want.number(a.Duration)
		want.number(a.Speech)
		want.number(*a.Quality["snr_db"])
		for _, s := range a.Scores {
			want.number(s.Probability)
			want.number(s.Low)
			want.number(s.High)
			want.named(s.Severity)
			want.named(s.Decision)
		}
		names := []string{"duration_s", "speech_s", "snr_db"}
		for _, s := range a.Scores {
			for _, name := range []string{"probability", "low", "high", "severity", "decision"} {
				names = append(names, s.Category.String()+"_"+name)
			}
		}
		for k, name := range names {
			if name == "deepfake_severity" {
				continue // no deepfake score has one
			}
			if got := column(t, rows, 1+i, name); got != want[k] {
				t.Errorf("file %d, %s: got %q, want %q", i, name, got, want[k])
			}
		}
	}
	for _, name := range []string{"depression", "anxiety"} {
		if code, p := column(t, rows, 2, name+"_error"), column(t, rows, 2, name+"_probability"); code != "audio_length_error" || p != "" {
			t.Errorf("short file: got error %q and probability %q of %s, want the error alone", code, p, name)
		}
	}
}

func TestNoFormula(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "",
		"patient-17":           "patient-17",
		"a=b+c@d":              "a=b+c@d",
		"=1+1":                 "'=1+1",
		"+41 7":                "'+41 7",
		"-2":                   "'-2",
		"@SUM(A1)":             "'@SUM(A1)",
		"＝1":                   "'＝1",
		"\t=1":                 "'\t'=1",
		"\r\n=1":               "'\r\n'=1",
		" =1":                  " '=1",
		"a;=cmd|' /C calc'!A0": "a;'=cmd|' /C calc'!A0",
		"a\n-1":                "a\n'-1",
		"a;\"=1":               "a;\"'=1",
		"\xff=":                "\uFFFD=",
	} {
		if got := noFormula(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	var b strings.Builder
	var row csvRow
	row.text("a\nb\rc\"d,e")
	row.number(-0.5)
	row.empty(1)
	if err := row.write(&b); err != nil || b.String() != "\"a\nb\rc\"\"d,e\",-0.5,\r\n" {
		t.Errorf("got %q and error %v, want what stands in the fields as it is", b.String(), err)
	}
}
