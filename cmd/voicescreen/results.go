package main

import (
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/httpadapter/webhook"
	"github.com/voicescreen/voicescreen/internal/command"
)

// resultFlags are the flags of "serve" and "work" for what becomes of results.
type resultFlags struct {
	retain   time.Duration
	webhooks string // file; "" for none
	allow    networkFlag
}

func (r *resultFlags) addRetain(cmd *cobra.Command) {
	command.DurationVar(cmd, &r.retain, "retain", "erase sessions this long after they were made, got their result or were given a label, such as 30d (default never)")
}

func (r *resultFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.webhooks, "webhooks", "", "file of the accounts to notify of results, see \"voicescreen webhooks\"")
	r.allow.add(cmd)
}

func (r *resultFlags) check() error {
	if r.retain != 0 && r.retain < voicescreen.FeedbackWindow {
		return command.Usagef("--retain is %v, want %v or more: labels are taken until then", r.retain, voicescreen.FeedbackWindow)
	}
	if len(r.allow.list) > 0 && r.webhooks == "" {
		return command.Usagef("--%s needs --webhooks", allowPrivate)
	}
	_, err := r.allow.networks()
	return err
}

// sender opens the webhooks, and returns nil if there are none. It warns of those
// to which nothing can be delivered.
func (r *resultFlags) sender(logger *slog.Logger) (*webhook.Sender, error) {
	if r.webhooks == "" {
		return nil, nil
	}
	networks, err := r.allow.networks()
	if err != nil {
		return nil, err
	}
	endpoints, err := openWebhooks(r.webhooks)
	if err != nil {
		return nil, err
	}
	sender := webhook.New(endpoints, &webhook.Options{Logger: logger, AllowPrivate: networks})
	for _, account := range sender.Undeliverable() {
		logger.Warn("the address of a webhook is not public and not in --"+allowPrivate+": nothing is delivered to it", "account", account)
	}
	return sender, nil
}

// engine sets what becomes of results in an engine's options. Without a sender
// nobody is notified.
func (r *resultFlags) engine(o *voicescreen.Options, sender *webhook.Sender, metrics *httpadapter.Metrics) {
	o.Results.Retain = r.retain
	o.Results.OnResult = metrics.OnResult
	if sender != nil {
		o.Results.Notify = sender.NotifyOptions()
		o.Results.Notify.Outcome = metrics.OnNotice
	}
}
