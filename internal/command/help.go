package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// unknownCommand is the error in the command line about a name that is no command
// of parent.
func unknownCommand(parent *cobra.Command, name string) error {
	hint := ""
	if near := parent.SuggestionsFor(name); len(near) > 0 {
		hint = fmt.Sprintf(", did you mean %q?", near[0])
	}
	return Usagef("there is no command %q%s", name, hint)
}

// newHelp returns the command "help" of a program. Unlike that of cobra it refuses
// the name of an unknown command.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := find(cmd.Root(), args)
			if err != nil {
				return err
			}
			found.InitDefaultHelpFlag() // so that the help lists them
			found.InitDefaultVersionFlag()
			return found.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begin string) ([]cobra.Completion, cobra.ShellCompDirective) {
			found, err := find(cmd.Root(), args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []cobra.Completion
			for _, c := range found.Commands() {
				if c.IsAvailableCommand() && strings.HasPrefix(c.Name(), begin) {
					names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// find returns the command that the names lead to from root.
func find(root *cobra.Command, names []string) (*cobra.Command, error) {
	found := root
	for _, name := range names {
		var next *cobra.Command
		for _, c := range found.Commands() {
			if c.Name() == name || c.HasAlias(name) {
				next = c
			}
		}
		if next == nil {
			return nil, unknownCommand(found, name)
		}
		found = next
	}
	return found, nil
}
