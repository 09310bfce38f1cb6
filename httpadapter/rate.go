package httpadapter

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// RateLimit bounds the requests of each key with a token bucket. The full bucket
// holds Burst requests, and PerSecond requests are added each second. With an
// empty bucket the request is answered 429 with Retry-After. Every request with a
// valid key counts, also one with an unknown path or without the scope.
//
// Answers then carry the fields RateLimit-Policy and RateLimit of
// draft-ietf-httpapi-ratelimit-headers-10: the quota q is Burst, the window w is
// the time in which an empty bucket becomes full, r is the number of requests left
// and t is the time until the next request is added, both times in seconds. For
// clients of draft 06 they carry RateLimit-Limit, RateLimit-Remaining and
// RateLimit-Reset too; the last is the time until the bucket is full, in seconds.
type RateLimit struct {
	// PerSecond is the average number of requests a second of a key. Zero or
	// less: no limit.
	PerSecond float64

	// Burst is the maximum number of requests at once. Default: PerSecond rounded
	// up.
	Burst int

	// Replicas says how many servers there are whose clients share the limit, such as
	// Replicas.Count: each grants its share. Over all servers a key then makes at most
	// PerSecond requests on average, and at once at most Burst and one more for each
	// server; for some seconds after a server starts or ends, at most twice as many. A
	// key whose requests all come to one of n servers makes only one n-th. Default: 1.
	Replicas func() int
}

// limiter holds the buckets of all keys. Nil is no limit. It is safe for
// concurrent use.
type limiter struct {
	rate     rate.Limit
	burst    int
	replicas func() int // nil for one
	now      func() time.Time

	mu      sync.Mutex               // protects buckets, and makes take atomic
	buckets map[string]*rate.Limiter // by key ID: only of valid keys, so their number is bounded
}

func newLimiter(r RateLimit) *limiter {
	if !(r.PerSecond > 0) || math.IsInf(r.PerSecond, 1) {
		return nil
	}
	burst := r.Burst
	if burst <= 0 {
		burst = int(min(max(1, math.Ceil(r.PerSecond)), math.MaxInt32))
	}
	return &limiter{rate: rate.Limit(r.PerSecond), burst: burst, replicas: r.Replicas, now: time.Now, buckets: map[string]*rate.Limiter{}}
}

// share is what one server grants of a limit.
type share struct {
	rate  rate.Limit
	burst int
}

// share returns the share of this server now.
func (l *limiter) share() share {
	n := 1
	if l.replicas != nil {
		n = max(1, l.replicas())
	}
	return share{l.rate / rate.Limit(n), (l.burst-1)/n + 1}
}

// take takes a token out of the bucket of a key. It returns the number of
// tokens left, and the time until there is another token: 0 if it took one.
func (l *limiter) take(key string, s share) (left float64, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	b := l.buckets[key]
	if b == nil {
		b = rate.NewLimiter(s.rate, s.burst)
		l.buckets[key] = b
	}
	if b.Limit() != s.rate || b.Burst() != s.burst { // the number of servers has changed
		b.SetLimitAt(now, s.rate)
		b.SetBurstAt(now, s.burst)
	}
	if !b.AllowN(now, 1) {
		left = b.TokensAt(now)
		return left, s.duration(1 - left)
	}
	return b.TokensAt(now), 0
}

// duration is the time in which so many tokens are added to a bucket, at most one
// year, which no client waits for.
func (s share) duration(tokens float64) time.Duration {
	const year = 365 * 24 * time.Hour
	return time.Duration(min(tokens/float64(s.rate)*float64(time.Second), float64(year)))
}

// limit counts a request of a key and sets the RateLimit fields. With an empty
// bucket it returns the answer 429.
func (l *limiter) limit(c *call) error {
	if l == nil {
		return nil
	}
	s := l.share()
	left, wait := l.take(c.caller.ID, s)
	burst := float64(s.burst)
	reset := seconds(s.duration(burst - left))
	h := c.w.Header()
	h.Set("RateLimit-Policy", fmt.Sprintf(`"key";q=%d;w=%d`, s.burst, max(1, seconds(s.duration(burst)))))
	h.Set("RateLimit", fmt.Sprintf(`"key";r=%.0f;t=%d`, math.Floor(left), seconds(s.duration(math.Floor(left)+1-left))))
	h.Set("RateLimit-Limit", strconv.Itoa(s.burst))
	h.Set("RateLimit-Remaining", strconv.FormatFloat(math.Floor(left), 'f', 0, 64))
	h.Set("RateLimit-Reset", strconv.Itoa(reset))
	if wait == 0 {
		return nil
	}
	a := refuse(http.StatusTooManyRequests, "too many requests with this API key")
	a.header = map[string]string{"Retry-After": strconv.Itoa(max(1, seconds(wait)))}
	return a
}

// seconds rounds up, so that a client that waits as long has waited enough.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }
