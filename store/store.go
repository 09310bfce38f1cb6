package store

import (
	"context"
	"errors"
	"time"

	"github.com/voicescreen/voicescreen/screen"
)

var (
	// ErrNotFound is returned if the account has no such session, or if there is no
	// such audio.
	ErrNotFound = errors.New("store: not found")
	// ErrExists is returned by Create if a session with this ID exists, in any
	// account.
	ErrExists = errors.New("store: session exists")
	// ErrNoneDue is returned by Next and NextNotice if no session is due.
	ErrNoneDue = errors.New("store: no session is due")
	// ErrConflict is returned by PutDocument if the document has another revision.
	ErrConflict = errors.New("store: document changed")
	// ErrInvalid is returned for a record or document that cannot be stored: see
	// [Session.Check], [Session.CheckChange] and [CheckDocument]. It is a fault of
	// the calling program.
	ErrInvalid = errors.New("store: invalid record")
	// ErrClosed is returned by every call after Close.
	ErrClosed = errors.New("store: closed")
	// ErrDamaged is returned if a stored record cannot be read.
	ErrDamaged = errors.New("store: damaged")
)

// Change changes a session in a transaction. Now is the store's time, in UTC and
// whole microseconds. If a Change returns an error, nothing is stored.
//
// A store may call a Change more than once, each time with a fresh copy of the
// session, and in another goroutine. A Change must not call the store or
// runtime.Goexit.
type Change = func(s *Session, now time.Time) error

// Store keeps sessions, recordings that wait to be analysed, and documents. All
// methods are safe for concurrent use, and by several processes if the implementation
// says so.
//
// When a method returns nil, its effect is visible to every later call and, in a
// store on a disk, survives a crash and a power failure. When a method returns an
// error, nothing has changed, with one exception: if a disk or connection fails at the
// end of a commit, the whole change may have been made.
//
// Records are copied in both directions: neither side sees later changes of the other.
// Stores return records in the form of [Session.Normalize]. A call whose context is
// done when it begins returns the context's error.
//
// The store has the clock: due times, times of creation and ages refer to it, so that
// processes that share a store agree on the time. The clock does not go back while the
// store is open, unless it was injected. A store that only one process can open has no
// valid lease when it is opened: it then makes sessions due as [MaxDelay] describes.
//
// Package storetest has a case for each promise made here. Stores that notify other
// processes of changes also implement [Watcher]; stores that count notices,
// [NoticeCounter]. A store that wraps another one keeps the optional abilities of that
// one with a method Unwrap: see [As].
type Store interface {
	// Create adds a session. The caller sets Account, ID, UserID and Status; account
	// and user may be "". If CreatedAt or UpdatedAt is zero, the store sets it to its
	// time, or to a microsecond after the last creation if the clock has not advanced
	// since, so that a listing has the order of creation: see NewCreationClock. Create returns ErrExists if the ID is taken, and ErrInvalid if
	// Session.Check refuses the session. It does not change s.
	Create(ctx context.Context, s *Session) error

	// Get returns a session of the account. It returns ErrNotFound if the account
	// has no session with that ID, also if another account has one.
	Get(ctx context.Context, account, id string) (*Session, error)

	// Head returns a session as Get does, but without Scores and Features, which are
	// most of a record.
	Head(ctx context.Context, account, id string) (*Session, error)

	// Update applies change to a session and stores the result in one transaction.
	// Concurrent updates of a session happen one after the other. It returns
	// ErrNotFound as Get does, and ErrInvalid, without storing, if
	// Session.CheckChange refuses the result. If change returns an error, nothing is
	// stored and Update returns that error as it is. If change panics, nothing is
	// stored and Update panics. If change replaces Audio, the former audio is removed
	// after the commit.
	//
	// The session that change receives has neither Scores nor Features. If change
	// sets one of them (Session.Analyzed), both are replaced; otherwise both stay as
	// stored. Update returns the session as stored, without Scores and Features that
	// stayed. It may share memory with the session that change received.
	Update(ctx context.Context, account, id string, change Change) (*Session, error)

	// Next applies change, as Update does, to the session that is due longest, of any
	// account: the one with the smallest Due that is neither zero nor after the
	// store's time. It skips sessions that another call is changing. Change must
	// change Due, or the error is ErrInvalid: no two successful calls see the same Due
	// of one session. Next returns ErrNoneDue if no session is due.
	Next(ctx context.Context, change Change) (*Session, error)

	// NextNotice applies change, as Next does, to the session with the smallest
	// Notify that is neither zero nor after the store's time, of any account that is
	// not in without. Change must change Notify, or the error is ErrInvalid. It
	// returns ErrNoneDue if no notice is due.
	NextNotice(ctx context.Context, without []string, change Change) (*Session, error)

	// Due returns the number of sessions whose Due is not zero.
	Due(ctx context.Context) (int, error)

	// Expire removes, in one transaction, at most limit sessions of all accounts that
	// have been kept for age or longer by the store's time (Session.Kept). It removes
	// them as Delete does and returns their keys; the key of a damaged record is
	// empty. Fewer keys than limit mean that no more sessions have expired. With an
	// error Expire returns the keys of the sessions that it did remove. The age is not
	// stored, so a new age applies to all sessions at once.
	Expire(ctx context.Context, age time.Duration, limit int) ([]screen.SessionKey, error)

	// List returns at most limit sessions of one user of the account, after the
	// cursor, or from the start if it is nil. The order is CreatedAt descending, then
	// ID ascending. The list is empty for a user without sessions and for a limit
	// below 1. The session of the cursor need not exist.
	List(ctx context.Context, account, userID string, after *Cursor, limit int) ([]*Session, error)

	// Scan returns at most limit sessions of all accounts, in an order that the store
	// chooses, after the session with the ID after, or from the start if it is "".
	// That session need not exist. While nothing changes, calls that each continue
	// after the last ID return every session once. A session that is created or
	// removed between the calls may be missing. With a limit below 1 the result is
	// empty; otherwise fewer sessions than limit mean that no more follow.
	//
	// Scan skips damaged records. It returns the other sessions together with a
	// DamagedError, which counts each damaged record in one of the calls. With any
	// other error it returns no session.
	Scan(ctx context.Context, after string, limit int) ([]*Session, error)

	// Delete removes a session and its audio. It returns ErrNotFound as Get does.
	Delete(ctx context.Context, account, id string) error

	// Forget removes all sessions of one user of the account, with their audio, in one
	// transaction, and returns how many it removed.
	Forget(ctx context.Context, account, userID string) (int, error)

	// Audio returns the store's audio. Its calls count as calls of the store. Its
	// Remove and Sweep keep audio that a session refers to.
	Audio() Audio

	// Document returns the content of a document, which belongs to the caller, and its
	// revision. A document that was never put is empty and has revision 0. Other
	// processes see a change within a second. The error is ErrInvalid for an invalid
	// name.
	Document(ctx context.Context, name string) (data []byte, revision uint64, err error)

	// PutDocument replaces the content of a document if it has the given revision, and
	// returns the new revision, which is one greater. The error is ErrConflict if the
	// document has another revision, and ErrInvalid if CheckDocument refuses it.
	PutDocument(ctx context.Context, name string, revision uint64, data []byte) (uint64, error)

	// Ping returns nil if the store can be written to now.
	Ping(ctx context.Context) error

	// Close waits for calls in progress and releases the store. Every later call,
	// also of Close, returns ErrClosed.
	Close() error
}

