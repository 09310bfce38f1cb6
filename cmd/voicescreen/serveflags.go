package main

import (
	"errors"
	"math"
	"net"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/internal/command"
)

// serveOptions are the flags of "serve".
type serveOptions struct {
	engineFlags
	addr, keys string
	dev        bool
	rate       httpadapter.RateLimit
	metrics    string // address; "" for none
	audit      auditFlags
	limits     limitFlags
	backup     backupFlags
	console    consoleFlags
}

// add adds the flags to a command.
func (o *serveOptions) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.addr, "addr", defaultAddr, "the address to listen on")
	o.engineFlags.add(cmd, "the database file, or postgres://… for a PostgreSQL database",
		"how many recordings are analysed at once; with a PostgreSQL database also 0, for none: \"voicescreen work\" analyses them")
	cmd.Flags().StringVar(&o.keys, "keys", "", "the key file, see \"voicescreen keys\"")
	cmd.Flags().Float64Var(&o.rate.PerSecond, "rate", 0, "requests a second that each key may make, of all servers on a PostgreSQL database together; 0 for any number")
	cmd.Flags().IntVar(&o.rate.Burst, "burst", 0, "with --rate: requests that each key may make at once (default those of one second)")
	cmd.Flags().StringVar(&o.metrics, "metrics-addr", "", "an address for /metrics in the format of Prometheus; anyone who reaches it may read it")
	o.audit.add(cmd)
	o.limits.add(cmd)
	o.results.addRetain(cmd)
	o.backup.add(cmd)
	o.console.add(cmd)
	command.NoValues(cmd, "addr", "metrics-addr")
	cmd.Flags().BoolVar(&o.dev, "dev", false, "make a key and print how to call the service with it")
}

// check returns a usage error for flags that do not fit.
func (o *serveOptions) check() error {
	if !o.dev && (o.db == "" || o.keys == "" && !isPostgres(o.db)) {
		return command.Usagef("--db and --keys are needed, or --db postgres://…, or --dev for a trial")
	}
	if isPostgres(o.db) && o.backup.dir != "" {
		return command.Usagef("--backup is for a database file; back up PostgreSQL with its own tools")
	}
	if _, _, err := net.SplitHostPort(o.addr); err != nil {
		return command.Usagef("--addr is %q, want HOST:PORT", o.addr)
	}
	if o.rate.PerSecond < 0 || math.IsNaN(o.rate.PerSecond) || o.rate.Burst < 0 {
		return command.Usagef("--rate and --burst cannot be less than 0")
	}
	if o.rate.Burst > 0 && o.rate.PerSecond == 0 {
		return command.Usagef("--burst needs --rate")
	}
	if _, _, err := net.SplitHostPort(o.metrics); o.metrics != "" && err != nil {
		return command.Usagef("--metrics-addr is %q, want HOST:PORT", o.metrics)
	}
	if o.workers == 0 && !isPostgres(o.db) {
		return command.Usagef("--workers is 0, and nobody else can analyse what is in a database file; want 1 or more, or --db postgres://…")
	}
	return errors.Join(o.engineFlags.check(), o.audit.check(), o.limits.check(), o.backup.check(), o.console.check())
}
