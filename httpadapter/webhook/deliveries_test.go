package webhook_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/httpadapter/webhook"
	"github.com/voicescreen/voicescreen/store/memory"
)

// fileReceiver is a receiver whose endpoints stand in a file.
func fileReceiver(t *testing.T) (r *receiver, path string) {
	t.Helper()
	r = newReceiver(t)
	var now *time.Time
	r.endpoints, path, now = opened(t)
	*now = time.Now().Add(-time.Hour)
	mustSet(t, r.endpoints, "clinic", "https://hooks.example.com/canary")
	mustSet(t, r.endpoints, "quiet", "https://hooks.example.com/canary")
	r.sender = webhook.New(r.endpoints, nil)
	r.reach(t, r.trust())
	return r, path
}

// deliveries are those that another process reads.
func deliveriesIn(t *testing.T, path string) map[string]webhook.Delivery {
	t.Helper()
	e, err := webhook.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	list, err := e.Deliveries()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]webhook.Delivery{}
	for _, d := range list {
		all[d.Account] = d
	}
	return all
}

func TestDeliveriesAreStored(t *testing.T) {
	r, path := fileReceiver(t)
	if got := deliveriesIn(t, path)["clinic"]; got != (webhook.Delivery{Account: "clinic"}) || got.Failing() {
		t.Errorf("got %+v before the first notice, want nothing", got)
	}
	if err := r.sender.Send(t.Context(), notice()); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(soon); deliveriesIn(t, path)["clinic"].DeliveredAt.IsZero(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the delivery is not written by itself")
		}
	}
	r.set(http.StatusServiceUnavailable, nil)
	if err := r.sender.Send(t.Context(), notice()); err == nil {
		t.Fatal("503 was taken for a delivery")
	}
	r.sender.Close()
	all := deliveriesIn(t, path)
	got := all["clinic"]
	if age := time.Since(got.FailedAt); age < 0 || age > soon || got.Reason != "the receiver answered with status 503" || got.DeliveredAt.IsZero() || !got.Failing() {
		t.Errorf("got %+v, want the success and the failure after it, and why", got)
	}
	if all["quiet"] != (webhook.Delivery{Account: "quiet"}) {
		t.Errorf("got %+v of an account without notices", all["quiet"])
	}
	data, err := os.ReadFile(path + ".deliveries")
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"canary", "whsec", "session.1", "hooks"} {
		if strings.Contains(string(data), secret) {
			t.Errorf("the file holds %q: %s", secret, data)
		}
	}

	mustSet(t, r.endpoints, "clinic", urlB) // an hour ago by its clock: everything stays
	if got := deliveriesIn(t, path)["clinic"]; !got.Failing() {
		t.Errorf("got %+v, want what came after the last Set", got)
	}
	webhook.SetNow(r.endpoints, func() time.Time { return time.Now().Add(time.Hour) })
	mustSet(t, r.endpoints, "clinic", urlA)
	if got := deliveriesIn(t, path)["clinic"]; !got.FailedAt.IsZero() || !got.DeliveredAt.IsZero() || got.Reason != "" {
		t.Errorf("got %+v of a former address, want nothing", got)
	}
	if err := r.endpoints.Remove("clinic"); err != nil {
		t.Fatal(err)
	}
	if got := deliveriesIn(t, path); len(got) != 1 {
		t.Errorf("got %+v, want no removed account", got)
	}
}

// What Close of an engine interrupts says nothing about the receiver.
func TestACallThatIsInterruptedIsNoFailure(t *testing.T) {
	r, path := fileReceiver(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.sender.Send(ctx, notice()); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	r.sender.Close()
	if got := deliveriesIn(t, path)["clinic"]; !got.FailedAt.IsZero() {
		t.Errorf("got %+v, want no failure", got)
	}
}

func TestADamagedFileOfDeliveriesHoldsNothingUp(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":  "hello",
		"format":   `{"format":"voicescreen-webhooks/1","accounts":[]}`,
		"unknown":  `{"format":"voicescreen-webhook-deliveries/1","accounts":[{"account":"a","waiting":1,"more":1}]}`,
		"twice":    `{"format":"voicescreen-webhook-deliveries/1","accounts":[{"account":"a","waiting":1},{"account":"a","waiting":1}]}`,
		"number":   `{"format":"voicescreen-webhook-deliveries/1","accounts":[{"account":"a","waiting":-1}]}`,
		"terminal": `{"format":"voicescreen-webhook-deliveries/1","accounts":[{"account":"a","reason":"\u001b[2J","waiting":1}]}`,
	} {
		r, path := fileReceiver(t)
		if err := os.WriteFile(path+".deliveries", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := r.sender.Send(t.Context(), notice()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		r.sender.Close()
		if _, err := r.endpoints.Deliveries(); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got error %v, want one that names the file", name, err)
		}
		if list, err := r.endpoints.List(); err != nil || len(list) != 2 {
			t.Errorf("%s: got endpoints %v and error %v", name, list, err)
		}
	}
}

func TestWatchCountsWhatWaits(t *testing.T) {
	r, path := fileReceiver(t)
	var mu sync.Mutex // protects counts
	counts := map[string]int{"clinic": 3, "nobody": 9}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.sender.Watch(ctx, func(context.Context) (map[string]int, error) {
			mu.Lock()
			defer mu.Unlock()
			return maps.Clone(counts), nil
		})
	}()
	wait := func(n int) {
		t.Helper()
		for end := time.Now().Add(soon); ; time.Sleep(10 * time.Millisecond) {
			got := deliveriesIn(t, path)
			if d := got["clinic"]; d.Waiting == n && !d.CountedAt.IsZero() && got["quiet"].Waiting == 0 && len(got) == 2 {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("got %+v, want %d waiting", got, n)
			}
		}
	}
	wait(3)
	mu.Lock()
	counts = map[string]int{}
	mu.Unlock()
	wait(0)
	mu.Lock()
	counts = map[string]int{"clinic": 1}
	mu.Unlock()
	cancel()
	<-ended
	r.sender.Close()
	if got := deliveriesIn(t, path)["clinic"]; got.Waiting != 1 {
		t.Errorf("got %+v at the end, want the number of that time", got)
	}
	r.sender.Watch(t.Context(), func(context.Context) (map[string]int, error) { return nil, errors.ErrUnsupported }) // returns
	r.sender.Close()
}

func TestReplicasAddTheirDeliveries(t *testing.T) {
	st := memory.New(nil)
	var senders []*webhook.Sender
	var receivers []*receiver
	for range 2 {
		e, err := webhook.Stored(t.Context(), st)
		if err != nil {
			t.Fatal(err)
		}
		r := newReceiver(t)
		r.endpoints = e
		r.sender = webhook.New(e, nil)
		r.reach(t, r.trust())
		senders, receivers = append(senders, r.sender), append(receivers, r)
	}
	mustSet(t, receivers[0].endpoints, "clinic", urlA)
	for end := time.Now().Add(soon); !slices.Equal(receivers[1].endpoints.Accounts(), []string{"clinic"}); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the other replica does not see the endpoint")
		}
	}
	receivers[1].set(http.StatusInternalServerError, nil)
	for _, s := range senders {
		_ = s.Send(t.Context(), notice())
		s.Close()
	}
	for i, r := range receivers {
		list, err := r.endpoints.Deliveries()
		if err != nil || len(list) != 1 || list[0].DeliveredAt.IsZero() || list[0].FailedAt.IsZero() {
			t.Errorf("replica %d: got %+v and error %v, want the success of one and the failure of the other", i, list, err)
		}
	}
}
