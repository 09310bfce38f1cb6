package voicescreen_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
)

// recording is a file that is submitted in the histories.
type recording struct {
	name string
	file []byte
	want error // of the submission
	code string
}

// noProduct is a product that there is not.
const noProduct = 77

// maxWorldBytes is the size of the largest file: more than that of the others.
const maxWorldBytes = 4000

var worldRecordings = []*recording{
	{name: "speech", file: encodeWAV(8000, 1, syllables(8000, 0.1))}, // a score needs a twentieth of a second here
	{name: "speech", file: encodeWAV(8000, 1, syllables(8000, 0.11))},
	{name: "too short", file: tiny, code: screen.CodeAudioLength},
	{name: "no WAV", file: []byte("OggS and so on"), want: voicescreen.ErrAudio},
	{name: "cut short", file: tiny[:200], want: voicescreen.ErrAudio},
	{name: "stereo", file: encodeWAV(8000, 2, make([]float64, 200)), want: voicescreen.ErrAudio},
	{name: "too large", file: encodeWAV(8000, 1, make([]float64, maxWorldBytes)), want: voicescreen.ErrTooLarge},
	{name: "broken off", file: nil, want: voicescreen.ErrUpload},
}

// errBroken ends uploads that break off.
var errBroken = errors.New("connection reset")

// incoming is an upload, in the course of which something happens.
type incoming struct {
	*bytes.Reader
	first, last func()
	err         error // at its end
}

func (u *incoming) Read(p []byte) (int, error) {
	if u.first != nil {
		u.first()
		u.first = nil
	}
	n, err := u.Reader.Read(p)
	if err == io.EOF {
		u.last()
		err = u.err
	}
	return n, err
}

func (h *history) initiate() {
	p := h.player()
	if p == nil {
		return
	}
	account, user := rapid.SampledFrom(worldAccounts).Draw(h.T, "account"), rapid.SampledFrom([]string{"u", "v", ""}).Draw(h.T, "user")
	consent := rapid.IntRange(0, 9).Draw(h.T, "consent") > 0
	id, err := p.Tenant(account).Initiate(h.ctx, voicescreen.InitiateRequest{UserID: user, Consent: consent})
	switch {
	case user == "":
		h.want("Initiate without a user", err, voicescreen.ErrInvalid)
	case !consent:
		h.want("Initiate without consent", err, voicescreen.ErrConsent)
	default:
		h.want("Initiate", err, nil)
		if h.sessions[id] != nil {
			h.Fatalf("Initiate: got session %s a second time", id)
		}
		record, err := h.st.Get(h.ctx, account, id)
		h.want("Get", err, nil)
		now, created := h.time(), record.CreatedAt
		if off := created.Sub(now); off < 0 || off > time.Millisecond { // sessions of one time are some microseconds apart
			h.Fatalf("Initiate: got a session created at %v, want %v", created, now)
		}
		h.sessions[id] = &expected{account: account, user: user, id: id, state: screen.StatusInitiated, created: created, updated: created}
	}
}

