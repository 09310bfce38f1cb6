package postgres

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/voicescreen/voicescreen/store"
)

// row is a session as its columns are read. Fields of the session that the
// database holds in another form stand beside it.
type row struct {
	stored                    store.Session
	metadata, failure, labels []byte // JSON; nil if NULL
	status, product, speech   string
	analysis                  []byte // nil if NULL, or not read
	key, sealed               []byte // nil if the store is not encrypted
	now                       time.Time
	createdAt, updatedAt      moment
	submittedAt, due, notify  moment
}

// head returns where the columns of head go.
func (r *row) head() []any {
	s := &r.stored
	return []any{
		&s.ID, &s.Account, &s.UserID, &r.metadata, &r.status, &r.createdAt, &r.updatedAt, &r.product, &r.submittedAt, &s.Audio,
		&s.Channel, &s.FixedGain, &s.Baseline, &r.due, &s.Owner, &s.Token, &s.Attempts, &r.failure, &r.labels, &r.notify, &s.Notices, &r.key, &r.sealed, &s.Duration, &s.Analysed, &r.speech,
	}
}

// session returns the session of a row. The error is store.ErrDamaged for what
// this program would not have stored.
func (r *row) session(v *vault) (*store.Session, error) {
	s, analysed := r.stored, r.analysis
	s.CreatedAt, s.UpdatedAt, s.SubmittedAt = time.Time(r.createdAt), time.Time(r.updatedAt), time.Time(r.submittedAt)
	s.Due, s.Notify = time.Time(r.due), time.Time(r.notify)
	err := s.Status.UnmarshalText([]byte(r.status))
	if err == nil && r.product != "" {
		err = s.Product.UnmarshalText([]byte(r.product))
	}
	if err == nil && r.speech != "" {
		err = s.Speech.UnmarshalText([]byte(r.speech))
	}
	if v != nil && err == nil {
		var p private
		p, analysed, err = v.openRow(r)
		s.Metadata, s.Labels, s.Failure = p.Metadata, p.Labels, p.Failure
	} else if err == nil {
		err = errors.Join(orAbsent(r.metadata, &s.Metadata), orAbsent(r.labels, &s.Labels), orAbsent(r.failure, &s.Failure))
	}
	if err == nil {
		s.Normalize()
		err = s.Check()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: a row that this program did not write: %v", store.ErrDamaged, err)
	}
	if analysed == nil {
		return &s, nil
	}
	if err := store.UnmarshalAnalysis(analysed, &s); err != nil {
		return nil, err
	}
	return &s, nil
}

// orAbsent decodes JSON, if there is any.
func orAbsent(text []byte, v any) error {
	if text == nil {
		return nil
	}
	return json.Unmarshal(text, v)
}

// mutable returns the values of the columns of a session that a change may
// replace, in the order of sqlReplaceAnalyzed: the last one is the analysis, nil if
// there is none. Key is that of the session, sealed.
func (v *vault) mutable(s *store.Session, key []byte) (values []any, err error) {
	var metadata, labels, failure, sealed, analysed []byte
	if v != nil {
		sealed, analysed, err = v.sealSession(s, key)
	} else {
		var errs [4]error
		metadata, errs[0] = jsonOf(s.Metadata)
		labels, errs[1] = jsonOf(s.Labels)
		if s.Failure != nil {
			failure, errs[2] = jsonOf(s.Failure)
		}
		analysed, errs[3] = analysis(s)
		err = errors.Join(errs[:]...)
	}
	return []any{
		metadata, s.Status.String(), moment(s.UpdatedAt), nameOf(s.Product), moment(s.SubmittedAt), s.Audio,
		s.Channel, s.FixedGain, s.Baseline, moment(s.Due), s.Owner, int64(s.Token), s.Attempts, failure,
		labels, moment(s.Notify), s.Notices, sealed, s.Duration, s.Analysed, nameOf(s.Speech), analysed,
	}, err
}

// analysis returns the encoding of scores and features, nil if there are none.
func analysis(s *store.Session) ([]byte, error) {
	if !s.Analyzed() {
		return nil, nil
	}
	return store.AppendAnalysis(nil, s)
}

// nameOf returns the name of a product or a way of speaking, "" where there is none.
func nameOf[T interface {
	~uint8
	fmt.Stringer
}](v T) string {
	if v == 0 {
		return ""
	}
	return v.String()
}

// jsonOf returns the encoding of metadata, labels or a failure, nil if nothing is
// given.
func jsonOf(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("store/postgres: encode: %w", err)
	}
	if string(b) == "{}" { // a failure has a code at least
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
