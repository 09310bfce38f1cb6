//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// visit is a session as a client knows it, by what the service acknowledged.
type visit struct {
	id, user  string
	submitted bool
	gone      bool   // deleted or forgotten
	labelled  bool   // it asks for a product that takes labels; the others get scores
	label     string // of PHQ-2
	result    string // as it was first seen, without labels
	audio     int    // which recording

	// An operation that the service did not answer, "" for none: it may have
	// been done or not.
	open string

	// Labels of feedback that it did not answer, any of which may be stored. An
	// answer of a session that is being analysed does not tell.
	openLabels []string
}

// visitor is a client that does one thing after the other and keeps a journal.
// It is the only one that touches its sessions.
type visitor struct {
	name, key, base string
	rnd             *rand.Rand
	recordings      [][]byte
	visits          []*visit
	stalls          bool           // it only begins to upload
	acknowledged    map[string]int // by operation
	faults          []string
	http            *http.Client
}

// errAway says that the service does not answer any more.
var errAway = errors.New("the service does not answer")

// maxWaiting is how many recordings of a client may wait. Chosen: all are
// analysed within a second.
const maxWaiting = 3

// visitPause is the pause between two operations. Chosen: it leaves the
// processor to the service, and the store small.
const visitPause = 2 * time.Millisecond

// work makes operations until the service does not answer.
func (v *visitor) work(ctx context.Context) {
	v.http = &http.Client{Transport: &http.Transport{}}
	defer v.http.CloseIdleConnections()
	for _, s := range v.visits {
		if s.open != "" && v.look(ctx, s) != nil {
			return
		}
	}
	if v.stalls {
		v.stall(ctx)
		return
	}
	for v.operate(ctx) == nil {
		time.Sleep(visitPause)
	}
}

// operate makes an operation.
func (v *visitor) operate(ctx context.Context) error {
	var s *visit
	if len(v.visits) > 0 {
		s = v.visits[v.rnd.IntN(len(v.visits))]
		if recent := len(v.visits) - 6; recent > 0 && v.rnd.IntN(4) > 0 {
			s = v.visits[recent+v.rnd.IntN(6)]
		}
	}
	switch p := v.rnd.IntN(20); {
	case s == nil || p < 3:
		return v.initiate(ctx)
	case p < 9 && !s.submitted && !s.gone && v.waiting() < maxWaiting:
		return v.submit(ctx, s)
	case p < 12 && s.submitted && !s.gone && s.labelled:
		return v.feedback(ctx, s)
	case p == 12 && !s.gone:
		return v.remove(ctx, "delete", "/sessions/"+s.id, []*visit{s})
	case p == 13 && v.rnd.IntN(4) == 0:
		var all []*visit
		for _, o := range v.visits {
			if o.user == s.user && !o.gone {
				all = append(all, o)
			}
		}
		return v.remove(ctx, "forget", "/users/"+s.user, all)
	}
	return v.look(ctx, s)
}

func (v *visitor) waiting() (n int) {
	for _, s := range v.visits {
		if s.submitted && !s.gone && s.result == "" {
			n++
		}
	}
	return n
}

func (v *visitor) request(ctx context.Context, method, path, contentType string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, v.base+path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("X-API-Key", v.key)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	return req, nil
}

// call makes a request. The error is errAway if the answer did not come whole.
func (v *visitor) call(ctx context.Context, method, path, contentType string, body io.Reader) (status int, o object, err error) {
	req, err := v.request(ctx, method, path, contentType, body)
	if err != nil {
		return 0, nil, err
	}
	res, err := v.http.Do(req)
	if err != nil {
		return 0, nil, errAway
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, nil, errAway
	}
	_ = json.Unmarshal(b, &o) // an answer without a body stays nil
	return res.StatusCode, o, nil
}

// expect takes down an operation that was acknowledged, or a fault.
func (v *visitor) expect(what string, s *visit, got, want int) {
	if got == want {
		v.acknowledged[what]++
		return
	}
	v.faults = append(v.faults, fmt.Sprintf("%s of session %s: got status %d, want %d", what, s.id, got, want))
}

func (v *visitor) initiate(ctx context.Context) error {
	s := &visit{user: fmt.Sprintf("%s-%d", v.name, len(v.visits)/3), audio: v.rnd.IntN(len(v.recordings)), labelled: v.rnd.IntN(2) == 0}
	status, o, err := v.call(ctx, "POST", "/initiate", form, strings.NewReader("is_initiated=true&user_id="+s.user))
	if err != nil {
		return err
	}
	s.id, _ = o["session_id"].(string)
	v.expect("initiate", s, status, http.StatusCreated)
	if s.id != "" {
		v.visits = append(v.visits, s)
	}
	return nil
}

