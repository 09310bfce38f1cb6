package voicescreen

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"time"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// Options configures an Engine. Nil and zero fields mean the default.
type Options struct {
	// Workers is how many recordings are analysed at once. See
	// AudioOptions.MaxDuration for the memory of each.
	// Default: runtime.GOMAXPROCS(0). Negative: none; this engine accepts
	// recordings, and another engine on the same store analyses them.
	Workers int

	Queue   QueueOptions
	Audio   AudioOptions
	Scoring ScoringOptions
	Results ResultOptions

	// Store are the options of the store that Open opens, its key among them.
	// New reads only Now of them, which also paces sweeps and notices.
	Store bolt.Options

	// NewID makes session identifiers. They must be unique, and impossible to
	// guess: anyone who has one can ask for its result. It must be safe for
	// concurrent use. Default: 160 random bits in base 32.
	NewID func() string

	// Logger receives what an operator needs: failed attempts, lost leases,
	// a store that does not answer. Lines hold session identifiers, and no
	// account, user, metadata, feature or score. Default: nothing is logged.
	Logger *slog.Logger
}

// QueueOptions configures the queue of recordings and its workers. Zero fields
// mean the default.
type QueueOptions struct {
	// Limit is how many recordings may wait or be under analysis; a submission
	// beyond it is ErrBusy. Engines that share a store do not see each other's
	// uploads under way: together they may accept one recording more for each of
	// them. Default: 1000.
	Limit int

	// Lease is how long a session belongs to a worker that does not renew its
	// lease. A running worker renews it every third of it. Default: 15 s.
	Lease time.Duration

	// Poll is how often the store is asked for work and for results that other
	// processes queued or stored. Default: 1 s.
	Poll time.Duration

	// Attempts is how often an analysis is tried before the session fails with
	// internal_error. An attempt does not count if the recording could not be opened,
	// but for one that is lost or damaged, or if the store has no room for its outcome:
	// it is made again and again. Default: 3.
	Attempts int

	// RetryDelay is the pause before the second attempt; the pause doubles
	// before each later one. Before one again that did not count it is four times as
	// long. Default: 1 s.
	RetryDelay time.Duration
}

// AudioOptions says which recordings are accepted and which are good enough for
// a score. Zero fields mean the default.
type AudioOptions struct {
	// MaxBytes is the size of the largest file that Submit accepts. Default:
	// 100 MiB, which is 19 minutes of 16-bit mono at 44.1 kHz.
	MaxBytes int64

	// MaxDuration is how much of a recording is analysed, from its beginning.
	// It bounds the time of a worker. Its memory, measured as what a process grows
	// by, is 9 MB for a recording of one minute, 13 MB for ten, and 0.5 MB for each
	// minute more; with a scorer that does not stream, see models.Info, it is 62 MB
	// a minute at 44.1 kHz. Recordings above 48 kHz are analysed up to the number of
	// samples that this time has at 48 kHz, so for less time. Default: 10
	// minutes.
	MaxDuration time.Duration

	// Limits say which recordings are good enough for a score. Default: those
	// of features.Limits.
	Limits features.Limits
}

// ScoringOptions configures the models and what their probabilities mean here.
// Zero fields mean the default.
type ScoringOptions struct {
	// Models replace the shipped scorers, and those that Calibrate learned, in
	// the categories that they name, which then do not learn. Where two name
	// one category the later one is used.
	Models []models.Scorer

	// Thresholds replace the models' own, account by account. They are applied
	// to the probabilities after DeepfakePrior and BaseRates, and do not move
	// with them: after a change of those, new thresholds must be chosen. New copies them. Default: those of
	// Engine.SetThresholds, which the store keeps.
	Thresholds screen.AccountThresholds

	// DeepfakePrior is the share of synthetic recordings among those that are
	// scored here, between 0 and 1. The probabilities of deepfake scores are
	// restated for it before Thresholds are applied; see
	// screen.Score.SetPrior. Default: that of the model, which is 0.5 for the
	// shipped one.
	DeepfakePrior float64

	// BaseRates are the shares of people with a PHQ-9 or a GAD-7 of 10 or more
	// among those who are scored here, each between 0 and 1. The probabilities
	// of a model are restated for it before Thresholds are applied; see
	// models.Bayes.WithBaseRate. A model that learned from labels has its base
	// rate from them. Default: that of the shipped models, 0.080 for depression
	// and 0.061 for anxiety, which are US adults.
	BaseRates map[screen.Category]float64

	// FixedGain is SubmitOptions.FixedGain of every session.
	FixedGain bool

	// Baseline is SubmitOptions.Baseline of every session.
	Baseline bool

	// Speech is SubmitOptions.Speech of every session that does not give its own.
	// Default: not known.
	Speech screen.Speech
}

