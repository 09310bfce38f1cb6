package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/voicescreen/voicescreen/screen"
)

// InitiateRequest opens a session.
type InitiateRequest struct {
	UserID   string          // the caller's identifier of the person; required
	Consent  bool            // whether the person consented; without it no session is opened
	Metadata screen.Metadata // of the person; optional
}

// Initiate opens a session for one prediction and returns its identifier. The
// error is an *Error of status 406 without consent, and 422 with the Fields at
// fault.
func (c *Client) Initiate(ctx context.Context, r InitiateRequest) (sessionID string, err error) {
	body, err := json.Marshal(struct {
		UserID   string          `json:"user_id"`
		Consent  bool            `json:"is_initiated"`
		Metadata screen.Metadata `json:"metadata"`
	}{r.UserID, r.Consent, r.Metadata})
	if err != nil {
		return "", fmt.Errorf("client: metadata: %w", err)
	}
	answer, err := c.do(ctx, jsonCall(once, "POST", "/v2/initiate", body))
	if err != nil {
		return "", err
	}
	var session struct {
		ID string `json:"session_id"`
	}
	if err := answer.decode(&session, http.StatusCreated); err != nil {
		return "", err
	}
	return session.ID, nil
}

// SubmitOptions say what to do with a recording. Nil and zero fields mean the
// default.
type SubmitOptions struct {
	// Product is what to predict. Default: DepressionAnxiety.
	Product screen.Product

	// SampleRate is the rate of the recording in Hz, 8000 to 48000. Default:
	// 44100.
	SampleRate int

	// Speech is how the person speaks. Default: it is not said.
	Speech screen.Speech
}

// Submit hands in the recording of a session, a WAV file of one channel, from
// where it stands to its end. It returns nil once the service has it; Wait has
// the result. A submission that is refused does not use the session up. The
// error is an *Error, among others of status 404 where there is no such
// session, 409 where it has a recording already and 422 where the recording is
// not as specified.
func (c *Client) Submit(ctx context.Context, sessionID string, recording io.ReadSeeker, opts *SubmitOptions) error {
	var o SubmitOptions
	if opts != nil {
		o = *opts
	}
	if o.Product == 0 {
		o.Product = screen.DepressionAnxiety
	}
	if !o.Product.Valid() {
		return fmt.Errorf("client: there is no product %d", uint8(o.Product))
	}
	if o.Speech != 0 && !o.Speech.Valid() {
		return fmt.Errorf("client: there is no way of speaking %d", uint8(o.Speech))
	}
	u, err := newUpload(sessionID, o, recording)
	if err != nil {
		return err
	}
	defer u.close()
	answer, err := c.do(ctx, call{safety: resolvable, method: "POST", path: productPaths[o.Product-1],
		contentType: u.contentType(), body: u.open})
	if err != nil {
		return err
	}
	err = answer.decode(nil, http.StatusAccepted)
	if answer.status == http.StatusConflict && answer.lost {
		if r, rerr := c.Result(ctx, sessionID); rerr == nil && r.Submitted() {
			return nil // the attempt that had no answer was taken
		}
	}
	return err
}

// Result returns what is known of a session: its Status is Processing until
// there is a result, and Failed where there is and will be none, or where
// nothing was submitted yet; see Submitted. The error is an *Error of status
// 404 where there is no such session.
func (c *Client) Result(ctx context.Context, sessionID string) (*Result, error) {
	r, _, err := c.result(ctx, sessionID, 0)
	return r, err
}

// result asks for a result that may be held for a time. It says whether the
// service can do that.
func (c *Client) result(ctx context.Context, sessionID string, held time.Duration) (_ *Result, holds bool, err error) {
	k := call{safety: idempotent, method: "GET", path: "/v2/predict/sessions/" + segment(sessionID)}
	if held >= time.Second {
		k.prefer = "wait=" + strconv.Itoa(int(held/time.Second))
	}
	answer, err := c.do(ctx, k)
	if err != nil {
		return nil, false, err
	}
	var r Result
	if err := answer.decode(&r, http.StatusOK, http.StatusExpectationFailed); err != nil {
		return nil, false, err
	}
	r.SessionID = sessionID
	return &r, answer.header.Get("Preference-Applied") != "", nil
}

const (
	waitTime = 20 * time.Second // that an answer is asked to be held. Chosen: below the time-outs of proxies.
	pollTime = time.Second      // between questions where answers are not held. Chosen.
)

