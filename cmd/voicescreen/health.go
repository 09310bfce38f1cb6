package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/internal/command"
)

const (
	// defaultHealth is where a server on this machine answers.
	defaultHealth = "http://" + defaultAddr + "/healthz"

	// defaultHealthTime is how long "health" waits. Chosen: shorter than the limit of
	// the health checks of container engines, 30 s, and longer than a pause of a busy
	// machine.
	defaultHealthTime = 5 * time.Second
)

func newHealth() *cobra.Command {
	timeout := defaultHealthTime
	cmd := &cobra.Command{
		Use:   "health [URL]",
		Short: "Ask a server whether it is well",
		Long: `Get a URL and exit with 0 if the answer is 200, and with 1 after any other answer,
an error or the end of --timeout. It is the health check of an image that has no shell
and no other program. /healthz answers while the process runs, /readyz while it can
serve requests. Redirects are not followed and proxies are not used.`,
		Example: "  voicescreen health\n" +
			"  voicescreen health http://127.0.0.1:8080/readyz",
		Args: command.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			address := defaultHealth
			if len(args) > 0 {
				address = args[0]
			}
			if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
				return command.Usagef("want a URL such as %s", defaultHealth) // the argument may contain a password
			}
			if timeout <= 0 {
				return command.Usagef("--timeout is %v, want more than 0", timeout)
			}
			return checkHealth(cmd.Context(), address, timeout)
		},
	}
	command.DurationVar(cmd, &timeout, "timeout", "how long to wait for the answer")
	return cmd
}

// checkHealth returns an error unless the answer of address is 200 within the timeout.
func checkHealth(ctx context.Context, address string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	transport := &http.Transport{DisableKeepAlives: true} // without a proxy
	client := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err // without the URL
		}
		return fmt.Errorf("health: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(res.Body, 200))
		return fmt.Errorf("health: got %s, want 200: %q", res.Status, body)
	}
	return nil
}
