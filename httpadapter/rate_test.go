package httpadapter_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicescreen/voicescreen/httpadapter"
)

func TestRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServiceWith(t, nil, &httpadapter.Options{Rate: httpadapter.RateLimit{PerSecond: 0.5, Burst: 3}})
		other := s.newKey("other", httpadapter.ScopeRead)
		ask := request{method: "GET", path: "/v2/predict/users/p1"}
		for left := 2; left >= 0; left-- {
			w := s.do(ask)
			h := w.Header()
			if w.Code != http.StatusOK || h.Get("RateLimit-Remaining") != strconv.Itoa(left) || h.Get("RateLimit-Limit") != "3" ||
				h.Get("RateLimit-Reset") != strconv.Itoa(2*(3-left)) || h.Get("RateLimit-Policy") != `"key";q=3;w=6` ||
				h.Get("RateLimit") != `"key";r=`+strconv.Itoa(left)+`;t=2` {
				t.Errorf("with %d left: got %d %v", left, w.Code, h)
			}
		}
		time.Sleep(500 * time.Millisecond)
		w := s.do(ask)
		if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "2" || w.Header().Get("RateLimit-Remaining") != "0" {
			t.Errorf("got %d %v, want 429 and to wait for 2 s", w.Code, w.Header())
		}
		// Another key and calls without a key are not affected.
		s.want(http.StatusOK, request{method: "GET", path: "/healthz"})
		if w := s.do(request{method: "GET", path: "/v2/predict/users/p1", key: other}); w.Code != http.StatusOK {
			t.Errorf("another key: got %d, want 200", w.Code)
		}
		// A request with an invalid key does not count.
		s.want(http.StatusForbidden, request{method: "GET", path: "/v2/predict/users/p1", key: "none"})
		time.Sleep(2 * time.Second)
		s.want(http.StatusOK, ask)
		s.want(http.StatusTooManyRequests, ask)
		s.want(http.StatusTooManyRequests, form("POST", "/v2/prediction/", field{"session_id", "x"}, field{"file", "x"}))
		time.Sleep(time.Hour) // the bucket holds no more than the burst
		for range 3 {
			s.want(http.StatusOK, ask)
		}
		s.want(http.StatusTooManyRequests, ask)
	})
}

// A request without the scope or with an unknown path or method counts like any
// other: it is logged and recorded in the audit log too.
func TestRateLimitCountsWhatIsRefused(t *testing.T) {
	for _, c := range []struct {
		ask  request
		want int
	}{
		{request{method: "GET", path: "/v2/nothing"}, http.StatusNotFound},
		{request{method: "PUT", path: "/v2/initiate"}, http.StatusMethodNotAllowed},
		{request{method: "DELETE", path: "/v2/users/p1"}, http.StatusUnauthorized},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newServiceWith(t, nil, &httpadapter.Options{Rate: httpadapter.RateLimit{PerSecond: 1, Burst: 2}})
			c.ask.key = s.newKey("clinic", httpadapter.ScopeRead)
			for range 2 {
				s.want(c.want, c.ask)
			}
			s.want(http.StatusTooManyRequests, c.ask)
		})
	}
}

func TestNoRateLimitByDefault(t *testing.T) {
	s := newService(t)
	for range 50 {
		w := s.do(request{method: "GET", path: "/v2/predict/users/p1"})
		for name := range w.Header() {
			if strings.HasPrefix(name, "Ratelimit") || w.Code != http.StatusOK {
				t.Fatalf("got %d and %s, want no limit unless one is asked for", w.Code, name)
			}
		}
	}
}
