package main

import (
	"context"
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
	cmd.Flags().StringVar(&r.webhooks, "webhooks", "", "file of the accounts to notify of results, see \"voicescreen webhooks\" (default with PostgreSQL: in the database)")
	r.allow.add(cmd)
}

// check returns a usage error for flags that do not fit. Db is --db.
func (r *resultFlags) check(db string) error {
	if r.retain != 0 && r.retain < voicescreen.FeedbackWindow {
		return command.Usagef("--retain is %v, want %v or more: labels are taken until then", r.retain, voicescreen.FeedbackWindow)
	}
	if len(r.allow.list) > 0 && r.webhooks == "" && !isPostgres(db) {
		return command.Usagef("--%s needs --webhooks", allowPrivate)
	}
	_, err := r.allow.networks()
	return err
}

// sender opens the webhooks, and returns nil if there are none. Without a file those of
// a PostgreSQL database are used. It warns of those to which nothing can be delivered.
func (r *resultFlags) sender(ctx context.Context, db database, logger *slog.Logger) (*webhook.Sender, *webhook.Endpoints, error) {
	if r.webhooks == "" && db.shared == nil {
		return nil, nil, nil
	}
	networks, err := r.allow.networks()
	if err != nil {
		return nil, nil, err
	}
	var endpoints *webhook.Endpoints
	if r.webhooks != "" {
		endpoints, err = openWebhooks(r.webhooks)
	} else {
		endpoints, err = webhook.Stored(ctx, db.shared)
	}
	if err != nil {
		return nil, nil, err
	}
	sender := webhook.New(endpoints, &webhook.Options{Logger: logger, AllowPrivate: networks})
	for _, account := range sender.Undeliverable() {
		logger.Warn("the address of a webhook is not public and not in --"+allowPrivate+": nothing is delivered to it", "account", account)
	}
	return sender, endpoints, nil
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
