package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// scorerHelper as the first argument makes the test binary a program that scores.
const scorerHelper = "scorer-helper"

// helpToScore is that program. It gives each recording a probability that its number of
// samples decides.
func helpToScore() {
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
	frame(`{"protocol":"voicescreen-scorer/1","name":"helper","version":"7","categories":["deepfake"]}`)
	for {
		var q struct {
			ID uint64 `json:"id"`
		}
		if err := json.Unmarshal(read(), &q); err != nil {
			os.Exit(2)
		}
		frame(fmt.Sprintf(`{"id":%d,"scores":[{"category":"deepfake","probability":%v}]}`, q.ID, float64(len(read())%1000)/1000))
	}
}

// TestEvaluateAScorerCommand measures a program, alone and in a cascade.
func TestEvaluateAScorerCommand(t *testing.T) {
	me, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := fmt.Sprintf(`"%s" %s`, me, scorerHelper)
	list := labelled(t, 4, "bonafide", "spoof")
	args := []string{"evaluate", "--task", "deepfake", "--manifest", list, "--scorer-command", run}
	o := ok(t, append(args, "--against", "shipped")...)
	if !strings.Contains(o.stdout, "helper 7") || !strings.Contains(o.stdout, "EER  ") {
		t.Errorf("got %+v, want figures of the program", o)
	}
	o = ok(t, append(args, "--model-share", "0.95")...)
	for _, want := range []string{"+helper", "EER  ", " of 4 recordings went to the model", "in the shipped model"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("a cascade: got %q, want %q in it", o.stdout, want)
		}
	}
	for want, args := range map[string][]string{
		"want one of them":     {"--task", "deepfake", "--scorer-command", run, "--model", "x"},
		"not for depression":   {"--task", "depression", "--scorer-command", run},
		"names no program":     {"--task", "deepfake", "--scorer-command", " "},
		"want undecided or":    {"--task", "deepfake", "--scorer-command", run, "--model-share", "2"},
		"--against: ":          {"--task", "deepfake", "--scorer-command", run, "--against", "/does/not/exist"},
		"for --scorer-command": {"--task", "deepfake", "--scorer-dir", "/"},
	} {
		if o := cli(t, append([]string{"evaluate", "--manifest", list}, args...)...); o.code == 0 || !strings.Contains(o.stderr, want) {
			t.Errorf("%v: got %+v, want %q", args, o, want)
		}
	}
}

// TestEvaluateDecidesAsTheService measures a program that leaves its decision open: the
// service then decides by one half.
func TestEvaluateDecidesAsTheService(t *testing.T) {
	me, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	speech, err := filepath.Abs(interview)
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(t.TempDir(), "manifest.csv")
	if err := os.WriteFile(list, []byte("path,label\n"+speech+",bonafide\n"+speech+",spoof\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := ok(t, "evaluate", "--task", "deepfake", "--manifest", list, "--scorer-command", fmt.Sprintf(`"%s" %s`, me, scorerHelper))
	if !regexp.MustCompile(`with the band .* 0\.0 %\n`).MatchString(o.stdout) {
		t.Errorf("got %s, want no recording undecided", o.stdout)
	}
}