// upload returns the body of a submission and its content type.
func (v *visitor) upload(s *visit) (body *bytes.Buffer, contentType string) {
	body = &bytes.Buffer{}
	m := multipart.NewWriter(body)
	err := m.WriteField("session_id", s.id)
	part, perr := m.CreateFormFile("file", "answer.wav")
	if err := errors.Join(err, perr); err != nil {
		panic(err) // a buffer takes all
	}
	_, err = part.Write(v.recordings[s.audio])
	if err := errors.Join(err, m.Close()); err != nil {
		panic(err)
	}
	return body, m.FormDataContentType()
}

// stall sends half of an upload and then nothing, so that whenever the service
// is killed it is in the midst of one. No session may have its recording.
func (v *visitor) stall(ctx context.Context) {
	if v.initiate(ctx) != nil || len(v.faults) > 0 {
		return
	}
	body, contentType := v.upload(v.visits[len(v.visits)-1])
	req, err := v.request(ctx, "POST", "/predict", contentType, body)
	var text bytes.Buffer
	if err := errors.Join(err, req.Write(&text)); err != nil {
		panic(err) // a buffer takes all
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", req.URL.Host)
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = conn.Write(text.Bytes()[:text.Len()/2])
	if answer, _ := io.ReadAll(conn); len(answer) > 0 { // it ends with the service
		v.faults = append(v.faults, fmt.Sprintf("half an upload was answered: %s", answer))
	}
}

func (v *visitor) submit(ctx context.Context, s *visit) error {
	body, contentType := v.upload(s)
	s.open = "submit"
	path := "/predict"
	if s.labelled {
		path = "/predict/depression/binary"
	}
	status, _, err := v.call(ctx, "POST", path, contentType, body)
	if err != nil {
		return err
	}
	s.open, s.submitted = "", true
	v.expect("submit", s, status, http.StatusAccepted)
	return nil
}

func (v *visitor) feedback(ctx context.Context, s *visit) error {
	label := fmt.Sprintf("[%d %d]", v.rnd.IntN(4), v.rnd.IntN(4))
	s.open, s.openLabels = "feedback", append(s.openLabels, label)
	body := fmt.Sprintf(`{"session_id":%q,"actual_score":%s}`, s.id, strings.ReplaceAll(label, " ", ","))
	status, _, err := v.call(ctx, "PATCH", "/v2/feedback/phq/2", js, strings.NewReader(body))
	if err != nil {
		return err
	}
	s.open, s.openLabels, s.label = "", nil, label
	v.expect("feedback", s, status, http.StatusOK)
	return nil
}

func (v *visitor) remove(ctx context.Context, what, path string, all []*visit) error {
	for _, s := range all {
		s.open = what
	}
	status, _, err := v.call(ctx, "DELETE", path, "", nil)
	if err != nil {
		return err
	}
	for _, s := range all {
		s.open, s.gone = "", true
	}
	if len(all) > 0 {
		v.expect(what, all[0], status, http.StatusNoContent)
	}
	return nil
}

// look compares what the service says of a session with the journal, and learns
// what became of an operation that it did not answer.
func (v *visitor) look(ctx context.Context, s *visit) error {
	status, o, err := v.call(ctx, "GET", "/predict/sessions/"+s.id, "", nil)
	if err != nil {
		return err
	}
	for _, fault := range s.compare(status, o) {
		v.faults = append(v.faults, fmt.Sprintf("session %s: %s", s.id, fault))
	}
	s.open = ""
	v.acknowledged["look"]++
	return nil
}

// compare returns how an answer contradicts the journal, and takes down what is
// new in it.
func (s *visit) compare(status int, o object) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	failure, _ := o["predict_error"].(map[string]any)
	if status == http.StatusNotFound {
		if !s.gone && s.open != "delete" && s.open != "forget" {
			fault("it is lost")
		}
		s.gone = true
		return faults
	}
	if s.gone {
		fault("it is there after it was erased")
	}
	switch {
	case status == http.StatusExpectationFailed && failure["error"] == "audio_not_submitted":
		if s.submitted {
			fault("its recording is lost")
		}
		return faults
	case status == http.StatusOK && o["status"] == "processing":
		if !s.submitted && s.open != "submit" {
			fault("it has a recording that was not submitted")
		}
		if s.result != "" {
			fault("its result is lost")
		}
		s.submitted = true
		return faults
	case status != http.StatusOK && status != http.StatusExpectationFailed:
		fault("got status %d", status)
		return faults
	}
	s.submitted = true
	if actual, ok := o["actual_score"].(map[string]any); ok { // answers of deepfake without a failure have none
		label := ""
		if actual["phq_2"] != nil {
			label = fmt.Sprint(actual["phq_2"])
		}
		if label != s.label && !slices.Contains(s.openLabels, label) {
			fault("got label %q, want %q", label, s.label)
		}
		s.openLabels, s.label = nil, label
	}
	delete(o, "actual_score")
	delete(o, "updated_at") // of labels too
	result := fmt.Sprint(status, o)
	if s.result != "" && result != s.result {
		fault("got result %s after %s", result, s.result)
	}
	s.result = result
	return faults
}
