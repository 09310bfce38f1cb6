package main

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/internal/command"
)

// logFlags are the flags of "serve" for its log.
type logFlags struct{ format, level string }

const (
	logText = "text"
	logJSON = "json"
)

func (l *logFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&l.format, "log", logText, "format of the log on standard error: text or json, one object a line")
	cmd.Flags().StringVar(&l.level, "log-level", "info", "least level that is logged: debug, info, warn or error; debug has polls and health checks too")
	command.Values(cmd, "log", logText, logJSON)
	command.Values(cmd, "log-level", "debug", "info", "warn", "error")
}

// report writes an error that ends the command to a log in JSON, and returns it as one
// that was reported: every line on standard error is an object then. Other errors are
// returned as they are: those in the command line, and an interrupt before the server
// listens.
func (l *logFlags) report(logger *slog.Logger, what string, err error) error {
	if err == nil || l.format != logJSON || command.IsUsage(err) || errors.Is(err, context.Canceled) {
		return err
	}
	logger.Error(what, "error", command.Plain(err))
	return command.ErrReported
}

// logger returns the log that writes to w. The error is one in the command line.
func (l *logFlags) logger(w io.Writer) (*slog.Logger, error) {
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
	level, ok := levels[l.level]
	if !ok {
		return nil, command.Usagef("--log-level is %q, want debug, info, warn or error", l.level)
	}
	opts := &slog.HandlerOptions{Level: level}
	switch l.format {
	case logText:
		return slog.New(slog.NewTextHandler(w, opts)), nil
	case logJSON:
		return slog.New(slog.NewJSONHandler(w, opts)), nil
	}
	return nil, command.Usagef("--log is %q, want text or json", l.format)
}
