package storetest

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// The values that histories draw. They are few, so that calls often hit the same
// session, and similar, so that a wrong key confuses them.
var (
	drawnAccounts = []string{"", "a", "a\u00e9"}
	drawnUsers    = []string{"u", "a", "\u0301u"}
	drawnIDs      = []string{"s", "t", "ss", "s\x01", "\x01s"}
)

// checkHistories compares random histories of calls with a model. The IDs of a call may
// be those of another account. If reopen is not nil, histories also close the store and
// open it again, or continue in another process; reopened does the same to the model.
func checkHistories(t *testing.T, st *subject, reopen func(*subject) *subject, reopened func(*history)) {
	rapid.Check(t, func(rt *rapid.T) {
		h := &history{T: rt, t: t, st: st, sessions: map[string]*store.Session{}, audio: map[string]string{}}
		h.beginDocuments()
		ended := false
		defer func() {
			st = h.st
			h.cleanup(ended)
		}()
		actions := map[string]func(*rapid.T){
			"create": h.create, "get": h.get, "update": h.update, "next": h.next, "next notice": h.nextNotice, "expire": h.expire,
			"list": h.list, "delete": h.delete, "forget": h.forget, "audio": h.putAudio, "document": h.putDocument, "": h.check,
		}
		if reopen != nil {
			actions["reopen"] = func(*rapid.T) {
				h.st = reopen(h.st)
				reopened(h)
				maps.DeleteFunc(h.audio, func(ref, _ string) bool { // the store may have swept orphans
					kept := slices.ContainsFunc(slices.Collect(maps.Values(h.sessions)), func(s *store.Session) bool { return s.Audio == ref })
					if !kept {
						wantErr(t, "Audio.Remove", h.st.Audio().Remove(t.Context(), ref), nil)
					}
					return !kept
				})
			}
		}
		rt.Repeat(actions)
		ended = true
	})
}

// history is one random history: the store, and the model of what is in it.
type history struct {
	*rapid.T
	t        *testing.T
	st       *subject
	sessions map[string]*store.Session // by ID
	audio    map[string]string         // by reference
	docs     map[string][]string       // by name: the content at each revision since the history began
	before   map[string]uint64         // the revisions when it began
}

func (h *history) account() string { return rapid.SampledFrom(drawnAccounts).Draw(h.T, "account") }
func (h *history) user() string    { return rapid.SampledFrom(drawnUsers).Draw(h.T, "user") }
func (h *history) id() string      { return rapid.SampledFrom(drawnIDs).Draw(h.T, "id") }

// time draws one of a few times, so that there are ties, or the zero time.
func (h *history) time(name string) time.Time {
	if n := rapid.IntRange(-2, 5).Draw(h.T, name); n >= 0 {
		return at(n)
	}
	return time.Time{}
}

// ref draws a reference to audio that no session refers to, or "".
func (h *history) ref() string {
	free := []string{""}
	for _, ref := range slices.Sorted(maps.Keys(h.audio)) {
		if !slices.ContainsFunc(slices.Collect(maps.Values(h.sessions)), func(s *store.Session) bool { return s.Audio == ref }) {
			free = append(free, ref)
		}
	}
	return free[rapid.IntRange(0, len(free)-1).Draw(h.T, "audio")]
}

func (h *history) find(account, id string) *store.Session {
	if s := h.sessions[id]; s != nil && s.Account == account {
		return s
	}
	return nil
}

func (h *history) want(call string, got, want error) {
	h.Helper()
	if !errors.Is(got, want) {
		h.Fatalf("%s: got error %v, want %v", call, got, want)
	}
}

func (h *history) create(*rapid.T) {
	s := session(h.account(), h.id(), h.user())
	s.CreatedAt, s.Due, s.Audio = at(rapid.IntRange(0, 2).Draw(h.T, "created")), h.time("due"), h.ref()
	s.Status, s.UpdatedAt, s.Notify = h.state(), at(rapid.IntRange(0, 5).Draw(h.T, "updated")), h.time("notify")
	s.Features = h.features()
	err := h.st.Create(h.t.Context(), s)
	if h.sessions[s.ID] != nil {
		h.want("Create", err, store.ErrExists)
		return
	}
	h.want("Create", err, nil)
	h.sessions[s.ID] = s
}

func (h *history) get(*rapid.T) {
	account, id := h.account(), h.id()
	got, err := h.st.Get(h.t.Context(), account, id)
	want := h.find(account, id)
	if want == nil {
		h.want("Get", err, store.ErrNotFound)
		return
	}
	h.want("Get", err, nil)
	wantSame(h.T, "Get", got, want)
}

// features draws the features of a session, often nil.
func (h *history) features() map[string]float64 {
	if n := rapid.IntRange(0, 4).Draw(h.T, "features"); n > 1 {
		return map[string]float64{"a": float64(n)}
	}
	return nil
}

