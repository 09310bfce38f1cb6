package voicescreen

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"time"

	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// Options configures an Engine. Nil and zero fields mean the default.
type Options struct {
	// Workers is how many recordings are analysed at once. Each may hold as
	// much memory as its recording has samples; see AudioOptions.MaxDuration.
	// Default: runtime.GOMAXPROCS(0). Negative: none, this engine takes
	// recordings and another one on the same store analyses them.
	Workers int

	Queue   QueueOptions
	Audio   AudioOptions
	Results ResultOptions

	// Models replace the shipped scorers, and those that Calibrate learned, in
	// the categories that they name, which then do not learn. Where two name
	// one category the later wins.
	Models []models.Scorer

	Scoring ScoringOptions

	// Store are the options of the store that Open opens, its key among them;
	// New is given a store that is open.
	Store bolt.Options

	// NewID makes session identifiers, which must be unique and, as whoever
	// has one can ask for its result, not guessable. It must be safe for
	// concurrent use. Default: 160 random bits in base 32.
	NewID func() string

	// Logger takes what an operator must know: failed attempts, lost leases,
	// a store that does not answer. Lines hold session identifiers, and no
	// account, user, metadata, feature or score. Default: none is kept.
	Logger *slog.Logger

	// OnResult, if not nil, is called once for each session that this engine
	// brought to its end, after that is durable, by the worker that did it: a
	// slow OnResult holds a worker up. The account is the name given to
	// Engine.Account. A process that ends in between never calls it: what must
	// not be missed is for ResultOptions.Notify.
	OnResult func(ctx context.Context, account string, r *Result)

	clock func() time.Time // by which the engine paces itself; tests set it
}

// ResultOptions says what becomes of results.
type ResultOptions struct {
	// Retain is how long a session is kept after the last that happened to it:
	// it was initiated, got its result, or was given a label. Then it is
	// erased as Delete does, within SweepEvery, and so is one that was
	// initiated and never submitted; one whose recording waits or is being
	// analysed is not. A period that is changed holds for the sessions that
	// are there too. It must be 0, or FeedbackWindow or more. Default: 0, for
	// ever.
	Retain time.Duration

	// Erased, if not nil, is told which sessions Retain erased, a hundred at
	// most at a time, after that is durable; a session that was damaged has an
	// empty key. A process that ends in between does not tell. Before each time
	// it is called with none: while it then returns an error nothing is
	// erased. It is not called again before it has returned.
	Erased func(sessions []screen.SessionKey) error

	// Notify tells others of results, durably. Default: nobody is told.
	Notify NotifyOptions
}

// NotifyOptions configures who is told that a session got its result. Unlike
// OnResult, what is to be told is stored in the transaction that stores the
// result, and tried again until it is told. Both functions or neither are set;
// they must be safe for concurrent use, and Accounts quick: a transaction waits
// for it. Package httpadapter/webhook has them for webhooks.
type NotifyOptions struct {
	// Accounts returns the accounts that are to be told now. It is asked at
	// each result and at least every five times QueueOptions.Poll. Results
	// from before an account was among them are not told.
	Accounts func() []string

	// Send tells of one result. Its ctx ends after SendTimeout. If the error
	// is nil the notice is done with; otherwise it is sent again, at most ten
	// times in all, after 5 s, 5 min, 30 min, and 2, 5, 10, 14, 20 and 24
	// hours, a fifth more or less. A process that ends while it sends, or right
	// after, counts as an attempt that failed, so that what was told may be
	// told once more: receivers know a notice by its session. Each account has at most four calls under way, which hold up
	// neither analyses nor other accounts. While an account's calls fail its
	// other notices wait, for a minute at most.
	Send func(ctx context.Context, n Notice) error
}

// ScoringOptions say what the probabilities of the models mean here.
type ScoringOptions struct {
	// Thresholds replace the models' own, account by account. They are applied
	// to the probability that DeepfakePrior and BaseRates make: whoever changes
	// those chooses them anew. New copies them.
	Thresholds screen.AccountThresholds

	// DeepfakePrior is the share of synthetic recordings among those that are
	// scored here, between 0 and 1, by which the probabilities of deepfake
	// scores are restated before Thresholds are applied; see
	// screen.Score.SetPrior. Default: that of the model, which is 0.5 of the
	// shipped one.
	DeepfakePrior float64

	// BaseRates are the shares of people with a PHQ-9 or a GAD-7 of 10 or
	// more among those who are scored here, each between 0 and 1, by which the
	// probabilities of a model are restated before Thresholds are applied; see
	// models.Bayes.WithBaseRate. A model that learned from labels has its base
	// rate from them. Default: that of the shipped models, 0.080 of depression
	// and 0.061 of anxiety, which are US adults.
	BaseRates map[screen.Category]float64

	// FixedGain is SubmitOptions.FixedGain of every session.
	FixedGain bool

	// Baseline is SubmitOptions.Baseline of every session.
	Baseline bool
}

