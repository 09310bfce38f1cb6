package main

import (
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
