package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/httpadapter/webhook"
	"github.com/voicescreen/voicescreen/internal/command"
)

func newWebhooks() *cobra.Command {
	cmd := command.Group(&cobra.Command{
		Use:   "webhooks",
		Short: "Set, test, list and remove the webhooks of accounts",
		Long: `Keep the webhooks of "voicescreen serve --webhooks" in a file. An account's webhook
is an https address, which is notified when a session has its result. Requests are
signed as Standard Webhooks describes (www.standardwebhooks.com). They hold the
identifier of the session and its status; the receiver fetches the result. The file
holds the secrets of the signatures. A running server reads changes within seconds,
and writes the delivery state into FILE.deliveries beside it. With --db postgres://… in
place of --webhooks they are in the database, and all its servers and workers use them;
encrypt it with --store-key.

Addresses must be public. For a receiver on premises, or for development, allow its
network with --webhook-allow-private, in "set", in "test" and in "serve". A receiver
with a certificate of a private authority needs that authority in the trust store of
the system, or on Linux in the file that the environment variable SSL_CERT_FILE names.`,
		Example: "  voicescreen webhooks set --webhooks webhooks.json --account clinic-a --url https://clinic-a.example/hook",
	})
	cmd.AddCommand(newWebhooksSet(), newWebhooksTest(), newWebhooksRotate(), newWebhooksList(), newWebhooksRemove())
	return cmd
}

func newWebhooksSet() *cobra.Command {
	var (
		w     webhookFlags
		allow networkFlag
		url   string
	)
	cmd := &cobra.Command{
		Use:   "set --webhooks FILE --account NAME --url URL",
		Short: "Notify an account at an address, and print the secret once",
		Long: `Set the address at which an account is notified of new results, and create a
missing file. The first call prints the secret by which the receiver checks the
signatures, alone on standard output. Another address keeps the secret, and enables
a webhook that was disabled because its receiver answered 410.

An address that is not public is refused, and so is a name that resolves to no other
address, unless --webhook-allow-private allows it. A name that is not resolved now is
set with a warning.`,
		Example: "  voicescreen webhooks set --webhooks webhooks.json --account clinic-a --url https://clinic-a.example/hook\n" +
			"  voicescreen webhooks set --webhooks webhooks.json --account clinic-b --url https://10.1.2.3/hook --webhook-allow-private 10.1.0.0/16",
		Args: command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := w.check(true); err != nil {
				return err
			}
			if url == "" {
				return command.Usagef("--url is missing, want https://…")
			}
			networks, err := allow.networks()
			if err != nil {
				return err
			}
			return setWebhook(cmd, &w, url, networks)
		},
	}
	w.add(cmd)
	allow.add(cmd)
	cmd.Flags().StringVar(&url, "url", "", "the address to notify, https://… (required)")
	command.NoValues(cmd, "url")
	return cmd
}

// resolveTime is how long "webhooks set" waits for the address of a name. Chosen:
// longer than a name server takes, and short for a person.
const resolveTime = 3 * time.Second

func setWebhook(cmd *cobra.Command, w *webhookFlags, url string, networks []netip.Prefix) error {
	ctx, cancel := context.WithTimeout(cmd.Context(), resolveTime)
	defer cancel()
	unresolved := webhook.Resolve(ctx, url, networks...)
	if unresolved != nil && !errors.Is(unresolved, webhook.ErrUnresolved) {
		return command.Usage(withAllowHint(unresolved))
	}
	_, statErr := os.Stat(w.file)
	var secret string
	err := w.use(cmd.Context(), true, func(endpoints *webhook.Endpoints) (err error) {
		secret, err = endpoints.Set(w.account, url, networks...)
		return usageIfInvalid(err)
	})
	if err != nil {
		return err
	}
	if w.db == "" && errors.Is(statErr, fs.ErrNotExist) {
		fmt.Fprintf(cmd.ErrOrStderr(), "The file %s is new.\n", w.file)
	}
	if unresolved != nil {
		fmt.Fprintln(cmd.ErrOrStderr(), "voicescreen: warning: the name of the host is not resolved now; nothing is delivered before it is")
	}
	if secret == "" {
		fmt.Fprintln(cmd.ErrOrStderr(), "The address is set; the secret stays as it is.")
		return nil
	}
	return w.printSecret(cmd, secret)
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
			return w.use(cmd.Context(), false, func(endpoints *webhook.Endpoints) error {
				secret, err := endpoints.Rotate(w.account, keep)
				if err != nil {
					return err
				}
				return w.printSecret(cmd, secret)
			})
		},
	}
	w.add(cmd)
	command.DurationVar(cmd, &keep, "keep", "how long the former secret signs too")
	return cmd
}

func newWebhooksList() *cobra.Command {
	var w webhookFlags
	cmd := &cobra.Command{
		Use:   "list --webhooks FILE",
		Short: "List the webhooks and their delivery state, without their secrets",
		Long: `List the webhooks with the time of the last notice that was delivered, the time of
the last attempt that failed and why, and how many notices wait. They are those since
the address was set. A running server writes them every two seconds; the state is
"failing" while the last attempt is one that failed.`,
		Example: "  voicescreen webhooks list --webhooks webhooks.json",
		Args:    command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := w.check(false); err != nil {
				return err
			}
			return w.use(cmd.Context(), false, func(endpoints *webhook.Endpoints) error {
				warnReadable(cmd.ErrOrStderr(), w.file)
				list, err := endpoints.List()
				if err != nil {
					return err
				}
				deliveries, err := endpoints.Deliveries()
				return errors.Join(err, printWebhooks(cmd.OutOrStdout(), list, deliveries))
			})
		},
	}
	w.addFile(cmd)
	return cmd
}

// printWebhooks prints a table. Deliveries are in the order of list, or absent.
func printWebhooks(out io.Writer, list []webhook.Endpoint, deliveries []webhook.Delivery) error {
	tw := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "ACCOUNT\tSTATE\tSECRETS\tSET\tDELIVERED\tWAITING\tURL\tFAILED")
	for i, e := range list {
		state, delivered, waiting, failed := "active", "?", "?", "?"
		if len(deliveries) == len(list) {
			d := deliveries[i]
			delivered, waiting, failed = moment(d.DeliveredAt), "-", moment(d.FailedAt)
			if !d.CountedAt.IsZero() {
				waiting = strconv.Itoa(d.Waiting)
			}
			if !d.FailedAt.IsZero() {
				failed += ": " + d.Reason
			}
			if d.Failing() {
				state = "failing"
			}
		}
		if !e.DisabledAt.IsZero() {
			state = "disabled, gone since " + e.DisabledAt.UTC().Format(time.DateTime)
		}
		fmt.Fprintf(tw, "%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\n", e.Account, state, e.Secrets, moment(e.CreatedAt), delivered, waiting, e.URL, failed)
	}
	return tw.Flush()
}

// moment is the text of a time, "-" for none.
func moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.DateTime)
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
			err := w.use(cmd.Context(), false, func(endpoints *webhook.Endpoints) error { return endpoints.Remove(w.account) })
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.ErrOrStderr(), "The webhook is removed.")
			return nil
		},
	}
	w.add(cmd)
	return cmd
}
