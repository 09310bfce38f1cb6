package store

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// MaxID is the greatest length of a session's ID, in bytes. Chosen: six times
// what 160 random bits need, and short enough for one byte of a key.
const MaxID = 255

// Clone returns a copy that shares no memory with s, in the form in which
// records come out of a store: times in UTC without a monotonic reading, empty
// slices and maps nil.
func (s *Session) Clone() *Session {
	c := *s
	for _, t := range c.times() {
		*t = t.Round(0).UTC()
	}
	if s.Metadata.English != nil {
		english := *s.Metadata.English
		c.Metadata.English = &english
	}
	c.Scores = copySlice(s.Scores)
	for i := range c.Scores {
		c.Scores[i].Contributions = copySlice(c.Scores[i].Contributions)
	}
	c.Features = copyMap(s.Features)
	if s.Failure != nil {
		failure := *s.Failure
		failure.Data = copyMap(failure.Data)
		c.Failure = &failure
	}
	c.Labels.PHQ2 = copySlice(s.Labels.PHQ2)
	c.Labels.PHQ9 = copySlice(s.Labels.PHQ9)
	c.Labels.GAD7 = copySlice(s.Labels.GAD7)
	return &c
}

// times returns where the times of s stand.
func (s *Session) times() []*time.Time {
	return []*time.Time{&s.CreatedAt, &s.UpdatedAt, &s.SubmittedAt, &s.Due, &s.Labels.UpdatedAt}
}

func copySlice[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return slices.Clone(s)
}

func copyMap(m map[string]float64) map[string]float64 {
	if len(m) == 0 {
		return nil
	}
	return maps.Clone(m)
}

// Check returns ErrInvalid, wrapped, if s cannot be stored: the ID is empty or
// longer than MaxID, the state or the product is none, or a time lies outside
// the years 1 to 9999. Implementations call it before they store a record.
func (s *Session) Check() error {
	switch {
	case s.ID == "" || len(s.ID) > MaxID:
		return fmt.Errorf("%w: the ID has %d bytes, want 1 to %d", ErrInvalid, len(s.ID), MaxID)
	case s.State < Initiated || s.State > Failed:
		return fmt.Errorf("%w: %d is no state", ErrInvalid, uint8(s.State))
	case s.Product != 0 && !s.Product.Valid():
		return fmt.Errorf("%w: %d is no product", ErrInvalid, uint8(s.Product))
	}
	for _, t := range s.times() {
		if y := t.UTC().Year(); y < 1 || y > 9999 {
			return fmt.Errorf("%w: a time lies in the year %d, want 1 to 9999", ErrInvalid, y)
		}
	}
	return nil
}

// CheckChange returns ErrInvalid, wrapped, if after cannot replace s: it is
// not storable, or Account, ID, UserID or CreatedAt differ.
func (s *Session) CheckChange(after *Session) error {
	if after.Account != s.Account || after.ID != s.ID || after.UserID != s.UserID || !after.CreatedAt.Equal(s.CreatedAt) {
		return fmt.Errorf("%w: a change of account, ID, user or creation time", ErrInvalid)
	}
	return after.Check()
}

// CheckNext returns ErrInvalid, wrapped, if after cannot replace s in
// Store.Next: CheckChange refuses it, or Due is as it was.
func (s *Session) CheckNext(after *Session) error {
	if after.Due.Equal(s.Due) {
		return fmt.Errorf("%w: a due session stays due as it was", ErrInvalid)
	}
	return s.CheckChange(after)
}

// Cursor returns the place of s in a listing.
func (s *Session) Cursor() Cursor { return Cursor{CreatedAt: s.CreatedAt, ID: s.ID} }