// MaxDelay is how far in the future a notice may be due. When a store that only one
// process can open is opened, it makes due at once:
//   - sessions whose Due is in the future, since the process that leased or postponed
//     them has ended; their leases end;
//   - sessions whose Notify is more than MaxDelay in the future, since the clock was
//     set back.
//
// Their order stays. Chosen: longer than the longest pause between two attempts at a
// notice.
const MaxDelay = 36 * time.Hour

// Watcher is implemented by stores that several processes share. It shortens the wait
// for a change that another process made. Notifications may be lost: callers poll the
// store too.
type Watcher interface {
	// Watch calls changed for each session that is created, changed or removed from
	// now on, by this process or another. All calls come from one goroutine. Watch
	// returns when ctx is done or the store is closed. A key without ID means that
	// any session may have changed, for example after a lost connection. Changed must
	// return soon.
	Watch(ctx context.Context, changed func(key screen.SessionKey)) error
}

// NoticeCounter is implemented by stores that can count the notices that wait.
// An Engine on another store does not know how many there are.
type NoticeCounter interface {
	// Notices counts, by account, the sessions whose Notify is not zero. Accounts
	// without one are absent. A session whose record is damaged may be counted
	// or not.
	Notices(ctx context.Context) (map[string]int, error)
}

// Cursor is a position in a listing: after the session with this time and ID.
type Cursor struct {
	CreatedAt time.Time
	ID        string
}

// Before reports whether c comes before d in a listing.
func (c Cursor) Before(d Cursor) bool {
	if n := c.CreatedAt.Compare(d.CreatedAt); n != 0 {
		return n > 0
	}
	return c.ID < d.ID
}
