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

// RateLimit bounds the requests of each key with a token bucket: it holds
// Burst requests when it is full, and gains PerSecond each second. A request
// that finds it empty is answered 429 with Retry-After. Every request with a
// valid key counts, also one that is refused for its path or its scope.
//
// Answers then carry the fields RateLimit-Policy and RateLimit of
// draft-ietf-httpapi-ratelimit-headers-10, where the quota q is Burst, the
// window w the seconds in which an empty bucket becomes full, r what is left
// and t the seconds until there is one more; and, as more clients read them,
// RateLimit-Limit, RateLimit-Remaining and RateLimit-Reset of draft 06, the
// last of which is the seconds until the bucket is full.
type RateLimit struct {
	// PerSecond is how many requests a key may make for long. Zero or less: any
	// number.
	PerSecond float64

	// Burst is how many it may make at once. Default: those of one second, and
	// at least 1.
	Burst int
}

// limiter is the buckets of all keys. Nil limits nothing. It is safe for
// concurrent use.
type limiter struct {
	rate  rate.Limit
	burst int
	now   func() time.Time

	mu      sync.Mutex               // protects buckets, and makes take one step
	buckets map[string]*rate.Limiter // by key ID: only of keys that exist, so their number is bounded
}

func newLimiter(r RateLimit) *limiter {
	if !(r.PerSecond > 0) || math.IsInf(r.PerSecond, 1) {
		return nil
	}
	burst := r.Burst
	if burst <= 0 {
		burst = int(min(max(1, math.Ceil(r.PerSecond)), math.MaxInt32))
	}
	return &limiter{rate: rate.Limit(r.PerSecond), burst: burst, now: time.Now, buckets: map[string]*rate.Limiter{}}
}

// take takes a token out of the bucket of a key. It returns the number of
// tokens left, and the time until there is another token: 0 if it took one.
func (l *limiter) take(key string) (left float64, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	b := l.buckets[key]
	if b == nil {
		b = rate.NewLimiter(l.rate, l.burst)
		l.buckets[key] = b
	}
	if !b.AllowN(now, 1) {
		left = b.TokensAt(now)
		return left, l.duration(1 - left)
	}
	return b.TokensAt(now), 0
}

// duration is the time in which so many tokens are added to a bucket, at most one
// year, which no client waits for.
func (l *limiter) duration(tokens float64) time.Duration {
	const year = 365 * 24 * time.Hour
	return time.Duration(min(tokens/float64(l.rate)*float64(time.Second), float64(year)))
}

// limit counts a request of a key, and answers it 429 if there were too many.
func (l *limiter) limit(c *call) error {
	if l == nil {
		return nil
	}
	left, wait := l.take(c.key.ID)
	burst := float64(l.burst)
	reset := seconds(l.duration(burst - left))
	h := c.w.Header()
	h.Set("RateLimit-Policy", fmt.Sprintf(`"key";q=%d;w=%d`, l.burst, max(1, seconds(l.duration(burst)))))
	h.Set("RateLimit", fmt.Sprintf(`"key";r=%.0f;t=%d`, math.Floor(left), seconds(l.duration(math.Floor(left)+1-left))))
	h.Set("RateLimit-Limit", strconv.Itoa(l.burst))
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
