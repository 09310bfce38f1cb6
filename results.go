package voicescreen

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// Page asks for a part of a listing. The zero Page asks for all of it.
type Page struct {
	Limit  int    // the largest number of results; 0 means all
	Cursor string // "" is the beginning, otherwise what the former page returned
}

// listBatch is how many sessions are read from the store at once. Chosen: a
// session with its features is some 10 KB of JSON, and one transaction should
// not delay the others.
const listBatch = 64

// Results returns the sessions of one user that have a submission, the newest
// first: by CreatedAt descending, which is the order of creation also within a
// second, and then by SessionID. Next is the cursor of the next
// page, "" where there is none. A user without sessions has an empty list.
//
// A malformed cursor and a negative limit are an InvalidError. Sessions that are
// created or removed between two pages neither repeat nor hide others.
func (a *flow) Results(ctx context.Context, userID string, page Page) (results []*Result, next string, err error) {
	if err := checkUserID(userID); err != nil {
		return nil, "", err
	}
	if page.Limit < 0 {
		return nil, "", &InvalidError{Fields: map[string]Problem{"limit": Malformed}}
	}
	after, err := parseCursor(page.Cursor)
	if err != nil {
		return nil, "", &InvalidError{Fields: map[string]Problem{"cursor": Malformed}}
	}
	ctx, leave, err := a.engine.life.enter(ctx)
	if err != nil {
		return nil, "", err
	}
	defer leave()

	results = []*Result{}
	for {
		batch, err := a.engine.store.List(ctx, a.name, userID, after, listBatch)
		if err != nil {
			return nil, "", internal("list the sessions of a user", err)
		}
		for _, s := range batch {
			after = &store.Cursor{CreatedAt: s.CreatedAt, ID: s.ID}
			if s.Status == screen.StatusInitiated {
				continue
			}
			if page.Limit > 0 && len(results) == page.Limit {
				last := results[len(results)-1]
				return results, formatCursor(store.Cursor{CreatedAt: last.CreatedAt, ID: last.SessionID}), nil
			}
			results = append(results, newResult(s))
		}
		if len(batch) < listBatch {
			return results, "", nil
		}
	}
}

// A cursor is, in unpadded URL-safe base 64, the version, the seconds and the
// nanoseconds of CreatedAt since 1970, and the identifier of the last session
// of the page.
const (
	cursorVersion = 1
	cursorHead    = 1 + 8 + 4
)

var (
	cursorText = base64.RawURLEncoding.Strict()
	errCursor  = errors.New("voicescreen: malformed cursor")
)

func formatCursor(c store.Cursor) string {
	b := make([]byte, 0, cursorHead+len(c.ID))
	b = append(b, cursorVersion)
	b = binary.BigEndian.AppendUint64(b, uint64(c.CreatedAt.Unix()))
	b = binary.BigEndian.AppendUint32(b, uint32(c.CreatedAt.Nanosecond()))
	return cursorText.EncodeToString(append(b, c.ID...))
}

// parseCursor is the inverse of formatCursor: it takes what that returns and
// nothing else. "" is nil, the beginning.
func parseCursor(s string) (*store.Cursor, error) {
	if s == "" {
		return nil, nil
	}
	if len(s) > cursorText.EncodedLen(cursorHead+screen.MaxID) {
		return nil, errCursor
	}
	b, err := cursorText.DecodeString(s)
	if err != nil || len(b) <= cursorHead || b[0] != cursorVersion {
		return nil, errCursor
	}
	sec, nsec := int64(binary.BigEndian.Uint64(b[1:])), binary.BigEndian.Uint32(b[9:])
	t := time.Unix(sec, int64(nsec)).UTC()
	if nsec >= 1e9 || t.Year() < 1 || t.Year() > 9999 { // what RFC 3339 can write, and so every store
		return nil, errCursor
	}
	c := &store.Cursor{CreatedAt: t, ID: string(b[cursorHead:])}
	if formatCursor(*c) != s { // base 64 skips line breaks
		return nil, errCursor
	}
	return c, nil
}
