package voicescreen_test

import (
	"bytes"
	"testing"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/store"
)

// BenchmarkSubmit takes recordings of 30 s at 44.1 kHz, with the workers
// paused.
func BenchmarkSubmit(b *testing.B) {
	file := encodeWAV(44100, 1, make([]float64, 30*44100))
	eachStore(b, func(b *testing.B, st store.Store) {
		e, err := voicescreen.New(st, &voicescreen.Options{Workers: -1, Queue: voicescreen.QueueOptions{Limit: 1 << 30}})
		if err != nil {
			b.Fatal(err)
		}
		defer e.Close(b.Context())
		b.SetBytes(int64(len(file)))
		b.ReportAllocs()
		for b.Loop() {
			id, err := e.Initiate(b.Context(), voicescreen.InitiateRequest{UserID: "u", Consent: true})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := e.Submit(b.Context(), id, bytes.NewReader(file), nil); err != nil {
				b.Fatal(err)
			}
			if err := e.Delete(b.Context(), id); err != nil {
				b.Fatal(err)
			}
		}
	})
}
