package command

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/models/shipped"
)

// NewVersion returns the command "version" of a program.
func NewVersion(program string) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of the program and of its models",
		Example: "  " + program + " version",
		Args:    Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			shipped, err := shipped.Scorers()
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "%s %s\n", program, build())
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

// setVersion adds the flags --version and -v to a program. They print the first line
// of the command "version".
func setVersion(root *cobra.Command) {
	root.Version = build()
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
}

// build returns the versions of the program and of Go, and the platform.
func build() string {
	return fmt.Sprintf("%s, %s, %s/%s", BuildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// BuildVersion returns the version of the module that the program was built from, or the
// commit.
func BuildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown version"
	}
	version := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && (version == "" || version == "(devel)") {
			return s.Value
		}
	}
	return version
}
