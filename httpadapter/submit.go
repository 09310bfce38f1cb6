package httpadapter

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"

	"github.com/voicescreen/voicescreen"
)

// submit accepts a recording for analysis and answers 202.
func (a *adapter) submit(c *call) error {
	leave, err := a.coming.enter(c.caller.ID, c.limits.Uploads)
	if err != nil {
		return err
	}
	defer leave()
	if err := a.engine.Busy(c.r.Context()); err != nil {
		return err // before the body is read
	}
	body, err := a.openBody(c)
	if err != nil {
		return err
	}
	u := a.openUpload(c, body)
	if u == nil {
		return notUpload
	}
	file, err := u.next()
	if err != nil {
		return err
	}
	if file == nil {
		return u.noFile()
	}
	return a.submitFile(c, u, file)
}

// predict is the path of the deepfake product: with a file a submission, without
// a file a request for the result.
func (a *adapter) predict(c *call) error {
	if !c.caller.Allows(ScopeSubmit) && !c.caller.Allows(ScopeRead) {
		return c.require(ScopeSubmit)
	}
	body, err := a.openBody(c)
	if err != nil {
		return err
	}
	u := a.openUpload(c, body)
	if u == nil && body.isRecording(c.r.Header.Get("Content-Type")) {
		return notUpload
	}
	if u == nil {
		return a.predictResult(c, body)
	}
	file, err := u.next()
	if err != nil {
		return err
	}
	if file != nil {
		if err := c.require(ScopeSubmit); err != nil {
			return err
		}
		leave, err := a.coming.enter(c.caller.ID, c.limits.Uploads)
		if err != nil {
			return err
		}
		defer leave()
		return a.submitFile(c, u, file)
	}
	if u.sessionID == "" {
		return refuse(http.StatusUnprocessableEntity, "session_id is unprovided")
	}
	return a.sendResult(c, u.sessionID)
}

// predictResult answers a request for a result whose body is not multipart.
func (a *adapter) predictResult(c *call, body uploadBody) error {
	c.r.Body = struct {
		io.Reader
		io.Closer
	}{body, c.r.Body}
	data, err := c.fieldBody()
	if err != nil {
		return err
	}
	f, err := c.limits.parseFields(c.r.Header.Get("Content-Type"), data)
	if err != nil {
		return refuse(http.StatusUnprocessableEntity, err.Error())
	}
	id, p := f.text("session_id")
	if p != "" {
		return refuse(http.StatusUnprocessableEntity, "session_id is "+string(p))
	}
	return a.sendResult(c, id)
}

// uploadBody is the body of a request that may hold a recording.
type uploadBody struct {
	*bufio.Reader
	limit *limitedReader // under it
}

// isRecording reports whether a body that openUpload does not read is meant as a recording
// all the same: by its type, as the beginning of a multipart body, or by bytes that are no
// text, which the header of every format has.
func (b uploadBody) isRecording(contentType string) bool {
	media, _, _ := mime.ParseMediaType(contentType)
	head, _ := b.Peek(12) // an error comes again
	if isJSON(head) {
		return false
	}
	kind, _, _ := strings.Cut(media, "/")
	return media == "multipart/form-data" || kind == "audio" || kind == "video" || bytes.HasPrefix(head, []byte("--")) ||
		slices.ContainsFunc(head, func(c byte) bool { return c < ' ' && c != '\t' && c != '\r' && c != '\n' || c >= 0xf8 })
}

// openBody returns the body of a request that may hold a recording. Until the file
// or an unknown part begins, only the size of the fields may be read. A body whose
// Content-Length is too large is refused unread.
func (a *adapter) openBody(c *call) (uploadBody, error) {
	if c.r.ContentLength > a.opts.MaxUpload+uploadOverhead {
		return uploadBody{}, tooLarge
	}
	c.read = true
	whole := &limitedReader{c.timed(c.limits.StallTime, c.limits.UploadTime), a.opts.MaxUpload + uploadOverhead, uploadTooLarge}
	limit := &limitedReader{whole, c.limits.besideFile() + readAhead, tooLarge}
	return uploadBody{bufio.NewReaderSize(limit, readAhead), limit}, nil
}

// openUpload returns the multipart body of a request, nil for another body.
func (a *adapter) openUpload(c *call, body uploadBody) *upload {
	media, params, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if err != nil || media != "multipart/form-data" || params["boundary"] == "" {
		return nil
	}
	if first, err := body.Peek(1); err == nil && first[0] == '{' {
		return nil // JSON, whatever the Content-Type
	}
	boundary := "--" + params["boundary"]
	head, _ := body.Peek(len(boundary)) // an error comes again
	return &upload{mr: multipart.NewReader(body, params["boundary"]), body: body.limit, begins: string(head) == boundary,
		limits: c.limits, maxFile: a.opts.MaxUpload}
}

// submitFile submits the file of an upload to the engine: straight from the body if
// the session and the sample rate are known, and the channel where one may be given, otherwise from a temporary file after
// the whole body was read.
func (a *adapter) submitFile(c *call, u *upload, part io.Reader) error {
	file := bufio.NewReaderSize(&limitedReader{part, a.opts.MaxUpload, tooLarge}, readAhead)
	c.session = u.sessionID
	any := c.limits.AnyFormat
	opts := &voicescreen.SubmitOptions{Product: c.route.product, SampleRate: serviceRate, AnyFormat: any}
	if any {
		opts.SampleRate = 0
	}
	head, _ := file.Peek(28) // an error comes again
	if u.sessionID != "" && (u.rate != 0 || hasRate(head, serviceRate)) && (u.channel != 0 || !any) {
		opts.Channel = u.channel
		if u.rate != 0 {
			opts.SampleRate = u.rate
		}
		r := &fileReader{u: u, r: file, rate: cmp.Or(opts.SampleRate, serviceRate), opts: opts}
		ack, err := c.account.Submit(c.r.Context(), u.sessionID, r, opts)
		var fault *answer
		if err != nil && errors.As(r.err, &fault) {
			err = fault // rather than the engine's error, which wraps it
		}
		return c.acknowledge(ack, err)
	}
	if err := a.engine.Busy(c.r.Context()); err != nil && c.r.Context().Err() == nil {
		return err // before the file is read; if the request was canceled, reading returns the reason
	}
	s, err := spool(a.opts.TempDir, file)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := u.rest(); err != nil {
		return err
	}
	if u.sessionID == "" {
		return refuse(http.StatusUnprocessableEntity, "session_id is unprovided")
	}
	if u.rate != 0 {
		opts.SampleRate = u.rate
	}
	opts.Speech, opts.Channel = u.speech, u.channel
	c.session = u.sessionID
	ack, err := c.account.Submit(c.r.Context(), u.sessionID, s, opts)
	return c.acknowledge(ack, err)
}

func (c *call) acknowledge(ack voicescreen.Ack, err error) error {
	if err != nil {
		return err
	}
	return c.json(http.StatusAccepted, struct {
		SessionID string `json:"session_id"`
		Status    string `json:"status"`
	}{ack.SessionID, ack.Status.String()})
}
