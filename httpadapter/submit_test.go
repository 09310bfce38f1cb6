package httpadapter_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

func TestSubmitProducts(t *testing.T) {
	recording := testWAV(t, 44100, 1, 0.1)
	for path, want := range map[string]screen.Product{
		"/v2/prediction/":                        screen.DepressionAnxiety,
		"/v2/prediction":                         screen.DepressionAnxiety,
		"/v1/prediction/":                        screen.DepressionAnxiety,
		"/prediction":                            screen.DepressionAnxiety,
		"/predict":                               screen.DeepfakeBinary,
		"/predict/":                              screen.DeepfakeBinary,
		"/v1/predict":                            screen.DeepfakeBinary,
		"/v2/predict":                            screen.DeepfakeBinary,
		"/v1/predict/server/depression/binary":   screen.DepressionBinary,
		"/v1/predict/server/depression/severity": screen.DepressionSeverity,
		"/v1/predict/depression/binary":          screen.DepressionBinary,
		"/v2/predict/depression/binary":          screen.DepressionBinary,
		"/v2/predict/depression/severity/":       screen.DepressionSeverity,
		"/v2/predict/anxiety/severity":           screen.AnxietySeverity,
		"/predict/anxiety/severity":              screen.AnxietySeverity,
	} {
		s := newService(t)
		id := s.initiate("p1")
		got := s.want(http.StatusAccepted, form("POST", path, field{"session_id", id}, field{"file", string(recording)}))
		if len(got) != 2 || got["session_id"] != id || got["status"] != "processing" {
			t.Errorf("%s: got %v, want the session processing", path, got)
		}
		if p := s.session(id).Product; p != want {
			t.Errorf("%s: got %v, want %v", path, p, want)
		}
	}
}

// The parts come in any order, and what they are called does not matter.
func TestSubmitOrderOfParts(t *testing.T) {
	at44, at16 := string(testWAV(t, 44100, 1, 0.2)), string(testWAV(t, 16000, 1, 0.2))
	for name, fields := range map[string][]field{
		"session first":          {{"session_id", "session-1"}, {"file", at44}},
		"file first":             {{"file", at44}, {"session_id", "session-1"}},
		"rate first":             {{"allowed_sample_rate", "16000"}, {"session_id", "session-1"}, {"file", at16}},
		"rate last":              {{"session_id", "session-1"}, {"file", at16}, {"allowed_sample_rate", "16000"}},
		"file, rate, session":    {{"file", at16}, {"allowed_sample_rate", "16000"}, {"session_id", "session-1"}},
		"rate is the usual":      {{"session_id", "session-1"}, {"allowed_sample_rate", "44100"}, {"file", at44}},
		"usual rate, last":       {{"session_id", "session-1"}, {"file", at44}, {"allowed_sample_rate", "44100"}},
		"more fields":            {{"a", "b"}, {"session_id", "session-1"}, {"file", at44}, {"file2", "x"}},
		"session twice the same": {{"session_id", "session-1"}, {"file", at44}, {"session_id", "session-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			s.initiate("p1")
			send := form("POST", "/v2/prediction/", fields...)
			send.beyond = name == "more fields"
			s.want(http.StatusAccepted, send)
			r, err := s.store.Audio().Open(context.Background(), s.session("session-1").Audio)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			stored, err := io.ReadAll(r)
			if err != nil || string(stored) != at44 && string(stored) != at16 {
				t.Errorf("got %d bytes stored %v, want the file", len(stored), err)
			}
		})
	}
}