// state draws any valid state.
func (h *history) state() screen.Status {
	return screen.Status(rapid.IntRange(int(screen.StatusInitiated), int(screen.StatusFailed)).Draw(h.T, "state"))
}

// draw returns a random change. It draws all values before it returns, since the store
// may call the change more than once.
func (h *history) draw(moveDue, moveNotify bool) store.Change {
	state, updated, notify := h.state(), at(rapid.IntRange(0, 5).Draw(h.T, "updated")), h.time("notify")
	features := h.features()
	fail, due, ref, attempts := rapid.IntRange(0, 4).Draw(h.T, "fail") == 0, h.time("due"), h.ref(), rapid.IntRange(0, 3).Draw(h.T, "attempts")
	return func(s *store.Session, _ time.Time) error {
		if moveDue && due.Equal(s.Due) {
			due = due.Add(time.Minute)
		}
		if moveNotify && notify.Equal(s.Notify) {
			notify = notify.Add(time.Minute)
		}
		s.Status, s.UpdatedAt, s.Notify = state, updated, notify
		s.Due, s.Audio, s.Attempts = due, ref, attempts
		s.Features = features
		if fail {
			return errChange
		}
		return nil
	}
}

// apply applies a change to the model and compares the result of the store's call.
func (h *history) apply(call string, before *store.Session, change store.Change, got *store.Session, err error) {
	after := headOf(before)
	if change(after, h.st.clock.now().UTC()) != nil {
		h.want(call, err, errChange)
		return
	}
	h.want(call, err, nil)
	wantSame(h.T, call, got, after)
	if !after.Analyzed() {
		after.Scores, after.Features = before.Scores, before.Features
	}
	h.sessions[after.ID] = after
	if before.Audio != after.Audio {
		delete(h.audio, before.Audio)
	}
}

func (h *history) update(*rapid.T) {
	account, id, change := h.account(), h.id(), h.draw(false, false)
	got, err := h.st.Update(h.t.Context(), account, id, change)
	before := h.find(account, id)
	if before == nil {
		h.want("Update", err, store.ErrNotFound)
		return
	}
	h.apply("Update", before, change, got, err)
}

func (h *history) next(*rapid.T) {
	now, change := at(rapid.IntRange(-1, 6).Draw(h.T, "now")), h.draw(true, false)
	var longest time.Time
	for _, s := range h.sessions {
		if !s.Due.IsZero() && !s.Due.After(now) && (longest.IsZero() || s.Due.Before(longest)) {
			longest = s.Due
		}
	}
	var seen *store.Session
	got, err := h.st.nextAt(h.t.Context(), now, func(s *store.Session, now time.Time) error {
		seen = s.Clone()
		return change(s, now)
	})
	if longest.IsZero() {
		h.want("Next", err, store.ErrNoneDue)
		return
	}
	if seen == nil || !seen.Due.Equal(longest) || h.sessions[seen.ID] == nil {
		h.Fatalf("Next: got %+v and error %v, want a session due %v", seen, err, longest)
	}
	wantSame(h.T, "Next", seen, headOf(h.sessions[seen.ID]))
	h.apply("Next", h.sessions[seen.ID], change, got, err)
}

func (h *history) nextNotice(*rapid.T) {
	without, now, change := h.without(), at(rapid.IntRange(-1, 6).Draw(h.T, "now")), h.draw(false, true)
	var longest time.Time
	for _, s := range h.sessions {
		if !slices.Contains(without, s.Account) && !s.Notify.IsZero() && !s.Notify.After(now) && (longest.IsZero() || s.Notify.Before(longest)) {
			longest = s.Notify
		}
	}
	var seen *store.Session
	got, err := h.st.noticeAt(h.t.Context(), without, now, func(s *store.Session, now time.Time) error {
		seen = s.Clone()
		return change(s, now)
	})
	if longest.IsZero() {
		h.want("NextNotice", err, store.ErrNoneDue)
		return
	}
	if seen == nil || slices.Contains(without, seen.Account) || !seen.Notify.Equal(longest) || h.sessions[seen.ID] == nil {
		h.Fatalf("NextNotice: got %+v and error %v, want a session with notice %v", seen, err, longest)
	}
	wantSame(h.T, "NextNotice", seen, headOf(h.sessions[seen.ID]))
	h.apply("NextNotice", h.sessions[seen.ID], change, got, err)
}

// without draws accounts to leave out.
func (h *history) without() (accounts []string) {
	for _, account := range append(drawnAccounts, "nobody") {
		if rapid.Bool().Draw(h.T, "without") {
			accounts = append(accounts, account)
		}
	}
	return accounts
}

