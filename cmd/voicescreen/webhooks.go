package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/httpadapter/webhook"
	"github.com/voicescreen/voicescreen/internal/command"
)

func newWebhooks() *cobra.Command {
	cmd := command.Group(&cobra.Command{
		Use:   "webhooks",
		Short: "Set, list and remove the webhooks of accounts",
		Long: `Keep the webhooks of "voicescreen serve --webhooks" in a file. An account's webhook
is an https address, which is notified when a session has its result. Requests are
signed as Standard Webhooks describes (www.standardwebhooks.com). They hold the
identifier of the session and its status; the receiver fetches the result. The file
holds the secrets of the signatures. A running server reads changes within seconds.`,
		Example: "  voicescreen webhooks set --webhooks webhooks.json --account clinic-a --url https://clinic-a.example/hook",
	})
	cmd.AddCommand(newWebhooksSet(), newWebhooksRotate(), newWebhooksList(), newWebhooksRemove())
	return cmd
}

// webhookFlags are the flags that the commands on webhooks share.
type webhookFlags struct{ file, account string }

func (w *webhookFlags) add(cmd *cobra.Command) {
	w.addFile(cmd)
	cmd.Flags().StringVar(&w.account, "account", "", "the account to notify (required)")
	command.NoValues(cmd, "account")
}

func (w *webhookFlags) addFile(cmd *cobra.Command) {
	cmd.Flags().StringVar(&w.file, "webhooks", "", "the file of the webhooks (required)")
}

func (w *webhookFlags) check(account bool) error {
	switch {
	case w.file == "":
		return command.Usagef("--webhooks is missing, want the path of the file of the webhooks")
	case account && w.account == "":
		return command.Usagef("--account is missing")
	}
	return nil
}

// open opens a file that must be there.
func (w *webhookFlags) open() (*webhook.Endpoints, error) {
	if _, err := os.Stat(w.file); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file %s; make one with \"voicescreen webhooks set --webhooks %s --account NAME --url URL\"", w.file, w.file)
	}
	return webhook.Open(w.file)
}

// printSecret prints a secret alone on standard output.
func (w *webhookFlags) printSecret(cmd *cobra.Command, secret string) error {
	fmt.Fprintf(cmd.ErrOrStderr(), "The secret of the signatures for account %s, which is not shown again:\n", w.account)
	_, err := fmt.Fprintln(cmd.OutOrStdout(), secret)
	return err
}

func newWebhooksSet() *cobra.Command {
	var (
		w   webhookFlags
		url string
	)
	cmd := &cobra.Command{
		Use:   "set --webhooks FILE --account NAME --url URL",
		Short: "Notify an account at an address, and print the secret once",
		Long: `Set the address at which an account is notified of new results, and create a
missing file. The first call prints the secret by which the receiver checks the
signatures, alone on standard output. Another address keeps the secret, and enables
a webhook that was disabled because its receiver answered 410.`,
		Example: "  voicescreen webhooks set --webhooks webhooks.json --account clinic-a --url https://clinic-a.example/hook",
		Args:    command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := w.check(true); err != nil {
				return err
			}
			if url == "" {
				return command.Usagef("--url is missing, want https://…")
			}
			endpoints, err := webhook.Open(w.file)
			if err != nil {
				return err
			}
			secret, err := endpoints.Set(w.account, url)
			if err != nil {
				return usageIfInvalid(err)
			}
			if secret == "" {
				fmt.Fprintln(cmd.ErrOrStderr(), "The address is set; the secret stays as it is.")
				return nil
			}
			return w.printSecret(cmd, secret)
		},
	}
	w.add(cmd)
	cmd.Flags().StringVar(&url, "url", "", "the address to notify, https://… (required)")
	command.NoValues(cmd, "url")
	return cmd
}

func newWebhooksRotate() *cobra.Command {
	var w webhookFlags
	keep := 24 * time.Hour
	cmd := &cobra.Command{
		Use:   "rotate --webhooks FILE --account NAME [--keep 24h]",
		Short: "Make a new secret for an account's webhook and print it, once",
		Long: `Make a new secret for the signatures. Requests are signed with the former one
too until --keep is over, so that the receiver can be changed meanwhile.`,
		Example: "  voicescreen webhooks rotate --webhooks webhooks.json --account clinic-a --keep 24h",
		Args:    command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := w.check(true); err != nil {
				return err
			}
			if keep < 0 {
				return command.Usagef("--keep is %v, want 0 or more", keep)
			}
			endpoints, err := w.open()
			if err != nil {
				return err
			}
			secret, err := endpoints.Rotate(w.account, keep)
			if err != nil {
				return err
			}
			return w.printSecret(cmd, secret)
		},
	}
	w.add(cmd)
	command.DurationVar(cmd, &keep, "keep", "how long the former secret signs too")
	return cmd
}

func newWebhooksList() *cobra.Command {
	var w webhookFlags
	cmd := &cobra.Command{
		Use:     "list --webhooks FILE",
		Short:   "List the webhooks, without their secrets",
		Example: "  voicescreen webhooks list --webhooks webhooks.json",
		Args:    command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := w.check(false); err != nil {
				return err
			}
			endpoints, err := w.open()
			if err != nil {
				return err
			}
			list, err := endpoints.List()
			if err != nil {
				return err
			}
			return printWebhooks(cmd.OutOrStdout(), list)
		},
	}
	w.addFile(cmd)
	return cmd
}

func printWebhooks(out io.Writer, list []webhook.Endpoint) error {
	tw := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "ACCOUNT\tSTATE\tSECRETS\tSET\tURL")
	for _, e := range list {
		state := "active"
		if !e.DisabledAt.IsZero() {
			state = "disabled, gone since " + e.DisabledAt.UTC().Format(time.DateTime)
		}
		fmt.Fprintf(tw, "%s\t%s\t%d\t%s\t%s\n", e.Account, state, e.Secrets, e.CreatedAt.UTC().Format(time.DateTime), e.URL)
	}
	return tw.Flush()
}

func newWebhooksRemove() *cobra.Command {
	var w webhookFlags
	cmd := &cobra.Command{
		Use:     "remove --webhooks FILE --account NAME",
		Short:   "Stop notifying an account",
		Example: "  voicescreen webhooks remove --webhooks webhooks.json --account clinic-a",
		Args:    command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := w.check(true); err != nil {
				return err
			}
			endpoints, err := w.open()
			if err != nil {
				return err
			}
			if err := endpoints.Remove(w.account); err != nil {
				return err
			}
			fmt.Fprintln(cmd.ErrOrStderr(), "The webhook is removed.")
			return nil
		},
	}
	w.add(cmd)
	return cmd
}
