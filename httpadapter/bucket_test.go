package httpadapter

import (
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Concurrent callers get as many requests as the bucket holds.
func TestRateLimitConcurrent(t *testing.T) {
	l := newLimiter(RateLimit{PerSecond: 1e-9, Burst: 100})
	var taken atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if _, wait := l.take("key", l.share()); wait == 0 {
					taken.Add(1)
				} else if wait > 366*24*time.Hour {
					t.Errorf("got a wait of %v", wait)
				}
			}
		})
	}
	wg.Wait()
	if got := taken.Load(); got != 100 {
		t.Errorf("got %d requests through, want 100", got)
	}
}

func TestRateLimitDefaults(t *testing.T) {
	for _, off := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if newLimiter(RateLimit{PerSecond: off}) != nil {
			t.Errorf("%g requests a second: got a limit, want none", off)
		}
	}
	for rate, burst := range map[float64]int{0.1: 1, 2.5: 3, 1000: 1000, 1e300: math.MaxInt32} {
		if got := newLimiter(RateLimit{PerSecond: rate}).burst; got != burst {
			t.Errorf("%g requests a second: got a burst of %d, want %d", rate, got, burst)
		}
	}
}
