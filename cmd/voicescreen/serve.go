package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/audit"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/httpadapter/webhook"
	"github.com/voicescreen/voicescreen/internal/command"
)

const (
	// drainTime is how long a server that gets a signal waits for requests
	// and then for analyses. Chosen: a large upload's last part, and several
	// analyses; what is not done by then is done after the next start.
	drainTime = 20 * time.Second

	defaultAddr = "127.0.0.1:8080"
)

// envPrefix begins the names of the environment variables of "serve".
const envPrefix = "VOICESCREEN_"

const serveHelp = `Serve versions 1 and 2 of the service, with /healthz, /readyz, /openapi.json
and, for people, /docs. A missing database is created. The first line on standard
output is the address that the server listens on; with port 0 the system chooses
one. After an interrupt or SIGTERM the server finishes the requests and analyses
under way, and ends. Queued recordings are analysed after the next start.

With --console people have a web page under /console/: they sign in with an API key,
ask for consent, record, read results and operate. Browsers must reach it over TLS.

With --db postgres://… sessions, recordings, keys and learned models are kept in a
PostgreSQL database, and any number of servers on any number of machines may use it.
Make keys with "voicescreen keys create --db postgres://…". With --workers 0 a server
analyses nothing, and "voicescreen work" does it on other machines. Give a password in
PGPASSWORD or a file that PGPASSFILE names, and not in the address, which others see
in the list of processes.

Recordings wait in the database until they are analysed, or where --audio says: a
directory that all machines share, or a bucket, with the credentials of the environment,
of ~/.aws or of the machine's role. Give it to every server and worker alike. With a
store key recordings are encrypted before they are sent there.

With --dev the server creates a key and prints how to call the service with it. The
database is then temporary unless --db is given, and the key is kept in memory unless
--keys is given.

With a store key, a new database and its recordings are encrypted. The key is 64
hexadecimal digits, such as "openssl rand -hex 32" prints, in the file that
--store-key names or in the environment variable VOICESCREEN_STORE_KEY. Every later
start needs it. Without the key the data are lost. The first command that opens a
PostgreSQL database, "keys create" too, decides whether it is encrypted.

With --backup DIR and --backup-every 24h the server backs up the database at each
midnight UTC, while calls and analyses go on. The backup is DIR/20261122T000000Z.db,
named by the time, and the files beside it that belong to it (see "voicescreen db").
It is encrypted with the same key if the database is. DIR must exist at the start. An
error is logged, and the next period tries again. A backup without its .db is
incomplete. Remove old backups yourself: they hold sessions that were erased since.

Each flag can be set by an environment variable: VOICESCREEN_ and its name in capitals,
with _ for -, such as VOICESCREEN_RETAIN=30d or VOICESCREEN_DEV=true. Commas separate
the values of a repeatable flag. VOICESCREEN_STORE_KEY and VOICESCREEN_AUDIT_KEY hold
the keys themselves; with _FILE at the end, the names of their files. The file that
--config names sets flags too: {"addr": "127.0.0.1:8080", "retain": "30d", "model":
["a.json"]}. The command line has precedence over the environment, and that over the
file. An unknown variable gives a warning, an unknown name in the file is refused.

The log on standard error has a line for each request, at level debug for health checks
and for polls of a result that is not there yet.

The connection is not encrypted: put a proxy that speaks TLS before it.`

func newServe() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve --db (PATH --keys FILE | URL) [--addr HOST:PORT]",
		Short: "Serve the screening service over HTTP",
		Long:  serveHelp,
		Example: "  voicescreen serve --dev\n" +
			"  voicescreen serve --dev --console\n" +
			"  voicescreen keys create --keys keys.json --account clinic-a\n" +
			"  voicescreen serve --addr 127.0.0.1:8080 --db clinic.db --keys keys.json\n" +
			"  voicescreen serve --db clinic.db --keys keys.json --backup /backup --backup-every 24h\n" +
			"  voicescreen serve --config serve.json --log json\n" +
			"  voicescreen serve --db postgres://voicescreen@db.example/voicescreen --addr 10.0.0.1:8080",
		Args: command.Args(cobra.NoArgs),
	}
	o.add(cmd)
	command.Configurable(cmd, envPrefix, func(cmd *cobra.Command, warnings []string) error {
		return o.logged(cmd, warnings, o.check, func(ctx context.Context, logger *slog.Logger) error {
			return runServe(ctx, o, cmd.OutOrStdout(), logger)
		})
	})
	return cmd
}

