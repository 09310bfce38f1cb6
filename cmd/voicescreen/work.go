package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/internal/command"
)

// workOptions are the flags of "work".
type workOptions struct {
	engineFlags
	addr string // of /metrics and /healthz; "" for none
}

const workHelp = `Analyse the recordings that servers on a PostgreSQL database accepted, and nothing
else. Any number of these processes may run, on any number of machines, beside any
number of servers. Servers that shall not analyse have --workers 0.

Give what concerns recordings, scores and webhooks here as on the servers: --audio,
--store-key, --model, --scorer-command, --thresholds, --base-rate, --webhooks and the like. These processes
also notify accounts of the results. With --addr, /healthz answers while
the process runs, and /metrics is in the format of Prometheus; anyone who reaches the
address may read it.

After an interrupt or SIGTERM the analyses under way are finished within 20 s, or go
back to the queue at once for another process. Each flag can be set by an environment
variable or in the file of --config, as for "serve".`

func newWork() *cobra.Command {
	var o workOptions
	cmd := &cobra.Command{
		Use:   "work --db URL [--workers N] [--addr HOST:PORT]",
		Short: "Analyse recordings that servers accepted",
		Long:  workHelp,
		Example: "  voicescreen work --db postgres://voicescreen@db.example/voicescreen\n" +
			"  voicescreen work --db postgres://voicescreen@db.example/voicescreen --workers 4 --addr 10.0.0.2:9090",
		Args: command.Args(cobra.NoArgs),
	}
	o.engineFlags.add(cmd, "the PostgreSQL database, postgres://… (required)", "how many recordings are analysed at once")
	cmd.Flags().StringVar(&o.addr, "addr", "", "an address for /metrics and /healthz (default none)")
	command.NoValues(cmd, "addr")
	command.Configurable(cmd, envPrefix, func(cmd *cobra.Command, warnings []string) error {
		return o.logged(cmd, warnings, o.check, func(ctx context.Context, logger *slog.Logger) error {
			return runWork(ctx, o, cmd.OutOrStdout(), logger)
		})
	})
	return cmd
}

// check returns a usage error for flags that do not fit.
func (o *workOptions) check() error {
	if !isPostgres(o.db) {
		return command.Usagef("--db is for recordings in PostgreSQL, want postgres://…; only one process can have a database file open")
	}
	if o.workers == 0 {
		return command.Usagef("--workers is 0, want 1 or more")
	}
	if _, _, err := net.SplitHostPort(o.addr); o.addr != "" && err != nil {
		return command.Usagef("--addr is %q, want HOST:PORT", o.addr)
	}
	return o.engineFlags.check()
}

func runWork(ctx context.Context, o workOptions, stdout io.Writer, logger *slog.Logger) (err error) {
	l, err := listenTo(ctx, "--addr", o.addr)
	if err != nil {
		return err
	}
	if l != nil {
		defer l.Close()
	}
	for _, w := range exposed(o.storeKey.file, o.audio.key, o.results.webhooks) {
		logger.Warn(w)
	}
	db, err := openDatabase(ctx, &o.engineFlags, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.close()) }() // after the engine
	if err := o.checkWaiting(ctx, db); err != nil {
		return err
	}
	sender, _, err := o.results.sender(ctx, db, logger)
	if err != nil {
		return err
	}
	if sender != nil {
		defer sender.Close() // after the engine, which sends until it is closed
	}
	var metrics httpadapter.Metrics
	opts, err := o.options(ctx, logger, sender, &metrics)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, command.CloseModels(opts.Scoring.Models)) }() // after the engine
	engine, err := db.engine(o.db, opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeEngine(engine)) }()
	chores, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer func() { stop(); running.Wait() }()
	running.Go(func() { watchAudio(chores, db, logger) })
	if o.calibrate > 0 {
		running.Go(func() { calibrateEvery(chores, engine, o.calibrate, logger, &metrics) })
	}
	if sender != nil {
		running.Go(func() { sender.Watch(chores, engine.Notices) })
	}
	metrics.Queue, metrics.Notices, metrics.StoreErrors = engine.Queued, engine.Notices, engine.StoreErrors
	logger.Info("analysing", "workers", o.workers)
	if l != nil {
		defer serveHealth(l, &metrics, stdout)()
	}
	<-ctx.Done()
	return nil
}

// serveHealth serves /metrics and /healthz on a listener until stop is called. Its
// address is printed.
func serveHealth(l net.Listener, m *httpadapter.Metrics, stdout io.Writer) (stop func() error) {
	fmt.Fprintf(stdout, "listening on http://%s\n", l.Addr())
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintln(w, `{"status":"ok"}`)
	})
	server := httpadapter.NewServer(l.Addr().String(), mux)
	go server.Serve(l) // ends with Close
	return server.Close
}
