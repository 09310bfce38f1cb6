package httpadapter_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/store"
)

// The requests of the published clients of the service that this one replaces, byte
// for byte: their users change the base address only.

// wire sends the bytes of a request over a connection of its own, and then
// reads the answer.
func wire(t *testing.T, addr, text string) (status int, body string) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatalf("send: %v", err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("read the answer: %v", err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

func (s *service) listen() (addr string) {
	s.t.Helper()
	server := httptest.NewUnstartedServer(s.handler)
	server.Config = httpadapter.NewServer("", s.handler)
	server.Start()
	s.t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// client handles answers as both clients do.
type client struct {
	t    *testing.T
	addr string
	head string // header lines of every request
}

func (c *client) send(want int, line, head, body string) map[string]any {
	c.t.Helper()
	text := fmt.Sprintf("%s HTTP/1.1\r\nHost: %s\r\n%s%s", line, c.addr, c.head, head)
	if body != "" {
		text += fmt.Sprintf("Content-Length: %d\r\n", len(body))
	}
	status, answer := wire(c.t, c.addr, text+"\r\n"+body)
	if status != want {
		c.t.Fatalf("%s: got %d %s, want %d", line, status, answer, want)
	}
	var decoded map[string]any
	if answer != "" {
		if err := json.Unmarshal([]byte(answer), &decoded); err != nil {
			c.t.Fatalf("%s: %v in %s", line, err, answer)
		}
	}
	return decoded
}

// poll asks until the status is another than processing, and returns the
// score of each category as the clients find it.
func (c *client) poll(line string, finish func()) (scores map[string]string, answer map[string]any) {
	c.t.Helper()
	answer = c.send(http.StatusOK, line, "", "")
	if answer["status"] != "processing" {
		c.t.Fatalf("got %v, want processing", answer)
	}
	finish()
	answer = c.send(http.StatusOK, line, "", "")
	for _, key := range []string{"created_at", "updated_at", "is_calibrated", "model_category", "status"} {
		if answer[key] == nil {
			c.t.Errorf("got no %s in %v", key, answer)
		}
	}
	scores = map[string]string{}
	for category := range strings.SplitSeq(answer["model_category"].(string), ",") {
		scores[category], _ = answer["predicted_score_"+category].(string)
	}
	return scores, answer
}

// The client that sends JSON without a Content-Type, nested metadata, and
// scores under data.
func TestClientWithoutContentType(t *testing.T) {
	s := newService(t)
	c := &client{t, s.listen(), "User-Agent: python-requests/2.28.1\r\nAccept-Encoding: gzip, deflate\r\nAccept: */*\r\nConnection: keep-alive\r\nX-API-Key: " + s.key + "\r\n"}
	id := c.send(http.StatusCreated, "POST /v2/initiate", "",
		`{"user_id": "p1", "is_initiated": true, "metadata": {"age": 34, "gender": "non-binary", "race": "black or african-american", "language": true, "zipcode": "02139"}}`)["session_id"].(string)
	recording := testWAV(t, 16000, 1, 0.2)
	const boundary = "3c5f0b1e2a9d4f7c8b6a5d4e3f2a1b0c"
	c.send(http.StatusAccepted, "POST /v2/prediction/", "Content-Type: multipart/form-data; boundary="+boundary+"\r\n",
		"--"+boundary+"\r\nContent-Disposition: form-data; name=\"session_id\"\r\n\r\n"+id+
			"\r\n--"+boundary+"\r\nContent-Disposition: form-data; name=\"allowed_sample_rate\"\r\n\r\n16000"+
			"\r\n--"+boundary+"\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\n\r\n"+string(recording)+
			"\r\n--"+boundary+"--\r\n")
	scores, _ := c.poll("GET /v2/predict/sessions/"+id, func() { s.finish(id, nil, nil) })
	if scores["depression"] != "mild_to_moderate" || scores["anxiety"] != "moderately_severe" || len(scores) != 2 {
		t.Errorf("got %v, want the class of each category", scores)
	}
	c.send(http.StatusOK, "PATCH /v2/feedback/phq/9", "", `{"session_id": "`+id+`", "data": [0, 1, 2, 3, 0, 1, 2, 3, 0]}`)
	c.send(http.StatusOK, "PATCH /v2/feedback/depression/binary", "", `{"session_id": "`+id+`", "data": "True"}`)
	_, answer := wire(t, c.addr, "GET /v2/predict/sessions/"+id+" HTTP/1.1\r\nHost: x\r\n"+c.head+"\r\n")
	if label := firstLabel(t, answer); label != "depression_binary" {
		t.Errorf("got %q as the label, want depression_binary in %s", label, answer)
	}
}

// firstLabel returns the first member of actual_score that is not a PHQ, which one
// client reads as the label.
func firstLabel(t *testing.T, answer string) string {
	t.Helper()
	var body struct {
		ActualScore json.RawMessage `json:"actual_score"`
	}
	if err := json.Unmarshal([]byte(answer), &body); err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(strings.NewReader(string(body.ActualScore)))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	for dec.More() {
		name, err := dec.Token()
		var value any
		if err == nil {
			err = dec.Decode(&value)
		}
		if err != nil {
			t.Fatal(err)
		}
		if name != "phq_2" && name != "phq_9" {
			return name.(string)
		}
	}
	return ""
}

// The client that sends JSON with its type, is-initiated, and one recording to
// a path of its own.
func TestClientWithPathPerModel(t *testing.T) {
	s := newService(t)
	c := &client{t, s.listen(), "X-API-Key: " + s.key + "\r\nUser-Agent: okhttp/4.9.3\r\n"}
	recording := string(testWAV(t, 44100, 1, 0.2))
	for path, want := range map[string]map[string]string{
		"depression/binary":   {"depression": "additional_consideration_required"},
		"depression/severity": {"depression": "mild_to_moderate"},
		"anxiety/severity":    {"anxiety": "moderately_severe"},
	} {
		for _, version := range []string{"/v1", "/v2"} {
			id := c.send(http.StatusCreated, "POST "+version+"/initiate", "Content-Type: application/json; charset=utf-8\r\n",
				`{"user_id":"p1","is-initiated":"true","metadata":{"age":34,"race":"other","weight":150}}`)["session_id"].(string)
			c.send(http.StatusAccepted, "POST "+version+"/predict/"+path, "Content-Type: multipart/form-data; boundary=7e3a\r\n",
				"--7e3a\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x.wav\"\r\nContent-Type: audio/wav\r\nContent-Length: "+
					fmt.Sprint(len(recording))+"\r\n\r\n"+recording+
					"\r\n--7e3a\r\nContent-Disposition: form-data; name=\"session_id\"\r\nContent-Length: "+fmt.Sprint(len(id))+"\r\n\r\n"+id+"\r\n--7e3a--\r\n")
			scores, answer := c.poll("GET "+version+"/predict/sessions/"+id, func() { s.finish(id, nil, nil) })
			if fmt.Sprint(scores) != fmt.Sprint(want) {
				t.Errorf("%s: got %v, want %v", path, scores, want)
			}
			for category := range want {
				if answer["predicted_score"] != want[category] {
					t.Errorf("%s: got predicted_score %v, want %s", path, answer["predicted_score"], want[category])
				}
			}
			c.send(http.StatusOK, "PATCH "+version+"/feedback/gad/7", "Content-Type: application/json\r\n",
				`{"session_id":"`+id+`","data":[0,1,2,3,0,1,2]}`)
		}
	}
}

// The form calls of version 1, and curl -d with JSON, which it calls a form.
func TestClientCurl(t *testing.T) {
	s := newService(t)
	c := &client{t, s.listen(), "User-Agent: curl/8.5.0\r\nAccept: */*\r\nX-API-Key: " + s.key + "\r\n"}
	form := "Content-Type: application/x-www-form-urlencoded\r\n"
	c.send(http.StatusCreated, "POST /initiate", form, `{"user_id": "p1", "is_initiated": true}`)
	id := c.send(http.StatusCreated, "POST /v2/initate", form, "user_id=p1&is_initiated=true&metadata.gender=Prefer%20Not%20to%20Specify")["session_id"].(string)
	recording := string(testWAV(t, 44100, 1, 0.2))
	c.send(http.StatusAccepted, "POST /v1/predict/server/depression/binary", "Content-Type: multipart/form-data; boundary=----x\r\n",
		"------x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a b.wav\"\r\nContent-Type: application/octet-stream\r\n\r\n"+recording+
			"\r\n------x\r\nContent-Disposition: form-data; name=\"session_id\"\r\n\r\n"+id+"\r\n------x--\r\n")
	c.poll("GET /v1/predict/sessions/"+id, func() { s.finish(id, nil, func(r *store.Session) {}) })
	c.send(http.StatusOK, "PATCH /v1/feedback/server/phq/2", form, "session_id="+id+"&actual_score=1&actual_score=2")
	c.send(http.StatusOK, "PATCH /v1/feedback/server/phq/9", form, "session_id="+id+"&actual_score=0,1,2,3,0,1,2,3,0")
	c.send(http.StatusOK, "PATCH /v1/feedback/server/depression/binary", form, "session_id="+id+"&actual_score=additional_consideration_required")
}