// Wait returns the result of a session once its Status is not Processing. It
// waits as long as ctx lets it. Where the service can hold its answer
// ("Prefer: wait" of RFC 7240) the result comes at once when it is there,
// otherwise Wait asks every second. Options.HTTP may have a time-out for single requests:
// answers are then held for half of it at most.
func (c *Client) Wait(ctx context.Context, sessionID string) (*Result, error) {
	held := waitTime
	if c.http.Timeout > 0 {
		held = min(held, c.http.Timeout/2)
	}
	for {
		r, holds, err := c.result(ctx, sessionID, held)
		if err != nil || r.Status != screen.StatusProcessing {
			return r, err
		}
		pause := pollTime
		if holds {
			pause = pollTime / 10 // a service that shuts down answers early
		}
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// Page is a part of a listing.
type Page struct {
	Limit  int    // results at most; 0: all at once
	Cursor string // where it begins, as Results returned it; "": at the newest
}

// Results returns the results of a user, newest first: of the sessions that
// have a submission. If there are more, next is the Cursor of the next page.
func (c *Client) Results(ctx context.Context, userID string, page Page) (results []*Result, next string, err error) {
	query := url.Values{}
	if page.Limit > 0 {
		query.Set("limit", strconv.Itoa(page.Limit))
	}
	if page.Cursor != "" {
		query.Set("cursor", page.Cursor)
	}
	path := "/v2/predict/users/" + segment(userID)
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	answer, err := c.do(ctx, call{safety: idempotent, method: "GET", path: path})
	if err != nil {
		return nil, "", err
	}
	if err := answer.decode(&results, http.StatusOK); err != nil {
		return nil, "", err
	}
	return results, nextCursor(answer.header.Get("Link")), nil
}

// nextCursor is the cursor in the Link header of a listing; "" if it has none.
func nextCursor(link string) string {
	target, rel, ok := strings.Cut(strings.TrimPrefix(link, "<"), ">")
	if !ok || !strings.Contains(rel, `rel="next"`) {
		return ""
	}
	u, err := url.Parse(target)
	if err != nil {
		return ""
	}
	return u.Query().Get("cursor")
}

// PHQ2 attaches the items of a PHQ-2 to a session, 0 to 3 each. It replaces a
// PHQ-9. Feedback is taken within 24 hours of the recording; the error is an
// *Error of status 409 where there is none.
func (c *Client) PHQ2(ctx context.Context, sessionID string, items [2]int) error {
	return c.feedback(ctx, "phq/2", sessionID, items)
}

// PHQ9 attaches the items of a PHQ-9. It replaces a PHQ-2. See PHQ2.
func (c *Client) PHQ9(ctx context.Context, sessionID string, items [9]int) error {
	return c.feedback(ctx, "phq/9", sessionID, items)
}

// GAD7 attaches the items of a GAD-7. See PHQ2.
func (c *Client) GAD7(ctx context.Context, sessionID string, items [7]int) error {
	return c.feedback(ctx, "gad/7", sessionID, items)
}

// Interview attaches the outcome of a clinical interview about depression. See
// PHQ2.
func (c *Client) Interview(ctx context.Context, sessionID string, outcome screen.Interview) error {
	return c.feedback(ctx, "depression/binary", sessionID, outcome)
}

func (c *Client) feedback(ctx context.Context, kind, sessionID string, score any) error {
	body, err := json.Marshal(struct {
		SessionID string `json:"session_id"`
		Score     any    `json:"actual_score"`
	}{sessionID, score})
	if err != nil {
		return fmt.Errorf("client: feedback: %w", err)
	}
	answer, err := c.do(ctx, jsonCall(idempotent, "PATCH", "/v2/feedback/"+kind, body))
	if err != nil {
		return err
	}
	return answer.decode(nil, http.StatusOK)
}

// DeleteSession erases a session for good. The key needs the scope admin. That
// there is no such session is no error after an attempt that may have erased it.
func (c *Client) DeleteSession(ctx context.Context, sessionID string) error {
	answer, err := c.do(ctx, call{safety: idempotent, method: "DELETE", path: "/v2/sessions/" + segment(sessionID)})
	if err != nil {
		return err
	}
	err = answer.decode(nil, http.StatusNoContent)
	if answer.status == http.StatusNotFound && answer.lost {
		return nil // by the attempt before
	}
	return err
}

// ForgetUser erases every session of a user for good; one who has none is no
// error. The key needs the scope admin.
func (c *Client) ForgetUser(ctx context.Context, userID string) error {
	answer, err := c.do(ctx, call{safety: idempotent, method: "DELETE", path: "/v2/users/" + segment(userID)})
	if err != nil {
		return err
	}
	return answer.decode(nil, http.StatusNoContent)
}

func jsonCall(s safety, method, path string, body []byte) call {
	return call{safety: s, method: method, path: path, contentType: "application/json",
		body: func() (io.ReadCloser, int64, error) {
			return io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
		}}
}

// decode reads an answer into v, unless that is nil, if its status is one of
// those wanted. Otherwise it returns an *Error.
func (r *reply) decode(v any, want ...int) error {
	for _, status := range want {
		if r.status != status {
			continue
		}
		if v == nil {
			return nil
		}
		if err := json.Unmarshal(r.body, v); err != nil {
			return errors.New("client: the answer is not what the service answers") // the decoder may quote it
		}
		return nil
	}
	return newError(r)
}
