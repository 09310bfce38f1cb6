package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/screen"
)

// scorerHelper as the first argument makes the test binary a program that scores.
const scorerHelper = "scorer-helper"

// helpToScore is that program. It answers probability to every recording; without one
// it writes a text about the person and ends.
func helpToScore(probability string) {
	frame := func(text string) {
		os.Stdout.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...))
	}
	read := func() []byte {
		var head [4]byte
		if _, err := io.ReadFull(os.Stdin, head[:]); err != nil {
			os.Exit(0)
		}
		data := make([]byte, binary.LittleEndian.Uint32(head[:]))
		if _, err := io.ReadFull(os.Stdin, data); err != nil {
			os.Exit(1)
		}
		return data
	}
	frame(fmt.Sprintf(`{"protocol":"voicescreen-scorer/1","name":"helper","version":"%d","categories":["deepfake"]}`, len(os.Environ())))
	for {
		var q struct {
			ID       uint64          `json:"id"`
			Metadata screen.Metadata `json:"metadata"`
		}
		if err := json.Unmarshal(read(), &q); err != nil {
			os.Exit(2)
		}
		read()
		if probability == "" {
			fmt.Fprintf(os.Stderr, "no score for a patient, %v", q.Metadata.Gender)
			os.Exit(3)
		}
		frame(fmt.Sprintf(`{"id":%d,"scores":[{"category":"deepfake","probability":%s}]}`, q.ID, probability))
	}
}

// scoringCommand is a value of --scorer-command.
func scoringCommand(t testing.TB, probability string) string {
	t.Helper()
	me, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`"%s" %s '%s'`, me, scorerHelper, probability)
}

// TestAnalyzeWithAScorerCommand replaces the shipped deepfake model by a program.
func TestAnalyzeWithAScorerCommand(t *testing.T) {
	t.Setenv("SCORER_TEST", "1")
	score := func(args ...string) screen.Score {
		for _, s := range parseLines(t, ok(t, append([]string{"analyze", "--json", short}, args...)...).stdout)[0].Scores {
			if s.Category == screen.Deepfake {
				return s
			}
		}
		return screen.Score{}
	}
	run := scoringCommand(t, "0.875")
	if s := score("--scorer-command", run); s.Model != "helper" || s.Version != "0" || s.Probability != 0.875 || s.Decision != screen.Positive || s.Coverage != 1 {
		t.Errorf("got %+v, want the score of the program, without an environment", s)
	}
	if s := score("--scorer-command", run, "--scorer-env", "SCORER_TEST", "--scorer-dir", t.TempDir(), "--scorer-timeout", "1m"); s.Version != "1" {
		t.Errorf("got %s variables in the environment, want 1", s.Version)
	}
	if s := score("--scorer-command", run, "--model-share", "undecided"); s.Model == "helper" {
		t.Errorf("got %+v, want the score of the shipped model, which is not in doubt", s)
	}
}

// TestScorerCommandFaults are errors that name the command and the fault.
func TestScorerCommandFaults(t *testing.T) {
	for _, c := range []struct {
		probability string
		want        string
	}{
		{"2", "out of range"},
		{"NaN", "NaN"},
		{"", "exit status 3; it wrote: no score for a patient, Female"},
	} {
		o := cli(t, "analyze", "--gender", "Female", "--scorer-command", scoringCommand(t, c.probability), short)
		if o.code != command.ExitError || !strings.Contains(o.stderr, c.want) || !strings.Contains(o.stderr, scorerHelper) {
			t.Errorf("%q: got %d, %q, want %q and the command", c.probability, o.code, o.stderr, c.want)
		}
	}
	for args, want := range map[string]string{
		"--scorer-command=/does/not/exist":                          "no such file",
		"--scorer-command=":                                         "",
		"--scorer-command= ":                                        "names no program",
		"--scorer-command='a":                                       "quotation mark",
		"--scorer-dir=/":                                            "for --scorer-command",
		"--scorer-command=a --scorer-timeout=0s":                    "more than 0",
		"--scorer-command=a --scorer-env=SCORER_TEST_THAT_IS_UNSET": "that is set",
	} {
		o := cli(t, append(append([]string{"analyze"}, splitFlags(args)...), short)...)
		if (o.code == 0) != (want == "") || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: got %d, %q, want %q", args, o.code, o.stderr, want)
		}
	}
}

// splitFlags splits at the spaces before flags.
func splitFlags(line string) []string {
	parts := strings.Split(line, " --")
	for i := range parts[1:] {
		parts[i+1] = "--" + parts[i+1]
	}
	return parts
}
