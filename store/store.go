package store

import (
	"context"
	"errors"
	"io"
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
	// ErrInvalid says that a record cannot be stored: see [Session.Check] and
	// [Session.CheckChange]. It is a mistake of the program.
	ErrInvalid = errors.New("store: invalid record")
	// ErrClosed says that the store was closed.
	ErrClosed = errors.New("store: closed")
	// ErrDamaged says that what is stored cannot be read.
	ErrDamaged = errors.New("store: damaged")
)

// Store keeps sessions and the audio that waits to be analysed. All methods
// are safe for concurrent use, by several processes too where the
// implementation allows several. When a method returns nil, what it did
// survives a crash and a power failure (in stores that outlive the process),
// and every later call sees it. When it returns an error, nothing changed;
// only where a disk or a connection fails in the very last moment may the
// change have been made all the same, as a whole.
//
// Records go in and come out by value: neither side may see the other's later
// changes. They come out as they went in, with undefined numbers and strings
// of any bytes, but that times are in UTC without a monotonic reading, and
// empty slices and maps are nil. A context that is done at the start of a call
// ends it with the context's error. Store/storetest has a case for each
// promise made here.
type Store interface {
	// Create adds a session. Account, ID, UserID, State and CreatedAt are set
	// by the caller; account and user may be "". It returns ErrExists if the
	// ID is taken, and ErrInvalid for what Session.Check refuses.
	Create(ctx context.Context, s *Session) error

	// Get returns a session of the account. It returns ErrNotFound where
	// there is none, also where another account has one of that ID.
	Get(ctx context.Context, account, id string) (*Session, error)

	// Update applies change to the current record and stores the result, all
	// in one transaction: concurrent updates of a session happen one after the
	// other. If change returns an error, nothing is stored and Update returns
	// that error as it is; if it panics, nothing is stored either, and Update
	// panics. Change may be called more than once, each time on a fresh copy,
	// and in another goroutine, which it must not end; it must not touch the
	// store. A result that Session.CheckChange refuses is not stored, and the
	// error is ErrInvalid: Account, ID, UserID and CreatedAt stay as they are.
	// If the result's Audio differs from what it was, the former audio is
	// removed after the commit.
	//
	// Change is not given the Scores and Features, which are most of a record
	// and which an update does not ask for: both are nil. Unless change sets
	// one of them (Session.Analyzed), what is stored of both stays; otherwise
	// both are replaced. The session returned is what was stored, without the
	// Scores and Features that stayed. It may be the one that change was given,
	// and refer to what change put into it.
	Update(ctx context.Context, account, id string, change func(*Session) error) (*Session, error)

	// Next applies change, as Update does, to the session that has been due
	// longest: the one of the smallest Due that is not zero and not after now,
	// of any account. Change must move Due, else the error is ErrInvalid: so
	// of all calls that succeed no two saw the same Due of one session. It
	// returns ErrNoneDue where there is none.
	Next(ctx context.Context, now time.Time, change func(*Session) error) (*Session, error)

	// Due counts the sessions whose Due is not zero.
	Due(ctx context.Context) (int, error)

	// NextNotice applies change, as Next does, to the session of the account
	// whose Notify is the smallest that is not zero and not after now. Change
	// must move Notify, else the error is ErrInvalid. It returns ErrNoneDue
	// where there is none. Each account has a queue of its own, so that one
	// whose receiver does not answer holds up no other; Due does not count
	// them.
	NextNotice(ctx context.Context, account string, now time.Time, change func(*Session) error) (*Session, error)

	// Expire removes, in one transaction, at most limit of the sessions of all
	// accounts that are kept since before or longer: whose Session.Kept is
	// neither zero nor after before. It removes as Delete does and returns which
	// they were, with empty keys for those whose records are damaged; fewer
	// than limit means that none is left. With an error, too, those that it
	// returns are removed. What is to expire is decided by the
	// call and not kept with the session, so that a period that is changed
	// holds for sessions stored before.
	Expire(ctx context.Context, before time.Time, limit int) ([]screen.SessionKey, error)

	// List returns at most limit sessions of one user of the account, ordered
	// by CreatedAt descending and then ID ascending, beginning behind the
	// cursor; nil is the beginning. A user without sessions has an empty list,
	// and so has a limit below 1. The cursor's session need not exist.
	List(ctx context.Context, account, userID string, after *Cursor, limit int) ([]*Session, error)

	// Scan returns at most limit sessions of all accounts, in an order of the
	// store's own, beginning behind the session of the ID after, which need
	// not exist; "" is the beginning. Of a store that does not change meanwhile, calls that
	// go on from the last ID they were given return every session once; one
	// that is made or removed meanwhile may be among them or not. A limit
	// below 1 has none, and otherwise fewer than limit mean that no more
	// follow. Records that cannot be read do not stop it: they are passed over,
	// the sessions behind them are returned, up to limit, and beside them a
	// DamagedError, which counts each such record in one of the calls. With any
	// other error nothing is returned.
	Scan(ctx context.Context, after string, limit int) ([]*Session, error)

	// Delete removes a session and its audio. It returns ErrNotFound as Get does.
	Delete(ctx context.Context, account, id string) error

	// Forget removes every session of one user of the account in one
	// transaction, with their audio, and returns how many there were.
	Forget(ctx context.Context, account, userID string) (int, error)

	// PutAudio stores all that r gives and returns a reference to it. The
	// audio is durable when PutAudio returns; it stays until a session that
	// refers to it lets go of it, or RemoveAudio. Audio that no session refers
	// to may also be removed when the store is opened the next time. If reading r fails, the
	// error is returned as it is and nothing is kept. A reference holds no
	// trace of a user, session or account.
	PutAudio(ctx context.Context, r io.Reader) (ref string, err error)

	// OpenAudio opens stored audio for reading; ErrNotFound if there is none,
	// whatever the reference looks like.
	OpenAudio(ctx context.Context, ref string) (io.ReadCloser, error)

	// RemoveAudio removes stored audio that no session refers to; removing what
	// is not there, or is referred to, does nothing and is no error. So who
	// could not hand audio to a session may call it without knowing whether the
	// session has it all the same.
	RemoveAudio(ctx context.Context, ref string) error

	// Ping returns nil if the store can be written to now.
	Ping(ctx context.Context) error

	// Close releases the store. Every later call returns ErrClosed, a second
	// Close too. Close waits for calls that are under way.
	Close() error
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
