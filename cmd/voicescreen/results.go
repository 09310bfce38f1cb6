package main

import (
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/httpadapter/webhook"
	"github.com/voicescreen/voicescreen/internal/command"
)

// resultFlags are the flags of "serve" for what becomes of results.
type resultFlags struct {
	retain   time.Duration
	webhooks string // file; "" for none
}

func (r *resultFlags) add(cmd *cobra.Command) {
	command.DurationVar(cmd, &r.retain, "retain", "erase sessions this long after they were made, got their result or were given a label, such as 30d (default never)")
	cmd.Flags().StringVar(&r.webhooks, "webhooks", "", "file of the accounts to notify of results, see \"voicescreen webhooks\"")
}

func (r *resultFlags) check() error {
	if r.retain != 0 && r.retain < voicescreen.FeedbackWindow {
		return command.Usagef("--retain is %v, want %v or more: labels are taken until then", r.retain, voicescreen.FeedbackWindow)
	}
	return nil
}

// engine sets what becomes of results in an engine's options.
func (r *resultFlags) engine(o *voicescreen.Options, logger *slog.Logger) error {
	o.Results.Retain = r.retain
	if r.webhooks == "" {
		return nil
	}
	endpoints, err := webhook.Open(r.webhooks)
	if err != nil {
		return err
	}
	o.Results.Notify = webhook.New(endpoints, &webhook.Options{Logger: logger}).NotifyOptions()
	return nil
}