func TestSubmitRefuses(t *testing.T) {
	good := testWAV(t, 44100, 1, 0.2)
	file := string(good)
	stereo, slow := string(testWAV(t, 44100, 2, 0.2)), string(testWAV(t, 16000, 1, 0.2))
	fast := string(testWAV(t, 96000, 1, 0.1))
	mulaw := bytes.Clone(good)
	binary.LittleEndian.PutUint16(mulaw[20:], 7)
	const sid = "session-1"
	send := func(fields ...field) request { return form("POST", "/v2/prediction/", fields...) }
	whole := send(field{"session_id", sid}, field{"file", file})
	cut := func(n int) request { r := whole; r.body = r.body[:len(r.body)-n]; return r }
	large := send(field{"session_id", sid}, field{"file", string(testWAV(t, 44100, 1, 10))})
	other, elsewhere := large, large
	other.contentType = "multipart/form-data; boundary=other"
	elsewhere.body = strings.Replace(large.body, `name="file"`, `name="audio"`, 1)
	typed := func(contentType string) request { r := whole; r.contentType = contentType; return r }
	for name, c := range map[string]struct {
		r    request
		want int
		says string
	}{
		"stereo":                {send(field{"session_id", sid}, field{"file", stereo}), 422, "channel"},
		"16 kHz":                {send(field{"session_id", sid}, field{"file", slow}), 422, "16000"},
		"16 kHz, file first":    {send(field{"file", slow}, field{"session_id", sid}), 422, "16000"},
		"other than allowed":    {send(field{"session_id", sid}, field{"allowed_sample_rate", "8000"}, field{"file", slow}), 422, "16000"},
		"allowed later, other":  {send(field{"session_id", sid}, field{"file", file}, field{"allowed_sample_rate", "16000"}), 422, "16000"},
		"allowed too high":      {send(field{"session_id", sid}, field{"allowed_sample_rate", "96000"}, field{"file", fast}), 422, "allowed_sample_rate"},
		"allowed too low":       {send(field{"session_id", sid}, field{"allowed_sample_rate", "7999"}, field{"file", file}), 422, "allowed_sample_rate"},
		"allowed no number":     {send(field{"session_id", sid}, field{"allowed_sample_rate", "any"}, field{"file", file}), 422, "allowed_sample_rate"},
		"empty file":            {send(field{"session_id", sid}, field{"file", ""}), 422, "audio"},
		"no WAV":                {send(field{"session_id", sid}, field{"file", "ID3 this is no wave file at all, but long enough"}), 422, "audio"},
		"mu-law":                {send(field{"session_id", sid}, field{"file", string(mulaw)}), 422, "audio"},
		"header alone":          {send(field{"session_id", sid}, field{"file", file[:44]}), 422, "audio"},
		"cut short":             {send(field{"session_id", sid}, field{"file", file[:len(file)/2]}), 422, "cut short"},
		"two files":             {send(field{"session_id", sid}, field{"file", file}, field{"file", file}), 422, "more than one"},
		"no session":            {send(field{"file", file}), 422, "session_id"},
		"empty session":         {send(field{"session_id", ""}, field{"file", file}), 422, "session_id"},
		"two sessions":          {send(field{"session_id", sid}, field{"session_id", "x"}, field{"file", file}), 422, "session_id"},
		"two sessions, later":   {send(field{"session_id", sid}, field{"file", file}, field{"session_id", "x"}), 422, "session_id"},
		"no file":               {send(field{"session_id", sid}), 406, "no file"},
		"nothing":               {send(), 406, ""},
		"broke off in the file": {cut(2000), 406, "broke off"},
		"broke off at the end":  {cut(20), 406, "broke off"},
		"broke off, file first": {func() request {
			r := send(field{"file", file}, field{"session_id", sid})
			r.body = r.body[:1000]
			return r
		}(), 406, "broke off"},
		"no boundary":       {typed("multipart/form-data"), 406, "multipart"},
		"other boundary":    {typed("multipart/form-data; boundary=other"), 406, "multipart"},
		"other, large":      {other, 406, "multipart"},
		"in another field":  {elsewhere, 406, "no file"},
		"broken type":       {typed("multipart/form-data; boundary"), 406, "multipart"},
		"not multipart":     {request{method: "POST", path: "/v2/prediction/", contentType: "audio/wav", body: file}, 406, "multipart"},
		"no body":           {request{method: "POST", path: "/v2/prediction/"}, 406, "multipart"},
		"empty body":        {request{method: "POST", path: "/v2/prediction/", contentType: "multipart/form-data; boundary=x"}, 406, "multipart"},
		"JSON":              {request{method: "POST", path: "/v2/prediction/", contentType: jsonType, body: `{"session_id":"session-1"}`}, 406, "multipart"},
		"too many parts":    {send(make([]field, 64+1)...), 406, "too many"},
		"huge field":        {send(field{"session_id", strings.Repeat("x", 4<<10+1)}), 413, "large"},
		"huge unknown":      {send(field{"x", strings.Repeat("x", 4<<10+1)}), 406, "no file"},
		"unknown session":   {send(field{"session_id", "x"}, field{"file", file}), 404, "not found"},
		"404 before 422":    {send(field{"session_id", "x"}, field{"file", stereo}), 404, "not found"},
		"404, file first":   {send(field{"file", stereo}, field{"session_id", "x"}), 404, "not found"},
		"unknown, no audio": {send(field{"session_id", "x"}, field{"file", "hello"}), 404, "not found"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			s.initiate("p1")
			w := s.do(c.r)
			if w.Code != c.want || !strings.Contains(w.Body.String(), c.says) {
				t.Errorf("got %d %s, want %d with %q", w.Code, w.Body, c.want, c.says)
			}
			if w := s.do(whole); w.Code != http.StatusAccepted {
				t.Errorf("afterwards: got %d %s, want the session still usable", w.Code, w.Body)
			}
		})
	}
}

