package webhook

import (
	"maps"
	"testing"
)

// FuzzParseDeliveries wants what is read to be written and read as it was.
func FuzzParseDeliveries(f *testing.F) {
	f.Add([]byte(`{"format":"voicescreen-webhook-deliveries/1","accounts":[{"account":"a","delivered_at":"2026-01-02T03:04:05Z",` +
		`"failed_at":"2026-01-02T03:04:06Z","reason":"the receiver answered with status 503","waiting":2,"counted_at":"2026-01-02T03:04:07Z"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := parseDeliveries(data)
		if err != nil {
			return
		}
		for account, d := range all {
			if d.Account != account || d.Waiting < 0 || hasControl(d.Reason) {
				t.Errorf("record %q is not valid: %+v", account, d)
			}
		}
		written, err := deliveriesText(all)
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseDeliveries(written)
		if err != nil {
			t.Fatalf("what was read and written cannot be read: %v", err)
		}
		same := func(a, b Delivery) bool {
			return a.DeliveredAt.Equal(b.DeliveredAt) && a.FailedAt.Equal(b.FailedAt) && a.CountedAt.Equal(b.CountedAt) &&
				a.Reason == b.Reason && a.Waiting == b.Waiting
		}
		if !maps.EqualFunc(all, again, same) {
			t.Errorf("got %+v, want %+v", again, all)
		}
	})
}