func (h *history) expire(*rapid.T) {
	before, limit := at(rapid.IntRange(-1, 5).Draw(h.T, "before")), rapid.IntRange(0, 3).Draw(h.T, "limit")
	old := map[string]*store.Session{}
	for id, s := range h.sessions {
		if s.Status != screen.StatusProcessing && !s.UpdatedAt.After(before) {
			old[id] = s
		}
	}
	list, err := h.st.expireUntil(h.t.Context(), before, limit)
	h.want("Expire", err, nil)
	if want := min(limit, len(old)); len(list) != want {
		h.Fatalf("Expire: got %v, want %d", list, want)
	}
	for id, s := range old { // the store chooses which of them expire
		_, err := h.st.Get(h.t.Context(), s.Account, id)
		if err == nil {
			continue
		}
		h.want("Get", err, store.ErrNotFound)
		if key := (screen.SessionKey{Account: s.Account, ID: s.ID}); !slices.Contains(list, key) {
			h.Fatalf("Expire: got %v, and %v was removed", list, key)
		}
		delete(h.sessions, id)
		delete(h.audio, s.Audio)
	}
	for _, key := range list {
		if _, err := h.st.Get(h.t.Context(), key.Account, key.ID); err == nil {
			h.Fatalf("Expire: got %v, and %v still exists", list, key)
		}
	}
}

// listing returns the model's sessions of a user in order.
func (h *history) listing(account, user string) []*store.Session {
	var list []*store.Session
	for _, s := range h.sessions {
		if s.Account == account && s.UserID == user {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b *store.Session) int {
		if n := b.CreatedAt.Compare(a.CreatedAt); n != 0 {
			return n
		}
		return strings.Compare(a.ID, b.ID)
	})
	return list
}

func (h *history) list(*rapid.T) {
	account, user := h.account(), h.user()
	want := h.listing(account, user)
	var after *store.Cursor
	if rapid.Bool().Draw(h.T, "from a cursor") {
		after = &store.Cursor{CreatedAt: at(rapid.IntRange(-1, 3).Draw(h.T, "cursor")), ID: h.id()}
		want = slices.DeleteFunc(want, func(s *store.Session) bool {
			return s.CreatedAt.After(after.CreatedAt) || s.CreatedAt.Equal(after.CreatedAt) && s.ID <= after.ID
		})
	}
	limit := rapid.IntRange(-1, 6).Draw(h.T, "limit")
	want = want[:max(0, min(limit, len(want)))]
	got, err := h.st.List(h.t.Context(), account, user, after, limit)
	h.want("List", err, nil)
	if !slices.Equal(ids(got), ids(want)) {
		h.Fatalf("List: got %q, want %q", ids(got), ids(want))
	}
	for i := range got {
		wantSame(h.T, "List", got[i], want[i])
	}
}

func (h *history) delete(*rapid.T) {
	account, id := h.account(), h.id()
	err := h.st.Delete(h.t.Context(), account, id)
	s := h.find(account, id)
	if s == nil {
		h.want("Delete", err, store.ErrNotFound)
		return
	}
	h.want("Delete", err, nil)
	delete(h.sessions, id)
	delete(h.audio, s.Audio)
}

func (h *history) forget(*rapid.T) {
	account, user := h.account(), h.user()
	n, err := h.st.Forget(h.t.Context(), account, user)
	h.want("Forget", err, nil)
	want := h.listing(account, user)
	if n != len(want) {
		h.Fatalf("Forget: got %d, want %d", n, len(want))
	}
	for _, s := range want {
		delete(h.sessions, s.ID)
		delete(h.audio, s.Audio)
	}
}

func (h *history) putAudio(*rapid.T) {
	content := rapid.StringN(0, 20, 20).Draw(h.T, "content")
	ref, err := h.st.Audio().Put(h.t.Context(), strings.NewReader(content))
	h.want("Audio.Put", err, nil)
	h.audio[ref] = content
}

// check compares the whole store with the model, after every step.
func (h *history) check(*rapid.T) {
	due := 0
	for id, want := range h.sessions {
		if !want.Due.IsZero() {
			due++
		}
		for _, account := range drawnAccounts {
			got, err := h.st.Get(h.t.Context(), account, id)
			if account != want.Account {
				h.want("Get in another account", err, store.ErrNotFound)
				continue
			}
			h.want("Get", err, nil)
			wantSame(h.T, "Get", got, want)
		}
		if _, stored := h.audio[want.Audio]; want.Audio != "" && !stored {
			h.Fatalf("a session refers to audio that was removed") // a fault of the model
		}
	}
	if got, err := h.st.Due(h.t.Context()); got != due || err != nil {
		h.Fatalf("Due: got %d and error %v, want %d", got, err, due)
	}
	for ref, content := range h.audio {
		wantAudio(h.T, h.st, ref, []byte(content))
	}
	h.checkDocuments()
}
