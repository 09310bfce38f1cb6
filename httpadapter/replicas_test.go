package httpadapter_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/store/memory"
)

// Servers that share a store know of each other within seconds, forget who ended and
// who was killed, and keep to one limit together.
func TestReplicasShareARateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := memory.New(nil)
		var servers [3]*httpadapter.Replicas
		var stops [3]context.CancelFunc
		var services [3]*service
		for i := range servers {
			r, err := httpadapter.StoredReplicas(t.Context(), st)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Count(); got != i+1 {
				t.Errorf("server %d at its start: got %d, want %d", i, got, i+1)
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			go r.Run(ctx)
			servers[i], stops[i] = r, stop
			services[i] = newServiceWith(t, nil, &httpadapter.Options{Rate: httpadapter.RateLimit{PerSecond: 9, Burst: 30, Replicas: r.Count}})
		}
		want := func(when string, n int, live ...int) {
			t.Helper()
			for _, i := range live {
				if got := servers[i].Count(); got != n {
					t.Errorf("%s: server %d counts %d, want %d", when, i, got, n)
				}
			}
		}
		passed := func(live ...int) (n int) { // at one moment
			for _, i := range live {
				for range 100 {
					if services[i].do(request{method: "GET", path: "/v2/predict/users/p1"}).Code == http.StatusOK {
						n++
					}
				}
			}
			return n
		}
		time.Sleep(4 * time.Second)
		want("after some seconds", 3, 0, 1, 2)
		if n := passed(0, 1, 2); n != 30 {
			t.Errorf("got %d requests through, want the burst of 30 over all servers", n)
		}
		time.Sleep(2 * time.Second)
		if n := passed(0, 1, 2); n != 18 {
			t.Errorf("got %d requests through after 2 s, want 18", n)
		}
		stops[2]()
		time.Sleep(4 * time.Second)
		want("after one has ended", 2, 0, 1)
		passed(0, 1)
		time.Sleep(2 * time.Second)
		if n := passed(0, 1); n != 18 {
			t.Errorf("got %d requests through two servers after 2 s, want 18", n)
		}
		for range 2 { // one that was killed, and whose number stays
			if _, err := httpadapter.StoredReplicas(t.Context(), st); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(4 * time.Second)
		want("with two more", 4, 0, 1)
		time.Sleep(20 * time.Second)
		want("after two were killed", 2, 0, 1)
		stops[0]()
		stops[1]()
		synctest.Wait()
		if text, _, err := st.Document(t.Context(), "replicas"); string(text) != "{}" || err != nil {
			t.Errorf("got document %s and error %v, want nobody", text, err)
		}
	})
}

func TestReplicasRefuseAMalformedDocument(t *testing.T) {
	st := memory.New(nil)
	if _, err := st.PutDocument(t.Context(), "replicas", 0, []byte(`{"a":-1}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := httpadapter.StoredReplicas(t.Context(), st); err == nil {
		t.Error("got no error")
	}
}