func TestSubmitTwice(t *testing.T) {
	s := newService(t)
	recording := string(testWAV(t, 44100, 1, 0.1))
	id := s.submit("p1", "/v2/prediction/", []byte(recording))
	for _, fields := range [][]field{
		{{"session_id", id}, {"file", recording}},
		{{"file", recording}, {"session_id", id}},
		{{"session_id", id}, {"file", "no audio"}}, // 409 before 422
	} {
		s.want(http.StatusConflict, form("POST", "/v2/prediction/", fields...))
		s.want(http.StatusConflict, form("POST", "/predict", fields...))
	}
	s.finish(id, nil, nil)
	s.want(http.StatusConflict, form("POST", "/v2/prediction/", field{"session_id", id}, field{"file", recording}))
}

func TestSubmitTooLarge(t *testing.T) {
	recording := testWAV(t, 44100, 1, 0.5) // 44 KB
	s := newServiceWith(t, nil, &httpadapter.Options{MaxUpload: 30 << 10})
	id := s.initiate("p1")
	s.want(http.StatusRequestEntityTooLarge, form("POST", "/v2/prediction/", field{"session_id", id}, field{"file", string(recording)}))
	s.want(http.StatusRequestEntityTooLarge, form("POST", "/v2/prediction/", field{"file", string(recording)}, field{"session_id", id}))
	s.want(http.StatusRequestEntityTooLarge, form("POST", "/predict", field{"session_id", id},
		field{"file", string(recording) + strings.Repeat("x", 2<<20)})) // known from its length
	s.want(http.StatusAccepted, form("POST", "/v2/prediction/", field{"session_id", id}, field{"file", string(testWAV(t, 44100, 1, 0.2))}))

	// The limit of the engine.
	s = newServiceWith(t, func(o *voicescreen.Options) { o.Audio.MaxBytes = 30 << 10 }, nil)
	id = s.initiate("p1")
	s.want(http.StatusRequestEntityTooLarge, form("POST", "/v2/prediction/", field{"session_id", id}, field{"file", string(recording)}))
}

func TestQueueFull(t *testing.T) {
	s := newServiceWith(t, func(o *voicescreen.Options) { o.Queue.Limit = 1 }, nil)
	recording := string(testWAV(t, 44100, 1, 0.1))
	first := s.submit("p1", "/v2/prediction/", []byte(recording))
	id := s.initiate("p1")
	for _, fields := range [][]field{{{"session_id", id}, {"file", recording}}, {{"file", recording}, {"session_id", id}}} {
		w := s.do(form("POST", "/v2/prediction/", fields...))
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("got %d %v, want 503 with Retry-After", w.Code, w.Header())
		}
	}
	if w := s.do(request{method: "GET", path: "/readyz", key: "none"}); w.Code != http.StatusServiceUnavailable {
		t.Errorf("readyz: got %d, want 503", w.Code)
	}
	// It is said before the body is asked for.
	if status, body := wire(t, s.listen(), fmt.Sprintf("POST /v2/prediction/ HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\nExpect: 100-continue\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 100000\r\n\r\n", s.key)); status != http.StatusServiceUnavailable {
		t.Errorf("got %d %s, want 503 and not to be asked for the body", status, body)
	}
	s.finish(first, nil, nil)
	s.want(http.StatusAccepted, form("POST", "/v2/prediction/", field{"session_id", id}, field{"file", recording}))
}

