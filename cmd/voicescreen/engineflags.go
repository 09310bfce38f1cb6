package main

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/httpadapter/webhook"
	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/models/process"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// engineFlags are the flags that "serve" and "work" share: the database, what is
// analysed, how, and who is notified of it.
type engineFlags struct {
	db         string
	workers    int // 0 for none
	models     command.ModelFlags
	thresholds string // file; "" for none
	prior      float64
	storeKey   storeKeyFlag
	audio      audioFlags
	rows       bool // row-level security
	results    resultFlags
	scoring    command.ScoringFlags
	baseline   bool
	calibrate  time.Duration // how often; 0 for never
	log        logFlags
}

// maxWorkers is the greatest value of --workers. Chosen: more than any machine has
// processors, and each may need 0.65 GB.
const maxWorkers = 1024

// add adds the flags to a command. Db and workers are the help texts of those flags.
func (o *engineFlags) add(cmd *cobra.Command, db, workers string) {
	cmd.Flags().StringVar(&o.db, "db", "", db)
	cmd.Flags().IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), workers)
	o.models.Add(cmd)
	cmd.Flags().StringVar(&o.thresholds, "thresholds", "", "thresholds of the accounts, see \"voicelab thresholds\"")
	command.AddPrior(cmd, &o.prior)
	o.storeKey.add(cmd)
	o.audio.add(cmd)
	cmd.Flags().BoolVar(&o.rows, "row-security", false, "turn on row-level security in PostgreSQL, for good: roles beside the service see the accounts that the table voicescreen.tenants gives them")
	o.results.add(cmd)
	o.scoring.Add(cmd)
	cmd.Flags().BoolVar(&o.baseline, "baseline", false, "compare each recording with the same user's earlier ones")
	command.DurationVar(cmd, &o.calibrate, "calibrate", "how often to adapt the norms to the recordings and to learn from the labels that came, such as 24h; 0 for never; a model given with --model stays as it is")
	o.log.add(cmd)
}

// check returns a usage error for flags that do not fit.
func (o *engineFlags) check() error {
	if o.workers < 0 || o.workers > maxWorkers {
		return command.Usagef("--workers is %d, want 0 to %d", o.workers, maxWorkers)
	}
	if o.calibrate < 0 {
		return command.Usagef("--calibrate cannot be less than 0")
	}
	if o.rows && !isPostgres(o.db) {
		return command.Usagef("--row-security is for a PostgreSQL database")
	}
	return errors.Join(o.audio.check(o.db), o.results.check(o.db))
}

// logged runs a command that goes on until a signal, with the log that the flags ask
// for, after check and with the warnings of the configuration.
func (o *engineFlags) logged(cmd *cobra.Command, warnings []string, check func() error, run func(ctx context.Context, logger *slog.Logger) error) error {
	logger, err := o.log.logger(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	for _, w := range warnings {
		logger.Warn(w)
	}
	if err := errors.Join(check(), command.CheckPrior(cmd, o.prior)); err != nil {
		return err
	}
	return o.log.report(logger, cmd.Name(), run(cmd.Context(), logger))
}

// options returns the options of the engine. The caller calls command.CloseModels for
// Scoring.Models, after the engine.
func (o *engineFlags) options(ctx context.Context, logger *slog.Logger, sender *webhook.Sender, metrics *httpadapter.Metrics) (*voicescreen.Options, error) {
	storeKey, err := o.storeKey.read()
	if err != nil {
		return nil, err
	}
	thresholds, err := readThresholds(o.thresholds)
	if err != nil {
		return nil, err
	}
	scoring := voicescreen.ScoringOptions{Thresholds: thresholds, DeepfakePrior: o.prior, Baseline: o.baseline}
	if err := o.scoring.Set(&scoring); err != nil {
		return nil, err
	}
	scoring.Models, err = o.models.Load(ctx, scoring.BaseRates, process.Options{Processes: max(o.workers, 1), Logger: logger})
	if err != nil {
		return nil, err
	}
	for _, s := range scoring.Models {
		i := s.Info()
		if i.SHA256 != "" {
			logger.Info("model", "name", i.Name, "version", i.Version, "licence", i.Licence, "source", i.Source, "sha256", i.SHA256)
		}
		if w := command.LicenceWarning(i); w != "" {
			logger.Warn(w)
		}
	}
	opts := &voicescreen.Options{Workers: o.workers, Store: bolt.Options{Key: storeKey}, Scoring: scoring, Logger: logger}
	if o.workers == 0 {
		opts.Workers = -1 // none
	}
	o.results.engine(opts, sender, metrics)
	return opts, nil
}