func runServe(ctx context.Context, o serveOptions, stdout io.Writer, logger *slog.Logger) (err error) {
	on, err := listen(ctx, o.addr, o.metrics) // before a file is made
	if err != nil {
		return err
	}
	defer on.Close()
	for _, w := range exposed(o.keys, o.storeKey.file, o.audio.key, o.audit.key, o.results.webhooks) {
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
	sender, endpoints, err := o.results.sender(ctx, db, logger)
	if err != nil {
		return err
	}
	if sender != nil {
		defer sender.Close() // after the engine, which sends until it is closed
	}
	keys, key, err := serveKeys(ctx, o, db)
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
	if err := warnWithoutKey(keys, o, logger); err != nil {
		return err
	}
	trail, endTrail, err := o.audit.open(logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, endTrail()) }()
	var metrics httpadapter.Metrics
	engine, end, err := openEngine(ctx, o, db, logger, trail, sender, &metrics)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	metrics.Queue, metrics.Notices, metrics.StoreErrors = engine.Queued, engine.Notices, engine.StoreErrors
	stop, err := o.background(ctx, db, engine, sender, logger, &metrics)
	if err != nil {
		return err
	}
	defer stop()
	pages, endPages := context.WithCancel(ctx) // ends as the shutdown begins
	defer endPages()                           // where no request was served, before the engine
	calls := httpadapter.New(engine, keys, o.limits.handler(&httpadapter.Options{Logger: logger, Rate: o.rate, Audit: trail, Observe: metrics.Observe}))
	handler, err := o.withConsole(pages, calls, engine, keys, endpoints, trail, logger)
	if err != nil {
		return err
	}
	return announceAndServe(ctx, o, on, key, handler, &metrics, stdout)
}

// background starts what the server does beside answering, until stop is called. It sets
// the number of servers that share the limits.
func (o *serveOptions) background(ctx context.Context, db database, engine *voicescreen.Engine, sender *webhook.Sender, logger *slog.Logger, metrics *httpadapter.Metrics) (stop func(), err error) {
	var replicas *httpadapter.Replicas
	if o.rate.PerSecond > 0 && db.shared != nil {
		if replicas, err = httpadapter.StoredReplicas(ctx, db.shared); err != nil {
			return nil, err
		}
		o.rate.Replicas = replicas.Count
	}
	chores, stopChores := context.WithCancel(ctx)
	var running sync.WaitGroup
	counting, stopCounting := context.WithCancel(context.WithoutCancel(ctx)) // until the last request
	if replicas != nil {
		running.Go(func() { replicas.Run(chores) })
	}
	running.Go(func() { watchAudio(chores, db, logger) })
	if o.calibrate > 0 {
		running.Go(func() { calibrateEvery(chores, engine, o.calibrate, logger, metrics) })
	}
	if o.backup.dir != "" {
		running.Go(func() { backupEvery(chores, engine, o.backup, logger, metrics) })
	}
	if sender != nil {
		running.Go(func() { sender.Watch(counting, engine.Notices) })
	}
	return func() { stopChores(); stopCounting(); running.Wait() }, nil
}

// announceAndServe serves the handler and the metrics on their listeners until ctx
// is done. It prints the addresses and, for a trial, the calls with the key.
func announceAndServe(ctx context.Context, o serveOptions, on *listeners, key string, handler http.Handler, metrics *httpadapter.Metrics, stdout io.Writer) error {
	base := "http://" + on.calls.Addr().String()
	fmt.Fprintf(stdout, "listening on %s\n", base)
	o.printConsole(stdout, base)
	if o.dev {
		printCalls(stdout, base, key)
	}
	if on.metrics != nil {
		defer serveMetrics(on.metrics, metrics, stdout)()
	}
	return serve(ctx, on.calls, o.limits.server(httpadapter.NewServer(o.addr, handler)))
}

// openEngine opens the database as the flags say. The caller calls end.
func openEngine(ctx context.Context, o serveOptions, db database, logger *slog.Logger, trail *audit.Log, sender *webhook.Sender, metrics *httpadapter.Metrics) (engine *voicescreen.Engine, end func() error, err error) {
	opts, err := o.options(ctx, logger, sender, metrics)
	if err != nil {
		return nil, nil, err
	}
	o.limits.engine(opts)
	if trail != nil {
		opts.Results.Erased = httpadapter.AuditErased(trail)
	}
	if engine, err = db.engine(o.db, opts); err != nil {
		return nil, nil, errors.Join(keyHint(err), command.CloseModels(opts.Scoring.Models))
	}
	return engine, func() error { return errors.Join(closeEngine(engine), command.CloseModels(opts.Scoring.Models)) }, nil
}

// serve serves until ctx is done, and then until the requests under way are.
func serve(ctx context.Context, l net.Listener, server *http.Server) error {
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(httpadapter.WrapListener(l)) }()
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
func serveKeys(ctx context.Context, o serveOptions, db database) (keys *httpadapter.Keys, key string, err error) {
	switch {
	case o.keys == "" && db.shared != nil:
		if keys, err = httpadapter.StoredKeys(ctx, db.shared); err != nil || !o.dev {
			return keys, "", err
		}
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
	key, err = keys.Create(devAccount, o.devScopes()...)
	return keys, key, err
}

// warnWithoutKey says so if none of the keys of a file is valid now.
func warnWithoutKey(keys *httpadapter.Keys, o serveOptions, logger *slog.Logger) error {
	where := "--keys " + o.keys
	if o.keys == "" {
		where = "--db postgres://…" // without a password that may be in it
	}
	list, err := keys.List()
	if err == nil && !slices.ContainsFunc(list, func(k httpadapter.Key) bool { return k.Live(time.Now()) }) {
		logger.Warn("no key is valid yet", "create", fmt.Sprintf("voicescreen keys create %s --account NAME", where))
	}
	return err
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
