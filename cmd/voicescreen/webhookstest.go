package main

import (
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/httpadapter/webhook"
	"github.com/voicescreen/voicescreen/internal/command"
)

func newWebhooksTest() *cobra.Command {
	var (
		w     webhookFlags
		allow networkFlag
	)
	cmd := &cobra.Command{
		Use:   "test --webhooks FILE --account NAME",
		Short: "Send one event to an account's webhook and print the answer",
		Long: `Send one signed event of the type webhook.test, which is about no session, to the
address of an account, as the server would send a notice, and print the status, the
time it took and the beginning of the body. The exit code is 0 if the receiver accepts
it, with a status from 200 to 299. Nothing that is stored changes: a receiver that
answers 410 is not disabled. Give --webhook-allow-private as to "serve".`,
		Example: "  voicescreen webhooks test --webhooks webhooks.json --account clinic-a",
		Args:    command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := w.check(true); err != nil {
				return err
			}
			networks, err := allow.networks()
			if err != nil {
				return err
			}
			return w.use(cmd.Context(), false, func(endpoints *webhook.Endpoints) error {
				warnReadable(cmd.ErrOrStderr(), w.file)
				sender := webhook.New(endpoints, &webhook.Options{AllowPrivate: networks})
				defer sender.Close()
				answer, err := sender.Test(cmd.Context(), w.account)
				if err != nil {
					return withAllowHint(err)
				}
				return printAnswer(cmd, answer)
			})
		},
	}
	w.add(cmd)
	allow.add(cmd)
	return cmd
}

// printAnswer prints the answer of a receiver. It returns an error for one that does
// not accept the event.
func printAnswer(cmd *cobra.Command, a *webhook.Answer) error {
	fmt.Fprintf(cmd.OutOrStdout(), "%s after %v\n", strings.TrimSpace(fmt.Sprintf("%d %s", a.Status, http.StatusText(a.Status))), a.Took.Round(time.Millisecond))
	if body := strings.TrimSpace(printable(a.Body)); body != "" {
		fmt.Fprintln(cmd.OutOrStdout(), body)
	}
	switch {
	case a.Accepted():
		return nil
	case a.Status == http.StatusGone:
		return fmt.Errorf("the receiver answered 410: at a notice, the webhook would be disabled")
	}
	return fmt.Errorf("the receiver did not accept the event: want a status from 200 to 299; a notice would be sent again later")
}

// printable is a text of a stranger without what a terminal would obey.
func printable(text []byte) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return '.'
	}, strings.ToValidUTF8(string(text), "."))
}
