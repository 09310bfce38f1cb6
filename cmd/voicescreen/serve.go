package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/httpadapter"
)

const (
	// drainTime is how long a server that was told to end waits for requests
	// and then for analyses. Chosen: a large upload's last part, and several
	// analyses; what is not done by then is done after the next start.
	drainTime = 20 * time.Second

	defaultAddr = "127.0.0.1:8080"
)

// serveOptions are the flags of "serve".
type serveOptions struct {
	addr, db, keys string
	models         []string
	dev            bool
	rate           httpadapter.RateLimit
	metrics        string // address; "" for none
}

func newServe() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve --db PATH --keys FILE [--addr HOST:PORT]",
		Short: "Serve the screening service over HTTP",
		Long: `Serve versions 1 and 2 of the service, with /healthz, /readyz, /openapi.json
and, for people, /docs. The database is made if there is none. The address that
the server listens on is the first line on standard output; with port 0 the
system chooses one. An interrupt or SIGTERM ends it once the requests and
analyses under way are done; what is queued is done after the next start.

With --dev it makes a key and prints how to call the service with it. Without
--db the database is then a temporary one, and without --keys the key is kept in
memory.

The connection is not encrypted: put a proxy that speaks TLS before it.`,
		Example: "  voicescreen serve --dev\n" +
			"  voicescreen keys create --keys keys.json --account clinic-a\n" +
			"  voicescreen serve --addr 127.0.0.1:8080 --db clinic.db --keys keys.json",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !o.dev && (o.db == "" || o.keys == "") {
				return usagef("--db and --keys are needed, or --dev for a trial")
			}
			if _, _, err := net.SplitHostPort(o.addr); err != nil {
				return usagef("--addr is %q, want HOST:PORT", o.addr)
			}
			if o.rate.PerSecond < 0 || math.IsNaN(o.rate.PerSecond) || o.rate.Burst < 0 {
				return usagef("--rate and --burst cannot be less than 0")
			}
			if _, _, err := net.SplitHostPort(o.metrics); o.metrics != "" && err != nil {
				return usagef("--metrics-addr is %q, want HOST:PORT", o.metrics)
			}
			return runServe(cmd.Context(), o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVar(&o.addr, "addr", defaultAddr, "the address to listen on")
	cmd.Flags().StringVar(&o.db, "db", "", "the database file")
	cmd.Flags().StringVar(&o.keys, "keys", "", "the key file, see \"voicescreen keys\"")
	cmd.Flags().StringArrayVar(&o.models, "model", nil, "a model file that replaces the shipped one of its category (repeatable)")
	cmd.Flags().Float64Var(&o.rate.PerSecond, "rate", 0, "requests a second that each key may make; 0 for any number")
	cmd.Flags().IntVar(&o.rate.Burst, "burst", 0, "with --rate: requests that each key may make at once (default those of one second)")
	cmd.Flags().StringVar(&o.metrics, "metrics-addr", "", "an address for /metrics in the format of Prometheus; anyone who reaches it may read it")
	cmd.Flags().BoolVar(&o.dev, "dev", false, "make a key and print how to call the service with it")
	return cmd
}

func runServe(ctx context.Context, o serveOptions, stdout, stderr io.Writer) (err error) {
	keys, key, err := serveKeys(o)
	if err != nil {
		return err
	}
	scorers, err := loadModels(o.models)
	if err != nil {
		return err
	}
	if o.db == "" {
		dir, err := os.MkdirTemp("", "voicescreen-dev-")
		if err != nil {
			return fmt.Errorf("make a temporary database: %w", err)
		}
		defer os.RemoveAll(dir)
		o.db = filepath.Join(dir, "dev.db")
	}
	if live, err := anyLive(keys); err != nil {
		return err
	} else if !live {
		fmt.Fprintf(stderr, "voicescreen: warning: no key is valid yet; make one with \"voicescreen keys create --keys %s --account NAME\"\n", o.keys)
	}
	logger := slog.New(slog.NewTextHandler(stderr, nil))
	var metrics httpadapter.Metrics
	engine, err := voicescreen.Open(o.db, &voicescreen.Options{Models: scorers, Logger: logger, OnResult: metrics.OnResult})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeEngine(engine)) }()

	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", o.addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "listening on http://%s\n", l.Addr())
	if o.dev {
		printCalls(stdout, "http://"+l.Addr().String(), key)
	}
	if o.metrics != "" {
		metrics.Queue = engine.Queued
		stop, err := serveMetrics(ctx, o.metrics, &metrics, stdout)
		if err != nil {
			return errors.Join(err, l.Close())
		}
		defer stop()
	}
	handler := httpadapter.New(engine, keys, &httpadapter.Options{Logger: logger, Rate: o.rate, Observe: metrics.Observe})
	return serve(ctx, l, httpadapter.NewServer(o.addr, handler))
}

// serveMetrics serves /metrics on a listener of its own until stop is called.
// Its address is printed.
func serveMetrics(ctx context.Context, addr string, m *httpadapter.Metrics, stdout io.Writer) (stop func() error, err error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(stdout, "metrics on http://%s/metrics\n", l.Addr())
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m)
	server := httpadapter.NewServer(addr, mux)
	go server.Serve(l) // ends with Close
	return server.Close, nil
}

// serve serves until ctx is done, and then until the requests under way are.
func serve(ctx context.Context, l net.Listener, server *http.Server) error {
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	err := server.Shutdown(drain)
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.Join(fmt.Errorf("requests were still under way after %v", drainTime), server.Close())
	}
	return err
}

// closeEngine drains the engine. What it could not finish is queued again and
// is no error.
func closeEngine(e *voicescreen.Engine) error {
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	if err := e.Close(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// devAccount is the account of the key that serve --dev makes.
const devAccount = "dev"

// serveKeys opens the keys, and makes one for --dev.
func serveKeys(o serveOptions) (keys *httpadapter.Keys, key string, err error) {
	switch {
	case !o.dev: // keys can come while the server runs, the first one too
		keys, err = httpadapter.CreateKeys(o.keys)
		return keys, "", err
	case o.keys == "":
		keys = httpadapter.NewKeys()
	default:
		if keys, err = httpadapter.CreateKeys(o.keys); err != nil {
			return nil, "", err
		}
	}
	key, err = keys.Create(devAccount)
	return keys, key, err
}

// anyLive says whether one of the keys is valid now.
func anyLive(keys *httpadapter.Keys) (bool, error) {
	list, err := keys.List()
	return slices.ContainsFunc(list, func(k httpadapter.Key) bool { return k.Live(time.Now()) }), err
}

// printCalls prints the calls of one prediction.
func printCalls(w io.Writer, base, key string) {
	fmt.Fprintf(w, `
API key for this trial: %[2]s

  BASE=%[1]s KEY=%[2]s
Open a session, with the consent of the person who speaks:
  curl -H "X-API-Key: $KEY" -d user_id=patient-17 -d is_initiated=true $BASE/v2/initiate
Submit a recording, WAV, mono, 44.1 kHz, to the session of the answer:
  curl -H "X-API-Key: $KEY" -F session_id=SESSION_ID -F file=@testdata/interview_en.wav $BASE/v2/prediction/
Get the result, until its status is no longer "processing":
  curl -H "X-API-Key: $KEY" "$BASE/v2/predict/sessions/SESSION_ID?detail=full"
Attach the answers to a PHQ-9:
  curl -X PATCH -H "X-API-Key: $KEY" -H "Content-Type: application/json" \
    -d '{"session_id":"SESSION_ID","actual_score":[0,1,0,1,0,0,1,0,0]}' $BASE/v2/feedback/phq/9

`, base, key)
}
