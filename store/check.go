package store

import (
	"fmt"
	"math"
	"time"

	"github.com/voicescreen/voicescreen/screen"
)

// The times that can be stored: from firstTime, before endOfTimes.
var (
	firstTime  = time.Unix(0, 0).UTC()
	endOfTimes = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
)

// Check returns ErrInvalid, wrapped, if s cannot be stored in every store:
//   - a text is not UTF-8 without NUL, or longer than package screen allows; the
//     ID is empty;
//   - the status is invalid, or another enumeration is neither zero nor valid;
//   - a number is not finite; NaN, which means undefined, is allowed in Low and High
//     of a score, Value of a contribution and Probability of a segment;
//   - a length of time is negative;
//   - a count is negative or above 2³¹−1, or the token above 2⁶³−1;
//   - a time is not zero and lies outside the years 1970 to 9999, or is not in
//     whole microseconds, or CreatedAt is zero;
//   - a list has more elements than package screen allows.
//
// Implementations call it after Normalize and before they store a record. Of the
// record, the error contains only numbers.
func (s *Session) Check() error {
	var c checker
	c.session(s)
	return c.err
}

// checker keeps the first fault of a record.
type checker struct{ err error }

func (c *checker) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
	}
}

func (c *checker) session(s *Session) {
	if s.ID == "" {
		c.fail("the ID is empty")
	}
	if !s.Status.Valid() {
		c.fail("%d is an invalid status", uint8(s.Status))
	}
	if s.CreatedAt.IsZero() {
		c.fail("the session has no CreatedAt")
	}
	c.text("the ID", s.ID, screen.MaxID)
	c.text("the account", s.Account, screen.MaxAccount)
	c.text("the user ID", s.UserID, screen.MaxUserID)
	c.text("the reference to audio", s.Audio, screen.MaxName)
	c.text("the owner", s.Owner, screen.MaxName)
	kind(c, "product", s.Product)
	if s.Token > math.MaxInt64 {
		c.fail("the token is %d, want at most %d", s.Token, uint64(math.MaxInt64))
	}
	c.count("the channel", s.Channel)
	c.seconds("the duration", s.Duration)
	c.seconds("what was analysed", s.Analysed)
	kind(c, "way of speaking", s.Speech)
	c.count("the number of attempts", s.Attempts)
	c.count("the number of notices", s.Notices)
	for _, t := range s.times() {
		c.time(*t)
	}
	c.metadata(&s.Metadata)
	c.labels(&s.Labels)
	c.length("scores", len(s.Scores), screen.MaxScores)
	for i := range s.Scores {
		c.score(&s.Scores[i])
	}
	c.numbers("features", s.Features)
	if f := s.Failure; f != nil {
		c.text("a failure code", f.Code, screen.MaxName)
		c.text("a failure message", f.Message, screen.MaxMessage)
		c.numbers("failure data", f.Data)
	}
}

func (c *checker) metadata(m *screen.Metadata) {
	c.count("the age", m.Age)
	c.count("the weight", m.Weight)
	c.text("the ZIP code", m.Zipcode, screen.MaxName)
	kind(c, "gender", m.Gender)
	kind(c, "race", m.Race)
	kind(c, "ethnicity", m.Ethnicity)
}

func (c *checker) labels(l *screen.Labels) {
	kind(c, "interview result", l.Depression)
	for _, items := range [][]int{l.PHQ2, l.PHQ9, l.GAD7} {
		c.length("questionnaire items", len(items), screen.MaxItems)
		for _, item := range items {
			c.count("a questionnaire item", item)
		}
	}
}

func (c *checker) score(s *screen.Score) {
	kind(c, "category", s.Category)
	kind(c, "decision", s.Decision)
	c.text("a model's name", s.Model, screen.MaxName)
	c.text("a model's version", s.Version, screen.MaxName)
	c.count("the number of earlier recordings", s.Baseline)
	kind(c, "severity", s.Severity)
	c.finite("a score", s.Prior, s.Probability, s.Coverage, s.Band.Low, s.Band.High)
	c.finiteOrNaN("the interval of a score", s.Low, s.High)
	c.length("contributions", len(s.Contributions), screen.MaxFeatures)
	for i := range s.Contributions {
		k := &s.Contributions[i]
		c.text("a feature's name", k.Feature, screen.MaxName)
		c.text("a unit", k.Unit, screen.MaxName)
		c.finite("a contribution", k.Logits, float64(k.Deviation))
		c.finiteOrNaN("a contribution", k.Value)
	}
	c.length("segments", len(s.Segments), screen.MaxSegments)
	for i := range s.Segments {
		c.finite("a segment", s.Segments[i].Start, s.Segments[i].End)
		c.finiteOrNaN("a segment", s.Segments[i].Probability)
	}
	c.length("cautions", len(s.Cautions), screen.MaxScores)
	for _, caution := range s.Cautions {
		kind(c, "caution", caution)
	}
}

// numbers checks named numbers.
func (c *checker) numbers(what string, m map[string]float64) {
	c.length(what, len(m), screen.MaxFeatures)
	for name, x := range m {
		c.text("the name of a number", name, screen.MaxName)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			c.fail("a number of %s is not finite", what)
		}
	}
}

func (c *checker) text(what, s string, most int) {
	switch {
	case s == "":
	case len(s) > most:
		c.fail("%s has %d bytes, want at most %d", what, len(s), most)
	case !isText(s):
		c.fail("%s is not UTF-8 without NUL", what)
	}
}

func (c *checker) length(what string, n, most int) {
	if n > most {
		c.fail("%d %s, want at most %d", n, what, most)
	}
}

func (c *checker) count(what string, n int) {
	if n < 0 || n > screen.MaxCount {
		c.fail("%s is not from 0 to %d", what, screen.MaxCount)
	}
}

func (c *checker) seconds(what string, x float64) {
	if !(x >= 0) || math.IsInf(x, 1) {
		c.fail("%s is %v s, want a finite number from 0 on", what, x)
	}
}

// kind checks a value of an enumeration. Zero is valid.
func kind[T interface {
	~uint8
	Valid() bool
}](c *checker, what string, v T) {
	if v != 0 && !v.Valid() {
		c.fail("%d is an invalid %s", uint8(v), what)
	}
}

func (c *checker) finite(what string, numbers ...float64) {
	for _, x := range numbers {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			c.fail("a number of %s is not finite", what)
		}
	}
}

func (c *checker) finiteOrNaN(what string, numbers ...float64) {
	for _, x := range numbers {
		if math.IsInf(x, 0) {
			c.fail("a number of %s is infinite", what)
		}
	}
}

func (c *checker) time(t time.Time) {
	switch {
	case t.IsZero():
	case t.Before(firstTime) || !t.Before(endOfTimes):
		c.fail("a time lies in the year %d, want 1970 to 9999", t.UTC().Year())
	case t.Nanosecond()%int(time.Microsecond) != 0:
		c.fail("a time is not in whole microseconds")
	}
}
