package httpadapter

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"
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
	rate  float64 // requests a second
	burst float64
	now   func() time.Time

	mu      sync.Mutex         // protects buckets
	buckets map[string]*bucket // by key ID: only of keys that exist, so their number is bounded
}

// bucket is what a key may still do.
type bucket struct {
	tokens float64
	at     time.Time // when tokens was right
}

func newLimiter(r RateLimit) *limiter {
	if !(r.PerSecond > 0) || math.IsInf(r.PerSecond, 1) {
		return nil
	}
	burst := float64(r.Burst)
	if r.Burst <= 0 {
		burst = max(1, math.Ceil(r.PerSecond))
	}
	return &limiter{rate: r.PerSecond, burst: burst, now: time.Now, buckets: map[string]*bucket{}}
}

// take takes a token out of the bucket of a key. It returns what is left
// there, and how long it takes until there is another token: 0 if it took one.
func (l *limiter) take(key string) (left float64, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	b := l.buckets[key]
	if b == nil {
		b = &bucket{tokens: l.burst, at: now}
		l.buckets[key] = b
	}
	if gone := now.Sub(b.at).Seconds(); gone > 0 {
		b.tokens = min(l.burst, b.tokens+gone*l.rate)
		b.at = now
	}
	if b.tokens < 1 {
		return b.tokens, l.duration(1 - b.tokens)
	}
	b.tokens--
	return b.tokens, 0
}

// duration is how long it takes for tokens to come in. More than a year is
// one year, which no client waits for.
func (l *limiter) duration(tokens float64) time.Duration {
	const year = 365 * 24 * time.Hour
	return time.Duration(min(tokens/l.rate*float64(time.Second), float64(year)))
}

// limit counts a request of a key, and answers it 429 if there were too many.
func (l *limiter) limit(c *call) error {
	if l == nil {
		return nil
	}
	left, wait := l.take(c.key.ID)
	reset := seconds(l.duration(l.burst - left))
	h := c.w.Header()
	h.Set("RateLimit-Policy", fmt.Sprintf(`"key";q=%.0f;w=%d`, l.burst, max(1, seconds(l.duration(l.burst)))))
	h.Set("RateLimit", fmt.Sprintf(`"key";r=%.0f;t=%d`, math.Floor(left), seconds(l.duration(math.Floor(left)+1-left))))
	h.Set("RateLimit-Limit", strconv.FormatFloat(l.burst, 'f', 0, 64))
	h.Set("RateLimit-Remaining", strconv.FormatFloat(math.Floor(left), 'f', 0, 64))
	h.Set("RateLimit-Reset", strconv.Itoa(reset))
	if wait == 0 {
		return nil
	}
	a := refuse(http.StatusTooManyRequests, "too many requests with this API key")
	a.header = map[string]string{"Retry-After": strconv.Itoa(max(1, seconds(wait)))}
	return a
}

// seconds rounds up: who waits that long has waited long enough.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }
