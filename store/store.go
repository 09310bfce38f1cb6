package store

import (
	"context"
	"errors"
	"time"

	"github.com/voicescreen/voicescreen/screen"
)

var (
	// ErrNotFound says that the account has no such session, or that there is
	// no such audio.
	ErrNotFound = errors.New("store: not found")
	// ErrExists says that a session of this ID exists, in whatever account.
	ErrExists = errors.New("store: session exists")
	// ErrNoneDue says that no session is due.
	ErrNoneDue = errors.New("store: no session is due")
	// ErrConflict says that a document has another revision than was expected.
	ErrConflict = errors.New("store: document changed")
	// ErrInvalid says that a record or a document cannot be stored: see
	// [Session.Check], [Session.CheckChange] and [CheckDocument]. It is a
	// mistake of the program.
	ErrInvalid = errors.New("store: invalid record")
	// ErrClosed says that the store was closed.
	ErrClosed = errors.New("store: closed")
	// ErrDamaged says that what is stored cannot be read.
	ErrDamaged = errors.New("store: damaged")
)

// Change replaces a session by what it makes of it. Now is the store's time, in
// UTC and whole microseconds. If a Change returns an error, nothing is stored.
//
// A Change may be called more than once, each time on a fresh copy, and in
// another goroutine, which it must not end. It must not call the store.
type Change = func(s *Session, now time.Time) error

// Store keeps sessions, the audio that waits to be analysed, and documents. All
// methods are safe for concurrent use, by several processes too where the
// implementation allows several. When a method returns nil, what it did
// survives a crash and a power failure (in stores that outlive the process),
// and every later call sees it. When it returns an error, nothing changed;
// only where a disk or a connection fails in the very last moment may the
// change have been made all the same, as a whole.
//
// Records go in and come out by value: neither side may see the other's later
// changes. They come out in the form of [Session.Normalize]. A context that is
// done at the start of a call ends it with the context's error.
//
// The store has the clock: all times of the queues, of creations and of ages
// are read from it, so that processes that share a store agree on the time
// whatever their own clocks say. The clock does not go back while the store is
// open, unless it was injected. A store that one process holds at a time has no
// living lease when it is opened: it then makes due what was put off into the
// future, as [MaxDelay] describes.
//
// Package storetest has a case for each promise made here. Stores that tell
// other processes of changes implement [Watcher] too. A store that wraps another
// one keeps what that can do beyond these methods with a method Unwrap: see [As].
type Store interface {
	// Create adds a session. Account, ID, UserID and Status are set by the
	// caller; account and user may be "". CreatedAt and UpdatedAt, where they
	// are zero, become the store's time, and a microsecond more than that of the
	// last creation where the clock shows the same: a listing has the order of
	// creation, see NewCreationClock. It returns ErrExists if the ID is
	// taken, and ErrInvalid for what Session.Check refuses. S is not changed.
	Create(ctx context.Context, s *Session) error

	// Get returns a session of the account. It returns ErrNotFound where
	// there is none, also where another account has one of that ID.
	Get(ctx context.Context, account, id string) (*Session, error)

	// Head returns a session as Get does, without Scores and Features, which
	// are most of a record.
	Head(ctx context.Context, account, id string) (*Session, error)

	// Update applies change to the current record and stores the result, all
	// in one transaction: concurrent updates of a session happen one after the
	// other. If change returns an error, nothing is stored and Update returns
	// that error as it is; if it panics, nothing is stored either, and Update
	// panics. A result that Session.CheckChange refuses is not stored, and the
	// error is ErrInvalid: Account, ID, UserID and CreatedAt stay as they are.
	// If the result's Audio differs from what it was, the former audio is
	// removed after the commit.
	//
	// The session that change is given has neither Scores nor Features. Unless
	// change sets one of them (Session.Analyzed), both stay as they are stored;
	// otherwise both are replaced. The session returned is what was stored,
	// without Scores and Features that stayed. It may be the one that change
	// was given, and refer to what change put into it.
	Update(ctx context.Context, account, id string, change Change) (*Session, error)

	// Next applies change, as Update does, to the session that has been due
	// longest, of those that nobody else is changing at this moment: the one of
	// the smallest Due that is not zero and not after the store's time, of any
	// account. Change must move Due, else the error is ErrInvalid: of all calls
	// that succeed no two saw the same Due of one session. It returns
	// ErrNoneDue where there is none.
	Next(ctx context.Context, change Change) (*Session, error)

	// NextNotice applies change, as Next does, to the session whose Notify is
	// the smallest that is not zero and not after the store's time, of any
	// account but those in without. Change must move Notify, else the error is
	// ErrInvalid. It returns ErrNoneDue where there is none. Due does not count
	// notices.
	NextNotice(ctx context.Context, without []string, change Change) (*Session, error)

	// Due counts the sessions whose Due is not zero.
	Due(ctx context.Context) (int, error)

	// Expire removes, in one transaction, at most limit of the sessions of all
	// accounts that have been kept for age or longer by the store's time: see
	// Session.Kept. It removes them as Delete does and returns their keys,
	// which are empty for sessions whose records are damaged; fewer than limit
	// means that none is left. Beside an error it returns those that are
	// removed all the same. The age is not stored with a session: another one
	// holds for all sessions at once.
	Expire(ctx context.Context, age time.Duration, limit int) ([]screen.SessionKey, error)

	// List returns at most limit sessions of one user of the account, ordered
	// by CreatedAt descending and then ID ascending, beginning behind the
	// cursor; nil is the beginning. A user without sessions has an empty list,
	// and so has a limit below 1. The cursor's session need not exist.
	List(ctx context.Context, account, userID string, after *Cursor, limit int) ([]*Session, error)

	// Scan returns at most limit sessions of all accounts, in an order of the
	// store's own, beginning behind the session of the ID after, which need
	// not exist; "" is the beginning. On a store that does not change, calls
	// that go on from the last ID return every session once. A session that is
	// created or removed between the calls may be missing. A limit below 1 has
	// none; otherwise fewer than limit mean that no more follow.
	//
	// Scan skips records that cannot be read: it returns up to limit of the
	// others and a DamagedError, which counts each damaged record in one of the
	// calls. With any other error it returns no session.
	Scan(ctx context.Context, after string, limit int) ([]*Session, error)

	// Delete removes a session and its audio. It returns ErrNotFound as Get does.
	Delete(ctx context.Context, account, id string) error

	// Forget removes every session of one user of the account in one
	// transaction, with their audio, and returns how many there were.
	Forget(ctx context.Context, account, userID string) (int, error)

	// Audio returns the store's audio. Its calls count as calls of the store.
	// Its Remove and Sweep keep audio that a session refers to.
	Audio() Audio

	// Document returns the content of a document and its revision. A document
	// that was never put is empty and has revision 0. Another process sees a
	// change within a second. The error is ErrInvalid for an invalid name. The
	// data are the caller's.
	Document(ctx context.Context, name string) (data []byte, revision uint64, err error)

	// PutDocument replaces the content of a document whose revision is the
	// given one, and returns the next revision, which is one more. The
	// error is ErrConflict if the document has another revision, and ErrInvalid
	// for what CheckDocument refuses.
	PutDocument(ctx context.Context, name string, revision uint64, data []byte) (uint64, error)

	// Ping returns nil if the store can be written to now.
	Ping(ctx context.Context) error

	// Close releases the store. Every later call returns ErrClosed, a second
	// Close too. Close waits for calls that are under way.
	Close() error
}

// MaxDelay is how far in the future a notice may be due. A store that one
// process holds at a time makes due at once, when it is opened, what lies in the
// future although it cannot: a session whose Due does, since the process that
// leased it or put it off has ended, and a session whose Notify lies further
// ahead than MaxDelay, since the clock was set back. Their order stays. A
// session that was leased no longer is. Chosen: longer than the longest pause
// between two attempts at a notice.
const MaxDelay = 36 * time.Hour

// Watcher is implemented by stores that several processes share. It shortens
// the wait for a change that another process made. It is a hint and may be
// lost: whoever uses it polls the store too.
type Watcher interface {
	// Watch calls changed, from one goroutine, for each session that was
	// created, changed or removed from now on, in this process or another one,
	// and returns when ctx is done or the store is closed. A key without ID
	// means that any session may have changed, as after a lost connection.
	// Changed must return soon.
	Watch(ctx context.Context, changed func(key screen.SessionKey)) error
}

// Cursor is a place in a listing: behind the session of this time and ID.
type Cursor struct {
	CreatedAt time.Time
	ID        string
}

// Before says whether c stands before d in a listing.
func (c Cursor) Before(d Cursor) bool {
	if n := c.CreatedAt.Compare(d.CreatedAt); n != 0 {
		return n > 0
	}
	return c.ID < d.ID
}
