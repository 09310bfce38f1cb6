package command_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/internal/command"
)

func TestCompletion(t *testing.T) {
	newRoot := func() *cobra.Command {
		cmd := &cobra.Command{Use: "work", RunE: func(*cobra.Command, []string) error { return nil }}
		cmd.Flags().String("kind", "", "")
		cmd.Flags().StringSlice("scopes", nil, "")
		cmd.Flags().StringArray("rate", nil, "")
		cmd.Flags().String("name", "", "")
		cmd.Flags().String("dir", "", "")
		cmd.Flags().String("file", "", "")
		cmd.Flags().Int("number", 0, "")
		command.Values(cmd, "kind", "red", "green", "greenish")
		command.Values(cmd, "scopes", "read", "write")
		command.Values(cmd, "rate", "depression=", "anxiety=")
		command.NoValues(cmd, "name")
		command.Folders(cmd, "dir")
		command.FileArgs(cmd, "wav")
		root := command.Group(&cobra.Command{Use: "tool"})
		root.AddCommand(cmd)
		return root
	}
	const none, noFiles, extensions, folders = "0", "4", "8", "16"
	for _, c := range []struct{ line, want, directive string }{
		{"--kind|", "red green greenish", noFiles},
		{"--kind|gr", "green greenish", noFiles},
		{"--kind=gr", "green greenish", noFiles},
		{"--kind|x", "", noFiles},
		{"--scopes|read,w", "read,write", "6"}, // no files, no space: another may follow
		{"--rate|", "depression= anxiety=", "6"},
		{"--name|", "", noFiles},
		{"--number|", "", noFiles},
		{"--dir|", "", folders},
		{"--file|", "", none},
		{"", "wav", extensions},
	} {
		var out, errs bytes.Buffer
		args := append([]string{"__complete", "work"}, strings.Split(c.line, "|")...)
		if code := command.Run(t.Context(), newRoot(), args, strings.NewReader(""), &out, &errs); code != 0 {
			t.Fatalf("%s: got code %d, %s", c.line, code, &errs)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		last := len(lines) - 1
		if got := strings.Join(lines[:last], " "); got != c.want || lines[last] != ":"+c.directive {
			t.Errorf("%s: got %q, want %q and directive %s", c.line, lines, c.want, c.directive)
		}
	}
}
