package postgres

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// row is a session as its columns are read. Fields of the session that the
// database holds in another form stand beside it.
type row struct {
	stored                    store.Session
	metadata, failure, labels []byte // JSON; nil if NULL
	status, product           string
	analysis                  []byte // nil if NULL, or not read
	now                       time.Time
	createdAt, updatedAt      moment
	submittedAt, due, notify  moment
}

// head returns where the columns of head go.
func (r *row) head() []any {
	s := &r.stored
	return []any{
		&s.ID, &s.Account, &s.UserID, &r.metadata, &r.status, &r.createdAt, &r.updatedAt, &r.product, &r.submittedAt, &s.Audio,
		&s.Channel, &s.FixedGain, &s.Baseline, &r.due, &s.Owner, &s.Token, &s.Attempts, &r.failure, &r.labels, &r.notify, &s.Notices,
	}
}

// session returns the session of a row. The error is store.ErrDamaged for what
// this program would not have stored.
func (r *row) session() (*store.Session, error) {
	s := r.stored
	s.CreatedAt, s.UpdatedAt, s.SubmittedAt = time.Time(r.createdAt), time.Time(r.updatedAt), time.Time(r.submittedAt)
	s.Due, s.Notify = time.Time(r.due), time.Time(r.notify)
	err := s.Status.UnmarshalText([]byte(r.status))
	if err == nil && r.product != "" {
		err = s.Product.UnmarshalText([]byte(r.product))
	}
	if err == nil && r.metadata != nil {
		err = json.Unmarshal(r.metadata, &s.Metadata)
	}
	if err == nil && r.labels != nil {
		err = json.Unmarshal(r.labels, &s.Labels)
	}
	if err == nil && r.failure != nil {
		err = json.Unmarshal(r.failure, &s.Failure)
	}
	if err == nil {
		s.Normalize()
		err = s.Check()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: a row that this program did not write: %v", store.ErrDamaged, err)
	}
	if r.analysis == nil {
		return &s, nil
	}
	if err := store.UnmarshalAnalysis(r.analysis, &s); err != nil {
		return nil, err
	}
	return &s, nil
}

// mutable returns the values of the columns of a session that a change may
// replace, in the order of sqlReplace.
func mutable(s *store.Session) ([]any, error) {
	metadata, err := jsonOf(s.Metadata)
	if err != nil {
		return nil, err
	}
	labels, err := jsonOf(s.Labels)
	if err != nil {
		return nil, err
	}
	var failure []byte
	if s.Failure != nil {
		if failure, err = json.Marshal(s.Failure); err != nil {
			return nil, fmt.Errorf("store/postgres: encode a failure: %w", err)
		}
	}
	return []any{
		metadata, s.Status.String(), moment(s.UpdatedAt), productName(s.Product), moment(s.SubmittedAt), s.Audio,
		s.Channel, s.FixedGain, s.Baseline, moment(s.Due), s.Owner, int64(s.Token), s.Attempts, failure,
		labels, moment(s.Notify), s.Notices,
	}, nil
}

// analysis returns the encoding of scores and features, nil if there are none.
func analysis(s *store.Session) ([]byte, error) {
	if !s.Analyzed() {
		return nil, nil
	}
	return store.AppendAnalysis(nil, s)
}

// productName returns "" where there is none.
func productName(p screen.Product) string {
	if p == 0 {
		return ""
	}
	return p.String()
}

// jsonOf returns the encoding of metadata or labels, nil if nothing is given.
func jsonOf(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("store/postgres: encode: %w", err)
	}
	if string(b) == "{}" {
		return nil, nil
	}
	return b, nil
}

// moment is a time that is NULL in the database if it is zero.
type moment time.Time

// ScanTimestamptz is called by pgx.
func (m *moment) ScanTimestamptz(v pgtype.Timestamptz) error {
	switch {
	case !v.Valid:
		*m = moment{}
	case v.InfinityModifier != pgtype.Finite:
		*m = moment(time.Unix(-1, 0)) // which Session.Check refuses
	default:
		*m = moment(v.Time)
	}
	return nil
}

// TimestamptzValue is called by pgx.
func (m moment) TimestamptzValue() (pgtype.Timestamptz, error) {
	t := time.Time(m)
	return pgtype.Timestamptz{Time: t, Valid: !t.IsZero()}, nil
}