// Unknown parts are ignored wherever they stand, with or without a file name, within
// the limit of the upload.
func TestUnknownPartsAreIgnored(t *testing.T) {
	recording := string(testWAV(t, 44100, 1, 0.2))
	for _, size := range []int{0, 4<<10 + 1, 300 << 10, 2 << 20} {
		text := strings.Repeat("x", size)
		for name, unknown := range map[string]field{
			"with a file name":     {"attachment\"; filename=\"a.pdf", text},
			"without a file name":  {"notes", text},
			"without a name":       {"", text},
			"of another recording": {"audio\"; filename=\"a.wav", recording + text},
		} {
			for place, fields := range map[string][]field{
				"first":           {unknown, {"session_id", "session-1"}, {"file", recording}},
				"before the file": {{"session_id", "session-1"}, unknown, unknown, {"file", recording}},
				"file first":      {unknown, {"file", recording}, unknown, {"session_id", "session-1"}},
				"last":            {{"session_id", "session-1"}, {"file", recording}, unknown},
			} {
				s := newService(t)
				s.initiate("p1")
				send := rawForm("/v2/prediction/", fields...)
				send.beyond = true
				if w := s.do(send); w.Code != http.StatusAccepted {
					t.Fatalf("%d bytes %s, %s: got %d %s, want 202", size, name, place, w.Code, w.Body)
				}
			}
		}
	}
	// A result that is asked for in a multipart body.
	s := newService(t)
	id := s.submit("p1", "/predict", []byte(recording))
	ask := rawForm("/predict", field{"notes", strings.Repeat("x", 1<<20)}, field{"session_id", id})
	ask.beyond = true
	s.want(http.StatusOK, ask)
}

// Unknown parts count for the limit of the upload, with and without Content-Length.
func TestUnknownPartsWithinTheLimit(t *testing.T) {
	recording := string(testWAV(t, 44100, 1, 0.2))
	s := newServiceWith(t, nil, &httpadapter.Options{MaxUpload: 1 << 20})
	id := s.initiate("p1")
	unknown := field{"notes", strings.Repeat("x", 3<<20)}
	for name, fields := range map[string][]field{
		"before the file": {{"session_id", id}, unknown, {"file", recording}},
		"after the file":  {{"session_id", id}, {"file", recording}, unknown},
		"spooled":         {{"file", recording}, unknown, {"session_id", id}},
		"no file":         {unknown, {"session_id", id}},
	} {
		send := rawForm("/v2/prediction/", fields...)
		for _, length := range []int64{-1, int64(len(send.body))} {
			r := httptest.NewRequest("POST", send.path, strings.NewReader(send.body))
			r.ContentLength = length
			r.Header.Set("Content-Type", send.contentType)
			r.Header.Set("X-API-Key", s.key)
			w := httptest.NewRecorder()
			s.handler.ServeHTTP(w, r)
			if w.Code != http.StatusRequestEntityTooLarge {
				t.Errorf("%s, Content-Length %d: got %d %s, want 413", name, length, w.Code, w.Body)
			}
		}
	}
	s.wantNothing(id)
}

// rawForm is form with names that may hold more of the header, such as a file name.
func rawForm(path string, fields ...field) request {
	var b strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&b, "--x\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n", f.name, f.value)
	}
	return request{method: "POST", path: path, contentType: "multipart/form-data; boundary=x", body: b.String() + "--x--\r\n"}
}

// session returns the record of a session of the account "clinic".
func (s *service) session(id string) *store.Session {
	s.t.Helper()
	r, err := s.store.Get(context.Background(), "clinic", id)
	if err != nil {
		s.t.Fatal(fmt.Errorf("%s: %w", id, err))
	}
	return r
}
