package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/audit"
	"github.com/voicescreen/voicescreen/console"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/httpadapter/webhook"
	"github.com/voicescreen/voicescreen/internal/command"
)

// consolePrefix is where "serve --console" has the web page.
const consolePrefix = "/console"

// consoleFlags are the flags of "serve" for the web page.
type consoleFlags struct {
	on        bool
	words     string // directory; "" for none
	operators []string
}

func (c *consoleFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.on, "console", false, "serve the web page for people under "+consolePrefix+"/, see docs/CONSOLE.md")
	cmd.Flags().StringVar(&c.words, "console-words", "", "with --console: a directory of texts such as en.json that replace those of the page or add a language")
	cmd.Flags().StringArrayVar(&c.operators, "console-operator", nil, "with --console: an account whose holders of the scope admin see the service as a whole (repeatable)")
	command.Folders(cmd, "console-words")
	command.NoValues(cmd, "console-operator")
}

func (c *consoleFlags) check() error {
	if !c.on && (c.words != "" || len(c.operators) > 0) {
		return command.Usagef("--console-words and --console-operator need --console")
	}
	return nil
}

// withConsole puts the web page before the calls of programs, if it is on. Ctx ends what
// the page does in the background.
func (o *serveOptions) withConsole(ctx context.Context, calls http.Handler, e *voicescreen.Engine, keys *httpadapter.Keys, endpoints *webhook.Endpoints, trail *audit.Log, logger *slog.Logger) (http.Handler, error) {
	if !o.console.on {
		return calls, nil
	}
	opts := &console.Options{
		Context: ctx, Prefix: consolePrefix, Audit: trail, Logger: logger,
		Upload: console.UploadOptions{MaxBytes: int64(o.limits.upload) << 20, AnyFormat: o.limits.accept == acceptAny,
			StallTime: o.limits.stallTime, Time: o.limits.uploadTime, PerCaller: o.limits.uploads},
		Operations: console.OperationsOptions{Accounts: o.console.operators, Workers: o.workers, Webhooks: endpoints},
	}
	if o.dev {
		opts.Operations.Accounts = append(opts.Operations.Accounts, devAccount)
	}
	if o.console.words != "" {
		opts.Words = os.DirFS(o.console.words)
	}
	page, err := console.New(e, keys, opts)
	if err != nil {
		return nil, fmt.Errorf("--console: %w", err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == consolePrefix || strings.HasPrefix(r.URL.Path, consolePrefix+"/") {
			page.ServeHTTP(w, r)
			return
		}
		calls.ServeHTTP(w, r)
	}), nil
}

// devScopes are the scopes of the key of a trial: all of them with the web page.
func (o *serveOptions) devScopes() []httpadapter.Scope {
	if !o.console.on {
		return nil
	}
	return append(httpadapter.DefaultScopes(), httpadapter.ScopeAdmin)
}

// printConsole prints where the web page is: of a server on all addresses, where this
// machine finds it. Elsewhere a browser needs TLS to sign in.
func (o *serveOptions) printConsole(w io.Writer, base string) {
	if o.console.on {
		base = strings.NewReplacer("[::]", "127.0.0.1", "0.0.0.0", "127.0.0.1").Replace(base)
		fmt.Fprintf(w, "console on %s%s/\n", base, consolePrefix)
	}
}