// check returns an InvalidError, with the fault, for options that cannot be
// meant.
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
	return nil
}

// QueueOptions configures what waits and how it is retried.
type QueueOptions struct {
	// Limit is how many recordings may wait or be in work; a submission beyond
	// it is ErrBusy. Engines that share a store do not see each other's uploads
	// under way: together they may take one recording more for each of them.
	// Default: 1000.
	Limit int

	// Lease is how long a worker that was not heard of keeps a session. A
	// living worker renews its lease every third of it. Default: 15 s.
	Lease time.Duration

	// Poll is how often the store is asked for work and for results that this
	// engine was not told of: after a restart, or from another process.
	// Default: 1 s.
	Poll time.Duration

	// Attempts is how often an analysis is tried before the session fails with
	// internal_error. Default: 3.
	Attempts int

	// RetryDelay is the pause before the second attempt; before each later one
	// it is twice as long. Default: 1 s.
	RetryDelay time.Duration
}

// AudioOptions says which recordings are taken and which are good enough for
// a score.
type AudioOptions struct {
	// MaxBytes is the size of the largest file that Submit takes. Default:
	// 100 MiB, which is 19 minutes of 16-bit mono at 44.1 kHz.
	MaxBytes int64

	// MaxDuration is how much of a recording is analysed, from its beginning,
	// which bounds the memory of a worker: its peak was measured as 62 MB a
	// minute at 44.1 kHz, 65 at 48 kHz. Of recordings above 48 kHz as many
	// samples are taken as there are in this time at 48 kHz, so less time.
	// Default: 10 minutes.
	MaxDuration time.Duration

	// MinSpeech is the least speech, pauses not counted, for a score of
	// depression or anxiety. Default: 30 s.
	MinSpeech time.Duration

	// MinSpeechDeepfake is the least speech for a deepfake score. Default: 2 s.
	MinSpeechDeepfake time.Duration

	// MinSNR is the least level of speech over noise, in dB, as
	// dsp.Quality.SNR. Default: 0, speech no louder than the noise: features
	// of such a recording describe the noise. Negative infinity takes all.
	MinSNR float64

	// MaxClipped is the largest share of clipped samples, as
	// dsp.Quality.Clipped. Default: 0.1, chosen far above the few per mille of
	// a recording that is set a little too loud. 1 takes all.
	MaxClipped float64

	// MinBandwidth is the least bandwidth in Hz, as dsp.Quality.Bandwidth.
	// Default: 2000, chosen well below the 3400 of a telephone and above what
	// leaves no second formant. Negative takes all.
	MinBandwidth float64
}

const (
	defaultQueueLimit  = 1000             // chosen: a quarter of an hour for two workers at two seconds each
	defaultLease       = 15 * time.Second // chosen: several times the longest pause of a busy machine
	defaultPoll        = time.Second      // chosen: a waiting caller does not notice it, nor does the disk
	defaultAttempts    = 3                // the service ends a session after three failures
	defaultRetryDelay  = time.Second      // chosen: longer than a disk's hiccup
	defaultMaxBytes    = 100 << 20        // decided with the interface of the service
	defaultMaxDuration = 10 * time.Minute // chosen: longer than prompted speech, at 0.65 GB for each worker
	defaultMinSpeech   = 30 * time.Second // decided with the interface of the service
	defaultMinDeepfake = 2 * time.Second  // decided with the interface of the service
	defaultMaxClipped  = 0.1              // see AudioOptions
	defaultMinBand     = 2000.0           // Hz, see AudioOptions
)

// withDefaults returns a copy of o, which may be nil, without zero fields.
func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	def(&c.Workers, runtime.GOMAXPROCS(0))
	c.Workers = max(c.Workers, 0)
	if c.clock == nil {
		c.clock = time.Now
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
	positive(&c.Audio.MaxDuration, defaultMaxDuration)
	positive(&c.Audio.MinSpeech, defaultMinSpeech)
	positive(&c.Audio.MinSpeechDeepfake, defaultMinDeepfake)
	def(&c.Audio.MaxClipped, defaultMaxClipped)
	def(&c.Audio.MinBandwidth, defaultMinBand)
	if math.IsNaN(c.Audio.MinSNR) {
		c.Audio.MinSNR = 0
	}
	return c
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
