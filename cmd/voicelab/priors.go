package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/lab/prior"
)

func newPriors() *cobra.Command {
	var dir, norms string
	cmd := &cobra.Command{
		Use:   "priors --dir DIR",
		Short: "Write the shipped depression and anxiety models",
		Long: `Make the depression and anxiety models from published effects and measured norms,
and write their files and the tables of evidence in their cards. DIR is
models/shipped of the source tree, whose cards are read from there. Equal effects,
norms and cards give equal bytes: with no change in the source tree, nothing
changes.`,
		Example: "  voicelab priors --dir models/shipped",
		Args:    command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" {
				return command.Usagef("--dir is missing, want the folder of the shipped models")
			}
			return runPriors(cmd, dir, norms)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "the folder of the shipped models (required)")
	cmd.Flags().StringVar(&norms, "norms", "", "a file that \"voicelab norms\" wrote (default the norms of the source tree)")
	command.Folders(cmd, "dir")
	return cmd
}

func runPriors(cmd *cobra.Command, dir, norms string) error {
	n, err := prior.ShippedNorms()
	if norms != "" {
		n, err = prior.ReadNorms(norms)
	}
	if err != nil {
		return err
	}
	files, err := prior.Files(dir, n)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		what := "written"
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, files[name]) {
			what = "unchanged"
		} else if err := writeFile(path, files[name]); err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", path, what)
	}
	return nil
}

// writeFile replaces the file at path.
func writeFile(path string, data []byte) error {
	out, err := command.NewOutput(path)
	if err != nil {
		return err
	}
	defer out.Discard()
	return out.Finish(func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}