// ResultOptions configures what happens to results. Zero fields mean the
// default.
type ResultOptions struct {
	// OnResult, if not nil, is called once for each session that this engine
	// brought to its end, after that is durable, by the worker that did it: a
	// slow OnResult delays the worker. The account is the name given to
	// Engine.Tenant. If the process ends in between, OnResult is never called:
	// use Notify where each result must arrive. A call may still begin after a
	// Close that gave up waiting, with a ctx that is done; so may NotifyOptions.Send.
	OnResult func(ctx context.Context, account string, r *Result)

	// Retain is how long a session is kept after its last change: it was
	// initiated, got its result, or was given a label. Then it is erased as
	// Delete does, within SweepEvery; so is a session that was initiated and
	// never submitted. A session whose recording waits or is under analysis is
	// kept. A change of the period applies to existing sessions too. It must be
	// 0, or at least FeedbackWindow. Default: 0, for ever.
	Retain time.Duration

	// Erased, if not nil, receives the keys of the sessions that Retain erased,
	// at most a hundred at a time, after that is durable; a session that was
	// damaged has an empty key. If the process ends in between, Erased does not
	// receive them. Before each batch, Erased is called with an empty list:
	// while it returns an error then, nothing is erased. There is one call at a
	// time.
	Erased func(sessions []screen.SessionKey) error

	// Notify sends notices of results from a durable queue. Default: none.
	Notify NotifyOptions
}

const (
	defaultQueueLimit = 1000             // chosen: a quarter of an hour for two workers at two seconds each
	defaultLease      = 15 * time.Second // chosen: several times the longest pause of a busy machine
	defaultPoll       = time.Second      // chosen: short for a waiting caller, and little work for the disk
	defaultAttempts   = 3                // the service ends a session after three failures
	defaultRetryDelay = time.Second      // chosen: longer than a disk's hiccup
	defaultMaxBytes   = 100 << 20        // part of the service's interface
)

// withDefaults returns a copy of o, which may be nil, without zero fields, that
// shares no map with it.
func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	def(&c.Workers, runtime.GOMAXPROCS(0))
	c.Workers = max(c.Workers, 0)
	if c.Store.Now == nil {
		c.Store.Now = time.Now
	}
	if c.NewID == nil {
		c.NewID = newID
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	positive(&c.Queue.Limit, defaultQueueLimit)
	positive(&c.Queue.Lease, defaultLease)
	positive(&c.Queue.Poll, defaultPoll)
	positive(&c.Queue.Attempts, defaultAttempts)
	positive(&c.Queue.RetryDelay, defaultRetryDelay)
	positive(&c.Audio.MaxBytes, defaultMaxBytes)
	positive(&c.Audio.MaxDuration, features.MaxDuration)
	c.Scoring.Thresholds = c.Scoring.Thresholds.Clone()
	c.Scoring.BaseRates = maps.Clone(c.Scoring.BaseRates)
	return c
}

// check returns ErrInvalid, with the fault, for options that are out of range.
func (o *Options) check() error {
	if r := o.Results.Retain; r != 0 && r < FeedbackWindow {
		return fmt.Errorf("%w: results are retained for %v, want 0 or %v and more: labels are accepted until then", ErrInvalid, r, FeedbackWindow)
	}
	if l := o.Audio.Limits; l.MinSpeech < 0 || l.MinSpeechDeepfake < 0 {
		return malformed("limits", fmt.Sprintf("Limits.MinSpeech is %v and MinSpeechDeepfake %v, want 0 for the default, or more", l.MinSpeech, l.MinSpeechDeepfake))
	}
	if err := o.Results.Notify.check(); err != nil {
		return err
	}
	return o.Scoring.check()
}

func (o *ScoringOptions) check() error {
	if err := o.Thresholds.Check(); err != nil {
		return malformed("thresholds", err.Error())
	}
	if p := o.DeepfakePrior; p != 0 && !(p > 0 && p < 1) {
		return malformed("deepfake_prior", fmt.Sprintf("DeepfakePrior is %v, want more than 0 and less than 1", p))
	}
	for c, rate := range o.BaseRates {
		if !(rate > 0 && rate < 1) || c != screen.Depression && c != screen.Anxiety {
			return malformed("base_rates", fmt.Sprintf("base rate of %v is %v, want more than 0 and less than 1 of depression or anxiety", c, rate))
		}
	}
	return checkSpeech(o.Speech)
}

// checkSpeech returns ErrInvalid for a way of speaking that is neither zero nor valid.
func checkSpeech(s screen.Speech) error {
	if s != 0 && !s.Valid() {
		return malformed("speech", fmt.Sprintf("there is no way of speaking %d", uint8(s)))
	}
	return nil
}

func def[T comparable](p *T, value T) {
	if *p == *new(T) {
		*p = value
	}
}

// positive sets what is not greater than zero to its default.
func positive[T int | int64 | time.Duration](p *T, value T) {
	if *p <= 0 {
		*p = value
	}
}

// base32Lower is the alphabet of RFC 4648 base 32 in lower case: identifiers
// that need no escape in a URL or a file name and survive case folding.
var base32Lower = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// newID returns 160 random bits as 32 characters.
func newID() string {
	var b [20]byte
	rand.Read(b[:]) // never fails: see package crypto/rand
	return base32Lower.EncodeToString(b[:])
}
