package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/models/shipped"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of the program and of its models",
		Example: "  voicescreen version",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			shipped, err := shipped.Scorers()
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "voicescreen %s, %s, %s/%s\n", buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			for _, s := range shipped {
				info := s.Info()
				names := make([]string, len(info.Categories))
				for i, c := range info.Categories {
					names[i] = c.String()
				}
				fmt.Fprintf(out, "model %s %s: %s\n", info.Name, info.Version, strings.Join(names, ", "))
			}
			return nil
		},
	}
}

// buildVersion is the version that the program was built from: that of the
// module, or the commit.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "of an unknown version"
	}
	version := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && (version == "" || version == "(devel)") {
			return s.Value
		}
	}
	return version
}
