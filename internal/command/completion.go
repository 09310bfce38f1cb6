package command

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Values lets shells complete the value of a flag with one of values, and each value
// of a list with commas. A value that ends in = is completed further by hand.
func Values(cmd *cobra.Command, flag string, values ...string) {
	list := cmd.Flag(flag).Value.Type() == "stringSlice"
	directive := cobra.ShellCompDirectiveNoFileComp
	if list || slices.ContainsFunc(values, func(v string) bool { return strings.HasSuffix(v, "=") }) {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	complete(cmd, flag, func(_ *cobra.Command, _ []string, begun string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
		before := ""
		if list {
			before = begun[:strings.LastIndexByte(begun, ',')+1]
		}
		for _, v := range values {
			if strings.HasPrefix(before+v, begun) {
				found = append(found, before+v)
			}
		}
		return found, directive
	})
}

// NoValues lets shells offer no files as the value of a flag: it is a name or a
// number.
func NoValues(cmd *cobra.Command, flags ...string) {
	for _, f := range flags {
		complete(cmd, f, cobra.NoFileCompletions)
	}
}

// Folders lets shells complete the value of a flag with folders.
func Folders(cmd *cobra.Command, flag string) {
	if err := cmd.MarkFlagDirname(flag); err != nil {
		panic(err) // there is no such flag
	}
}

// FileArgs lets shells complete the arguments of a command with files of the
// extensions.
func FileArgs(cmd *cobra.Command, extensions ...string) {
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}

func complete(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // there is no such flag, or it has one already
	}
}

// completeNumbers lets shells offer no files for the flags of cmd and the commands
// below it whose values are not texts.
func completeNumbers(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, ok := cmd.GetFlagCompletionFunc(f.Name); !ok && f.Value.Type() != "string" && f.Value.Type() != "stringArray" {
			complete(cmd, f.Name, cobra.NoFileCompletions)
		}
	})
	for _, c := range cmd.Commands() {
		completeNumbers(c)
	}
}