func (h *history) submit() {
	p := h.player()
	if p == nil {
		return
	}
	account, id := h.target(func(s *expected) bool { return s.state == screen.StatusInitiated })
	rec := worldRecordings[0]
	if rapid.IntRange(0, 2).Draw(h.T, "other") == 2 {
		rec = rapid.SampledFrom(worldRecordings).Draw(h.T, "recording")
	}
	product := screen.Product(rapid.SampledFrom([]int{0, 1, 0, 2, 3, 4, 0, 1, noProduct}).Draw(h.T, "product")) // the deepfake one has no fake scorer
	var want error
	switch s := h.find(account, id); {
	case s == nil:
		want = voicescreen.ErrNotFound
	case s.state != screen.StatusInitiated:
		want = voicescreen.ErrConflict
	case product == noProduct:
		want = voicescreen.ErrInvalid
	case h.queued()+p.uploads >= worldLimit:
		reached["the queue is full"]++
		want = voicescreen.ErrBusy
	}
	upload := &incoming{Reader: bytes.NewReader(rec.file), first: func() {}, last: func() {}, err: io.EOF}
	switch {
	case want != nil:
		upload.first = func() { h.Fatalf("the upload was read, want %v before", want) }
	case rapid.Bool().Draw(h.T, "early"):
		upload.first = func() { h.meanwhile() }
	default:
		upload.last = func() { h.meanwhile() }
	}
	if rec.file == nil {
		upload.err = errBroken
	}
	p.uploads++
	_, err := p.Tenant(account).Submit(h.ctx, id, upload, &voicescreen.SubmitOptions{Product: product})
	p.uploads--
	s := h.find(account, id)
	switch {
	case want != nil:
	case rec.want != nil:
		want = rec.want
	case s == nil: // it was erased while the upload came
		want = voicescreen.ErrNotFound
		reached["a session is erased while its upload comes"]++
	case s.state != screen.StatusInitiated: // another one was quicker
		want = voicescreen.ErrConflict
		reached["a session is submitted twice at once"]++
	}
	h.want("Submit of "+rec.name, err, want)
	if want != nil {
		return
	}
	if product == 0 {
		product = screen.DepressionAnxiety
	}
	now := h.time()
	s.state, s.product, s.recording = screen.StatusProcessing, product, rec
	s.submitted, s.updated, s.due = now, now, now
}

func (h *history) result() {
	p := h.player()
	if p == nil {
		return
	}
	account, id := h.target(anySession)
	r, err := p.Tenant(account).Result(h.ctx, id)
	if s := h.find(account, id); s != nil {
		h.want("Result", err, nil)
		h.checkResult(r, s)
		return
	}
	h.want("Result", err, voicescreen.ErrNotFound)
}

// storedPage is a cursor that a page ended with, and the place it stands for.
type storedPage struct {
	account, user, cursor string
	created               time.Time
	id                    string
}

func (h *history) results() {
	p := h.player()
	if p == nil {
		return
	}
	account, user := rapid.SampledFrom(worldAccounts).Draw(h.T, "account"), rapid.SampledFrom(worldUsers).Draw(h.T, "user")
	page := voicescreen.Page{Limit: rapid.IntRange(0, 3).Draw(h.T, "limit")}
	want := h.listing(account, user)
	if len(h.pages) > 0 && rapid.Bool().Draw(h.T, "go on") { // from a page of long ago, perhaps
		from := h.pages[rapid.IntRange(0, len(h.pages)-1).Draw(h.T, "page")]
		reached["a listing goes on from a page"]++
		account, user, page.Cursor = from.account, from.user, from.cursor
		want = slices.DeleteFunc(h.listing(account, user), func(s *expected) bool {
			return s.created.After(from.created) || s.created.Equal(from.created) && s.id <= from.id
		})
	}
	more := page.Limit > 0 && len(want) > page.Limit
	if more {
		want = want[:page.Limit]
	}
	got, next, err := p.Tenant(account).Results(h.ctx, user, page)
	h.want("Results", err, nil)
	if len(got) != len(want) || (next != "") != more {
		h.Fatalf("Results: got %d and cursor %q, want %d and more: %v", len(got), next, len(want), more)
	}
	for i := range got {
		h.checkResult(got[i], want[i])
	}
	if more {
		last := want[len(want)-1]
		h.pages = append(h.pages, &storedPage{account, user, next, last.created, last.id})
	}
}

// wait waits for a result that is there, or not for long.
func (h *history) wait() {
	p := h.player()
	if p == nil {
		return
	}
	account, id := h.target(anySession)
	s := h.find(account, id)
	ctx, cancel := context.WithCancel(h.ctx)
	defer cancel()
	if s != nil && s.state < screen.StatusSuccess {
		time.AfterFunc(time.Millisecond, cancel)
	}
	r, err := p.Tenant(account).Wait(ctx, id)
	switch {
	case s == nil:
		h.want("Wait", err, voicescreen.ErrNotFound)
	case s.state < screen.StatusSuccess:
		h.want("Wait", err, context.Canceled)
	default:
		h.want("Wait", err, nil)
		h.checkResult(r, s)
	}
}

