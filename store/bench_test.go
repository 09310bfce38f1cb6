package store_test

import (
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// BenchmarkCodec encodes and decodes a queued session, and a session with a result of
// 100 features and two scores.
func BenchmarkCodec(b *testing.B) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 5000, time.UTC)
	waiting := &store.Session{
		Account: "clinic", ID: "abcdefghijklmnopqrstuvwxyz234567", UserID: "patient-17", Status: screen.StatusProcessing,
		CreatedAt: now, UpdatedAt: now, SubmittedAt: now, Due: now, Audio: "AAAAAAAAAAAAAAAAAAAAAAAAAA", Product: screen.DepressionAnxiety,
	}
	result := waiting.Clone()
	result.Features = map[string]float64{}
	for i := range 100 {
		result.Features["feature.mean."+string(rune('a'+i%26))+string(rune('a'+i/26))] = 1 / float64(i+3)
	}
	result.Scores = []screen.Score{{Category: screen.Depression, Model: "m", Version: "1"}}
	for i := range 20 {
		result.Scores[0].Contributions = append(result.Scores[0].Contributions, screen.Contribution{Feature: "spectral.centroid_hz", Value: 1 / float64(i+3), Unit: "Hz", Logits: 1 / float64(i+7)})
	}
	result.Scores = append(result.Scores, result.Scores[0])
	for name, s := range map[string]*store.Session{"waiting": waiting, "result": result} {
		encoded := marshal(b, s)
		b.Run(name+"/encode", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				marshal(b, s)
			}
		})
		b.Run(name+"/decode", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := store.Unmarshal(encoded); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
