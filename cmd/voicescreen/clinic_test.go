package main

import (
	"bytes"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// clinicStart is when the first session of clinicSessions was created.
var clinicStart = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// clinicSessions are sessions of two accounts, an hour after each other: with a
// result and labels, with a failure, with none, and of a user whose identifier a
// spreadsheet would calculate.
func clinicSessions() []*store.Session {
	english := true
	score := func(c screen.Category, severity screen.Severity) screen.Score {
		return screen.Score{Category: c, Model: "model", Version: "1.0.0", Probability: 0.25, Low: 0.125, High: math.NaN(), Decision: screen.Positive, Severity: severity, Coverage: 1, Prior: 0.08}
	}
	all := []*store.Session{
		{
			ID: "s1", Account: "clinic-a", UserID: "patient-17", Status: screen.StatusSuccess, Product: screen.DepressionAnxiety,
			Metadata: screen.Metadata{Age: 44, Gender: screen.Female, Zipcode: "01234", English: &english},
			Scores:   []screen.Score{score(screen.Depression, screen.MildToModerate), score(screen.Anxiety, screen.NoOrMinimal)},
			Features: map[string]float64{"f0.mean_hz": 200.5},
			Labels:   screen.Labels{PHQ9: []int{1, 0, 2, 1, 0, 1, 0, 0, 0}, Depression: screen.InterviewPositive, UpdatedAt: clinicStart.Add(time.Minute)},
		},
		{
			ID: "s2", Account: "clinic-a", UserID: "patient-17", Status: screen.StatusFailed, Product: screen.DeepfakeBinary,
			Failure: &screen.Failure{Code: screen.CodeNoSpeech, Message: "no speech", Data: map[string]float64{"actual_length": 0}},
		},
		{ID: "s3", Account: "clinic-a", UserID: "=cmd|' /C calc'!A0", Status: screen.StatusInitiated},
		{ID: "s4", Account: "clinic-b", UserID: "patient-17", Status: screen.StatusInitiated},
		{ID: "s5", Account: "", UserID: "patient-18\x1b[2J", Status: screen.StatusInitiated},
	}
	for i, s := range all {
		s.CreatedAt = clinicStart.Add(time.Duration(i) * time.Hour)
		s.UpdatedAt = s.CreatedAt
		if s.Product.Valid() {
			s.SubmittedAt = s.CreatedAt
		}
	}
	return all
}

// clinicDB makes a database of these sessions, encrypted if a key file is named.
func clinicDB(t *testing.T, keyFile string, sessions []*store.Session) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "clinic.db")
	opts := &bolt.Options{}
	if keyFile != "" {
		write(t, keyFile, []byte(strings.Repeat("1a", secretSize)))
		opts.Key = bytes.Repeat([]byte{0x1a}, bolt.KeySize)
	}
	st, err := bolt.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sessions {
		err = errors.Join(err, st.Create(t.Context(), s))
	}
	if err := errors.Join(err, st.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}
