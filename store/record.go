package store

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Clone returns a copy that shares no memory with s, in the form of
// [Session.Normalize].
func (s *Session) Clone() *Session {
	c := *s
	if s.Metadata.English != nil {
		english := *s.Metadata.English
		c.Metadata.English = &english
	}
	c.Scores = slices.Clone(s.Scores)
	for i := range c.Scores {
		c.Scores[i].Contributions = slices.Clone(c.Scores[i].Contributions)
		c.Scores[i].Segments = slices.Clone(c.Scores[i].Segments)
		c.Scores[i].Cautions = slices.Clone(c.Scores[i].Cautions)
	}
	c.Features = maps.Clone(s.Features)
	if s.Failure != nil {
		failure := *s.Failure
		failure.Data = maps.Clone(failure.Data)
		c.Failure = &failure
	}
	c.Labels.PHQ2 = slices.Clone(s.Labels.PHQ2)
	c.Labels.PHQ9 = slices.Clone(s.Labels.PHQ9)
	c.Labels.GAD7 = slices.Clone(s.Labels.GAD7)
	c.Normalize()
	return &c
}

// Normalize brings s into the form in which stores return records: times in UTC, in
// whole microseconds (rounded down) and without a monotonic reading; empty slices and
// maps nil; a length of time of -0 s is 0.
func (s *Session) Normalize() {
	for _, t := range s.times() {
		*t = t.UTC().Truncate(time.Microsecond)
	}
	s.Duration, s.Analysed = s.Duration+0, s.Analysed+0 // -0 is 0, which is absent in a record
	orNil(&s.Scores)
	for i := range s.Scores {
		orNil(&s.Scores[i].Contributions)
		orNil(&s.Scores[i].Segments)
		orNil(&s.Scores[i].Cautions)
	}
	if len(s.Features) == 0 {
		s.Features = nil
	}
	if s.Failure != nil && len(s.Failure.Data) == 0 {
		s.Failure.Data = nil
	}
	orNil(&s.Labels.PHQ2)
	orNil(&s.Labels.PHQ9)
	orNil(&s.Labels.GAD7)
}

// orNil makes a slice without elements nil.
func orNil[T any](s *[]T) {
	if len(*s) == 0 {
		*s = nil
	}
}

// Created sets CreatedAt to now and UpdatedAt to CreatedAt, each only if it is zero.
// Implementations of Store.Create call it, with the time of a NewCreationClock.
func (s *Session) Created(now time.Time) {
	if s.CreatedAt.IsZero() {
		s.CreatedAt = now
	}
	if s.UpdatedAt.IsZero() {
		s.UpdatedAt = s.CreatedAt
	}
}

// times returns pointers to all times of s.
func (s *Session) times() []*time.Time {
	return []*time.Time{&s.CreatedAt, &s.UpdatedAt, &s.SubmittedAt, &s.Due, &s.Labels.UpdatedAt, &s.Notify}
}

// Analyzed reports whether s has scores or features.
func (s *Session) Analyzed() bool { return len(s.Scores) > 0 || len(s.Features) > 0 }

// CheckChange returns ErrInvalid, wrapped, if after cannot replace s: Session.Check
// refuses after, or Account, ID, UserID or CreatedAt differ.
func (s *Session) CheckChange(after *Session) error {
	if after.Account != s.Account || after.ID != s.ID || after.UserID != s.UserID || !after.CreatedAt.Equal(s.CreatedAt) {
		return fmt.Errorf("%w: a change of account, ID, user or creation time", ErrInvalid)
	}
	return after.Check()
}

// CheckNext returns ErrInvalid, wrapped, if after cannot replace s in Store.Next:
// CheckChange refuses it, or Due is unchanged.
func (s *Session) CheckNext(after *Session) error {
	if after.Due.Equal(s.Due) {
		return fmt.Errorf("%w: Due of a session is unchanged", ErrInvalid)
	}
	return s.CheckChange(after)
}

// CheckNextNotice returns ErrInvalid, wrapped, if after cannot replace s in
// Store.NextNotice: CheckChange refuses it, or Notify is unchanged.
func (s *Session) CheckNextNotice(after *Session) error {
	if after.Notify.Equal(s.Notify) {
		return fmt.Errorf("%w: Notify of a session is unchanged", ErrInvalid)
	}
	return s.CheckChange(after)
}

// Cursor returns the position of s in a listing.
func (s *Session) Cursor() Cursor { return Cursor{CreatedAt: s.CreatedAt, ID: s.ID} }
