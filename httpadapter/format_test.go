package httpadapter_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// A client that uploads the recording of a telephone reads how to convert it, whatever
// the file is called.
func TestUploadInAnotherFormat(t *testing.T) {
	s := newService(t)
	id := s.initiate("p1")
	m4a := "\x00\x00\x00\x20ftypM4A " + strings.Repeat("\x00", 100)
	w := s.do(form("POST", "/v2/prediction/", field{"session_id", id}, field{"file", m4a}))
	var body struct{ Message string }
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != http.StatusUnprocessableEntity || !strings.Contains(body.Message, `"ffmpeg -i in.m4a -ac 1 -ar 44100 out.wav"`) {
		t.Errorf("got %d %s, %v, want 422 with the command", w.Code, w.Body, err)
	}
}