func (h *history) feedback() {
	p := h.player()
	if p == nil {
		return
	}
	account, id := h.target(func(s *expected) bool { return s.state != screen.StatusInitiated })
	f, none := h.label()
	err := p.Tenant(account).Feedback(h.ctx, id, f)
	s := h.find(account, id)
	switch {
	case none:
		h.want("Feedback that is none", err, voicescreen.ErrInvalid)
		return
	case s == nil:
		h.want("Feedback", err, voicescreen.ErrNotFound)
		return
	case s.state == screen.StatusInitiated:
		h.want("Feedback before the submission", err, voicescreen.ErrConflict)
		return
	case h.time().After(s.submitted.Add(24 * time.Hour)):
		reached["a label comes too late"]++
		h.want("Feedback after a day", err, voicescreen.ErrTooLate)
		return
	}
	h.want("Feedback", err, nil)
	if s.labels.PHQ2 != nil && f.PHQ9 != nil || s.labels.PHQ9 != nil && f.PHQ2 != nil {
		reached["a label is replaced"]++
	}
	switch { // PHQ-2 and PHQ-9 replace each other
	case f.PHQ2 != nil:
		s.labels.PHQ2, s.labels.PHQ9 = f.PHQ2, nil
	case f.PHQ9 != nil:
		s.labels.PHQ9, s.labels.PHQ2 = f.PHQ9, nil
	case f.GAD7 != nil:
		s.labels.GAD7 = f.GAD7
	default:
		s.labels.Depression = f.Depression
	}
	s.labels.UpdatedAt = h.time()
	s.updated = h.time()
}

// label draws a label, and says whether it is none.
func (h *history) label() (f voicescreen.Feedback, none bool) {
	items := func(n int) []int {
		list := make([]int, n)
		for i := range list {
			list[i] = rapid.IntRange(0, 3).Draw(h.T, "item")
		}
		return list
	}
	switch rapid.IntRange(0, 4).Draw(h.T, "label") {
	case 0:
		f.PHQ2 = items(2)
	case 1:
		f.PHQ9 = items(9)
	case 2:
		f.GAD7 = items(7)
	case 3:
		f.Depression = screen.Interview(rapid.IntRange(1, 3).Draw(h.T, "interview"))
	default:
		wrong := []voicescreen.Feedback{{}, {PHQ2: items(3)}, {PHQ9: append(items(8), 4)}, {GAD7: append(items(6), -1)}, {PHQ2: items(2), PHQ9: items(9)}, {Depression: 4}}
		return rapid.SampledFrom(wrong).Draw(h.T, "wrong"), true
	}
	return f, false
}

func (h *history) remove() {
	p := h.player()
	if p == nil {
		return
	}
	account, id := h.target(anySession)
	err := p.Tenant(account).Delete(h.ctx, id)
	if h.find(account, id) == nil {
		h.want("Delete", err, voicescreen.ErrNotFound)
		return
	}
	h.want("Delete", err, nil)
	delete(h.sessions, id)
}

func (h *history) forget() {
	p := h.player()
	if p == nil {
		return
	}
	account, user := rapid.SampledFrom(worldAccounts).Draw(h.T, "account"), rapid.SampledFrom(worldUsers).Draw(h.T, "user")
	h.want("Forget", p.Tenant(account).Forget(h.ctx, user), nil)
	for id, s := range h.sessions {
		if s.account == account && s.user == user {
			delete(h.sessions, id)
		}
	}
}

// advance sets the clock on: by little, to about when something ends, or far.
func (h *history) advance() {
	d := rapid.SampledFrom([]time.Duration{
		time.Millisecond, time.Second, 4 * time.Second, time.Minute, worldLease - time.Microsecond, worldLease,
		voicescreen.FeedbackWindow, voicescreen.FeedbackWindow + time.Microsecond, worldRetain - time.Microsecond, 8 * 24 * time.Hour,
	}).Draw(h.T, "later by")
	h.now.Add(d)
}
