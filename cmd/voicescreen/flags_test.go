package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// everyFlag calls visit with each flag of each command.
func everyFlag(visit func(cmd *cobra.Command, f *pflag.Flag)) {
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { visit(cmd, f) })
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(newRoot())
}

func TestDurationsTakeDays(t *testing.T) {
	n := 0
	everyFlag(func(cmd *cobra.Command, f *pflag.Flag) {
		if f.Value.Type() != "duration" {
			return
		}
		n++
		if err := f.Value.Set("30d"); err != nil {
			t.Errorf("%s --%s 30d: got %v, want no error: use command.DurationVar", cmd.CommandPath(), f.Name, err)
		}
	})
	if n == 0 {
		t.Error("no command has a duration")
	}
}

// A flag whose help lists its values completes them.
func TestValuesAreCompleted(t *testing.T) {
	for line, want := range map[string]string{
		"analyze --gender Tr":        "Transgender Female",
		"analyze --base-rate ":       "anxiety=",
		"serve --log ":               "json",
		"serve --log-level ":         "debug",
		"keys create --scopes read,": "read,admin",
		"calibrate --task ":          "anxiety",
		"completion ":                "bash",
		"help key":                   "keys",
		"serve --backup ":            ":16", // folders
		"analyze ":                   "wav",
	} {
		args := append([]string{"__complete"}, strings.Split(line, " ")...)
		if o := ok(t, args...); !strings.Contains(o.stdout, want) {
			t.Errorf("%s: got %q, want %q in it", line, o.stdout, want)
		}
	}
}
