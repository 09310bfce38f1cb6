package voicescreen_test

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// model is what must be stored, and what must have been told.
type model struct {
	sessions  map[string]*expected // by ID
	audio     map[string][]byte    // all that was ever stored, by reference
	made      int                  // identifiers
	announced []string             // calls of OnResult, in order
	wanted    []string             // accounts that are to be told
	pages     []*storedPage
}

// expected is a session as it must be.
type expected struct {
	account, user, id           string
	state                       screen.Status
	created, updated, submitted time.Time
	product                     screen.Product
	recording                   *recording
	ref                         string // of the audio, once it was seen
	failure                     string
	labels                      screen.Labels

	due      time.Time
	owner    string
	token    uint64
	attempts int

	notify  time.Time // if jitter is not zero, only nearly
	jitter  time.Duration
	notices int
}

func (m *model) find(account, id string) *expected {
	if s := m.sessions[id]; s != nil && s.account == account {
		return s
	}
	return nil
}

// queued returns how many recordings wait or are in work.
func (m *model) queued() (n int) {
	for _, s := range m.sessions {
		if s.state == screen.StatusProcessing {
			n++
		}
	}
	return n
}

// listing returns the submitted sessions of a user as Results must.
func (m *model) listing(account, user string) []*expected {
	var list []*expected
	for _, s := range m.sessions {
		if s.account == account && s.user == user && s.state != screen.StatusInitiated {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b *expected) int {
		if n := b.created.Compare(a.created); n != 0 {
			return n
		}
		return strings.Compare(a.id, b.id)
	})
	return list
}

// earliest returns the smallest time that time returns for a session; zero times
// do not count.
func (m *model) earliest(time func(*expected) time.Time) (least time.Time) {
	for _, s := range m.sessions {
		if t := time(s); !t.IsZero() && (least.IsZero() || t.Before(least)) {
			least = t
		}
	}
	return least
}

// final ends a session: it has its result, and the audio goes.
func (m *model) final(s *expected, state screen.Status, failure string, now time.Time) {
	s.state, s.failure, s.updated = state, failure, now
	s.due, s.owner, s.recording, s.ref = time.Time{}, "", nil, ""
	if slices.Contains(m.wanted, s.account) {
		s.notify, s.jitter = now, 0
	}
}

// announce has OnResult called, once, by the engine that ended the session.
func (m *model) announce(s *expected) {
	m.announced = append(m.announced, fmt.Sprint(s.account, "/", s.id, " ", s.state))
}

// attemptFailed counts a failed attempt: the third is the last, and after each
// other there is a pause, which doubles.
func (m *model) attemptFailed(s *expected, now time.Time) {
	if s.attempts >= worldAttempts {
		m.final(s, screen.StatusFailed, screen.CodeInternal, now)
		m.announce(s)
		return
	}
	s.owner, s.due = "", now.Add(time.Second<<(s.attempts-1))
}

// check compares all that is stored with the model.
func (h *history) check(*rapid.T) {
	if !slices.Equal(h.told, h.announced) {
		h.Fatalf("OnResult: got calls %q, want %q", h.told, h.announced)
	}
	all, err := h.st.Scan(h.ctx, "", 1000)
	h.want("Scan", err, nil)
	if len(all) != len(h.sessions) {
		h.Fatalf("got %d sessions in the store, want %d", len(all), len(h.sessions))
	}
	if due, err := h.st.Due(h.ctx); due != h.queued() || err != nil {
		h.Fatalf("got %d due and error %v, want %d", due, err, h.queued())
	}
	waiting := map[string]bool{}
	for _, id := range slices.Sorted(maps.Keys(h.sessions)) {
		s := h.sessions[id]
		record, err := h.st.Get(h.ctx, s.account, s.id)
		h.want("Get", err, nil)
		h.checkRecord(record, s)
		waiting[s.ref] = true
		for _, p := range h.engines {
			if p.Engine != nil {
				r, err := p.Tenant(s.account).Result(h.ctx, s.id)
				h.want("Result", err, nil)
				h.checkResult(r, s)
			}
		}
	}
	for ref, content := range h.audio {
		f, err := h.st.Audio().Open(h.ctx, ref)
		if !waiting[ref] {
			h.want("OpenAudio of what is to be erased", err, store.ErrNotFound)
			continue
		}
		h.want("OpenAudio", err, nil)
		b, err := io.ReadAll(f)
		_ = f.Close()
		if err != nil || string(b) != string(content) {
			h.Fatalf("got %d bytes of audio and error %v, want the upload's %d", len(b), err, len(content))
		}
	}
}

// checkRecord compares what is stored of a session with the model.
func (h *history) checkRecord(got *store.Session, want *expected) {
	h.Helper()
	h.settle(want)
	if want.recording != nil && want.ref == "" {
		want.ref = got.Audio
		if string(h.audio[got.Audio]) != string(want.recording.file) {
			h.Fatalf("session %s has other audio than was submitted", want.id)
		}
	}
	type queue struct {
		state             screen.Status
		due, notify       time.Time
		owner             string
		token             uint64
		attempts, notices int
		audio             string
	}
	g := queue{got.Status, got.Due, got.Notify, got.Owner, got.Token, got.Attempts, got.Notices, got.Audio}
	w := queue{want.state, want.due, want.notify, want.owner, want.token, want.attempts, want.notices, want.ref}
	if g != w {
		h.Fatalf("session %s: got record\n%+v, want\n%+v", want.id, g, w)
	}
}

// settle takes over when a notice is sent again, which is random by a fifth.
func (h *history) settle(s *expected) {
	if s.jitter == 0 {
		return
	}
	record, err := h.st.Get(h.ctx, s.account, s.id)
	h.want("Get", err, nil)
	if off := record.Notify.Sub(s.notify).Abs(); off > s.jitter {
		h.Fatalf("session %s: got its notice due at %v, want %v within %v", s.id, record.Notify, s.notify, s.jitter)
	}
	s.notify, s.jitter = record.Notify, 0
}

// checkResult compares what a caller sees of a session with the model.
func (h *history) checkResult(got *voicescreen.Result, want *expected) {
	h.Helper()
	type seen struct {
		id, user                    string
		product                     screen.Product
		status                      screen.Status
		created, updated, submitted time.Time
		failure, labels             string
		scores                      int
		features                    bool
	}
	g := seen{got.SessionID, got.UserID, got.Product, got.Status, got.CreatedAt, got.UpdatedAt, got.SubmittedAt, "", fmt.Sprint(got.Labels), len(got.Scores), len(got.Features) > 0}
	if got.Failure != nil {
		g.failure = got.Failure.Code
	}
	w := seen{want.id, want.user, want.product, want.state, want.created, want.updated, want.submitted, want.failure, fmt.Sprint(want.labels), 0, false}
	if want.state == screen.StatusSuccess {
		w.scores, w.features = len(want.product.Categories()), true
	}
	if g != w {
		h.Fatalf("got result\n%+v, want\n%+v", g, w)
	}
}
