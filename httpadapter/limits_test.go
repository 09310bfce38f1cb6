package httpadapter_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/httpadapter"
)

// listenWith starts a server after change was applied to it.
func (s *service) listenWith(change func(*http.Server)) (addr string) {
	s.t.Helper()
	server := httptest.NewUnstartedServer(s.handler)
	server.Config = httpadapter.NewServer("", s.handler)
	change(server.Config)
	server.Start()
	s.t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// A body that ends too early is answered like any other that cannot be read.
func TestBrokenOffBodies(t *testing.T) {
	s := newService(t)
	addr := s.listen()
	for path, want := range map[string]string{
		"POST /v2/initiate":        `{"error":"unsupported_metadata_spec","context":{"body":"malformed"}}`,
		"PATCH /v2/feedback/phq/2": `{"message":"the body broke off"}`,
	} {
		status, body := wire(t, addr, path+" HTTP/1.1\r\nHost: x\r\nX-API-Key: "+s.key+"\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nuser_no size\r\n")
		if status != http.StatusUnprocessableEntity || strings.TrimSpace(body) != want {
			t.Errorf("%s: got %d %s, want 422 %s", path, status, body, want)
		}
	}
}

// Clients that send very slowly do not delay others. They are answered or
// disconnected at the end of their time.
func TestSlowClients(t *testing.T) {
	const (
		clients = 500
		allowed = 500 * time.Millisecond // what their bodies may take
		patient = 20 * time.Second       // one quick call, on a busy machine: far from 500 times allowed
	)
	s := newServiceWith(t, nil, &httpadapter.Options{Limits: httpadapter.Limits{BodyTime: allowed, StallTime: allowed / 2, UploadTime: allowed}})
	addr := s.listenWith(func(server *http.Server) { server.ReadHeaderTimeout = allowed })
	id := s.initiate("p1")
	head := "Host: x\r\nX-API-Key: " + s.key + "\r\nContent-Length: 1000\r\n"
	kinds := []struct{ text, want string }{
		{"POST /v2/initiate HTTP/1.1\r\nHost: x\r\nX-A", "HTTP/1.1 400"}, // by net/http
		{"POST /v2/initiate HTTP/1.1\r\n" + head + "\r\nuser_id=p", "HTTP/1.1 422"},
		{"PATCH /v2/feedback/phq/2 HTTP/1.1\r\n" + head + "\r\n{", "HTTP/1.1 422"},
		{"POST /predict HTTP/1.1\r\n" + head + "\r\n{\"session_id\":", "HTTP/1.1 422"},
		{"POST /v2/prediction/ HTTP/1.1\r\n" + head + "Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\nContent-Disposition: form-data; name=session_id\r\n\r\n" +
			id + "\r\n--x\r\nContent-Disposition: form-data; name=file\r\n\r\nRIFF", "HTTP/1.1 406"},
	}
	conns := make([]net.Conn, clients)
	for i := range conns {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, kinds[i%len(kinds)].text); err != nil {
			t.Fatal(err)
		}
		conns[i] = conn
	}
	for i := range 20 {
		begin := time.Now()
		status, body := wire(t, addr, fmt.Sprintf("POST /v2/initiate HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\nContent-Length: 31\r\n\r\nuser_id=quick&is_initiated=true", s.key))
		if status != http.StatusCreated || time.Since(begin) > patient {
			t.Errorf("call %d: got %d %s after %v, want 201 at once", i, status, body, time.Since(begin))
		}
	}
	for i, conn := range conns {
		if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(conn).ReadString('\n')
		k := kinds[i%len(kinds)]
		// A server that was late itself resets what it did not read.
		if dropped := line == "" && err != nil && !errors.Is(err, os.ErrDeadlineExceeded); !dropped && !strings.HasPrefix(line, k.want) {
			t.Errorf("slow client %d: got %q %v, want %s", i, line, err, k.want)
		}
	}
	s.wantNothing(id)
}

// wantNothing checks that the store has no session of a user "p", no queued session
// and no audio, and that the session still waits for its audio.
func (s *service) wantNothing(id string) {
	s.t.Helper()
	if n, err := s.store.Due(context.Background()); n != 0 || err != nil {
		s.t.Errorf("got %d sessions queued, %v", n, err)
	}
	if r := s.session(id); r.Status.String() != "initiated" || r.Audio != "" {
		s.t.Errorf("got a session %v, want it initiated", r.Status)
	}
	for _, user := range []string{"p", "bad"} {
		list, err := s.store.List(context.Background(), "clinic", user, nil, 10)
		if err != nil || len(list) > 0 {
			s.t.Errorf("got %d sessions of user %q, %v", len(list), user, err)
		}
	}
}

// A slow request within the limits is served.
func TestSlowEnough(t *testing.T) {
	const pause = 20 * time.Millisecond
	s := newServiceWith(t, nil, &httpadapter.Options{Limits: httpadapter.Limits{StallTime: 20 * time.Second}})
	addr := s.listen()
	id := s.initiate("p1")
	r := form("POST", "/v2/prediction/", field{"session_id", id}, field{"file", string(testWAV(t, 44100, 1, 0.2))})
	pr, pw := io.Pipe()
	go func() {
		for body := r.body; len(body) > 0; time.Sleep(pause) {
			n := min(len(body), 2000)
			io.WriteString(pw, body[:n])
			body = body[n:]
		}
		pw.Close()
	}()
	req, err := http.NewRequest("POST", "http://"+addr+r.path, pr)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", r.contentType)
	req.Header.Set("X-API-Key", s.key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		t.Errorf("got %d, want 202", resp.StatusCode)
	}
}

// The deadline of the body does not end a delayed answer.
func TestDeadlineEndsWithBody(t *testing.T) {
	s := newServiceWith(t, nil, &httpadapter.Options{Limits: httpadapter.Limits{BodyTime: 600 * time.Millisecond, StallTime: 600 * time.Millisecond}})
	addr := s.listen()
	id := s.submit("p1", "/predict", testWAV(t, 44100, 1, 0.1))
	later := time.AfterFunc(900*time.Millisecond, func() { s.finish(id, nil, nil) })
	defer later.Stop()
	body := "session_id=" + id
	status, answer := wire(t, addr, fmt.Sprintf("POST /predict HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\nPrefer: wait=20\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
		s.key, formType, len(body), body))
	if status != http.StatusOK || !strings.Contains(answer, `"success"`) {
		t.Errorf("got %d %s, want the result", status, answer)
	}
}

// Bodies that are too large, too deep or not text have a clear answer and no
// effect.
func TestHostileInput(t *testing.T) {
	s := newService(t)
	addr := s.listen()
	id := s.initiate("p1")
	recording := string(testWAV(t, 44100, 1, 0.1))
	part := func(head string) string {
		return "--x\r\nContent-Disposition: form-data; name=\"session_id\"\r\n" + head + "\r\n" + id + "\r\n" +
			"--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n" + recording + "\r\n--x--\r\n"
	}
	multi := "Content-Type: multipart/form-data; boundary=x\r\n"
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for name, c := range map[string]struct {
		line, head, body string
		want             int
	}{
		"header bomb, one":       {"GET /v2/predict/sessions/" + id, "X-Bomb: " + strings.Repeat("x", 1<<20) + "\r\n", "", 431},
		"header bomb, many":      {"GET /v2/predict/sessions/" + id, strings.Repeat("X-Bomb: x\r\n", 1<<16), "", 431},
		"header bomb, one part":  {"POST /v2/prediction/", multi, part("X-Bomb: " + strings.Repeat("x", 1<<20) + "\r\n"), 413},
		"header bomb, in parts":  {"POST /v2/prediction/", multi, part(strings.Repeat("X-Bomb: x\r\n", 9000) + "X-Bomb: " + strings.Repeat("x", 1<<18) + "\r\n"), 413},
		"parts without end":      {"POST /v2/prediction/", multi, strings.Repeat("--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n", 5000), 406},
		"long preamble":          {"POST /v2/prediction/", multi, strings.Repeat("x", 1<<20) + "\r\n" + part(""), 406},
		"long epilogue of parts": {"POST /v2/prediction/", multi, strings.TrimSuffix(part(""), "--\r\n") + "\r\nX-Bomb: " + strings.Repeat("x", 1<<20), 413},
		"deep JSON":              {"POST /v2/initiate", "", `{"user_id":"bad","is_initiated":true,"x":` + deep(10000) + `}`, 422},
		"deep JSON in a field":   {"POST /v2/initiate", "", `{"user_id":"bad","is_initiated":true,"metadata":"{\"x\":` + deep(5000) + `}"}`, 422},
		"deep JSON, predict":     {"POST /predict", "", `{"session_id":` + deep(10000) + `}`, 422},
		"huge JSON":              {"POST /v2/initiate", "", `{"user_id":"bad","is_initiated":true,"x":"` + strings.Repeat("x", 1<<20) + `"}`, 413},
		"huge JSON, feedback":    {"PATCH /v2/feedback/phq/2", "", `{"session_id":"` + strings.Repeat("x", 1<<20) + `"}`, 413},
		"huge JSON, predict":     {"POST /predict", "", `{"session_id":"` + strings.Repeat("x", 1<<20) + `"}`, 413},
		"huge number":            {"POST /v2/initiate", "", `{"user_id":"bad","is_initiated":true,"metadata":{"age":1` + strings.Repeat("0", 10000) + `}}`, 422},
		"invalid UTF-8":          {"POST /v2/initiate", "", "user_id=bad%ff&is_initiated=true", 422},
		"invalid UTF-8 in JSON":  {"POST /v2/initiate", "", "{\"user_id\":\"bad\xff\",\"is_initiated\":true}", 422},
		"invalid UTF-8 in path":  {"GET /v2/predict/users/%ff", "", "", 422},
		"invalid UTF-8, session": {"GET /v2/predict/sessions/%ff", "", "", 404},
		"newline in a user":      {"POST /v2/initiate", "", "user_id=bad%0aINFO+forged&is_initiated=true", 422},
		"newline in JSON":        {"POST /v2/initiate", "", `{"user_id":"bad\nINFO forged","is_initiated":true}`, 422},
		"newline in a path":      {"GET /v2/predict/users/a%0aINFO%20forged", "", "", 422},
		"newline in a session":   {"PATCH /v2/feedback/phq/2", "", `{"session_id":"a\nINFO forged","actual_score":[1,2]}`, 404},
		"newline in metadata":    {"POST /v2/initiate", "", "user_id=bad&is_initiated=true&metadata.zipcode=1234%0a", 422},
		"zero byte":              {"POST /v2/initiate", "", "user_id=bad%00&is_initiated=true", 422},
		"..":                     {"GET /v2/predict/sessions/..", "", "", 404},
		"../..":                  {"GET /v2/predict/sessions/../../../etc/passwd", "", "", 404},
		"encoded ..":             {"GET /v2/predict/sessions/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "", "", 404},
		"encoded .., delete":     {"DELETE /v2/sessions/..%2f..%2fclinic.db", "", "", 404},
		"backslashes":            {"GET /v2/predict/sessions/..%5c..%5cwindows", "", "", 404},
		".. in a session":        {"POST /v2/prediction/", multi, strings.Replace(part(""), id, "../../etc/passwd", 1), 404},
		"bad escape":             {"GET /v2/predict/sessions/%zz", "", "", 400},
		"no HTTP":                {"GET /v2/predict/sessions/" + id, "broken header\r\n", "", 400},
	} {
		head := c.head
		if c.body != "" {
			head += fmt.Sprintf("Content-Length: %d\r\n", len(c.body))
		}
		status, body := send(t, addr, fmt.Sprintf("%s HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\n%s\r\n%s", c.line, s.key, head, c.body))
		if status != c.want || body == "" {
			t.Errorf("%s: got %d %.200s, want %d", name, status, body, c.want)
		}
	}
	if log := s.log.String(); strings.Contains(log, "forged") {
		t.Errorf("got log\n%s\nwant no forged line", log)
	}
	s.wantNothing(id)
}

// send is wire for a request that the server may not read to its end.
func send(t *testing.T, addr, text string) (status int, body string) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	go io.WriteString(conn, text)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Errorf("%.60q: %v", text, err)
		return 0, ""
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Errorf("%.60q: %v", text, err)
	}
	return resp.StatusCode, string(data)
}

// Each limit of the options applies.
func TestLimits(t *testing.T) {
	s := newServiceWith(t, nil, &httpadapter.Options{Limits: httpadapter.Limits{Body: 100, Depth: 3, Parts: 3, Field: 40}})
	id := s.initiate("p1")
	file := string(testWAV(t, 44100, 1, 0.1))
	json := func(body string) request {
		return request{method: "POST", path: "/v2/initiate", contentType: jsonType, body: body}
	}
	s.want(http.StatusRequestEntityTooLarge, json(`{"user_id":"p","is_initiated":true,"x":"`+strings.Repeat("x", 100)+`"}`))
	s.want(http.StatusUnprocessableEntity, json(`{"user_id":"p","is_initiated":true,"x":[[[]]]}`))
	s.want(http.StatusCreated, json(`{"user_id":"p2","is_initiated":true,"x":[[]]}`))
	s.want(http.StatusRequestEntityTooLarge, form("POST", "/v2/prediction/", field{"session_id", id}, field{"allowed_sample_rate", strings.Repeat("4", 41)}, field{"file", file}))
	s.want(http.StatusNotAcceptable, form("POST", "/v2/prediction/", field{"session_id", id}, field{}, field{}, field{"file", file}))
	s.wantNothing(id)
	s.want(http.StatusAccepted, form("POST", "/v2/prediction/", field{"session_id", id}, field{"allowed_sample_rate", "44100"}, field{"file", file}))
}

// A key whose uploads stall is answered 429 before the next one is read, and holds up
// no other key.
func TestUploadsOfOneKey(t *testing.T) {
	const limit = 3
	s := newServiceWith(t, nil, &httpadapter.Options{Limits: httpadapter.Limits{Uploads: limit}})
	addr := s.listen()
	other := s.newKey("clinic")
	recording := string(testWAV(t, 44100, 1, 0.1))
	start := func(path string) (more net.Conn) {
		t.Helper()
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 100000\r\n\r\n"+
			"--x\r\nContent-Disposition: form-data; name=file\r\n\r\nRIFF", path, s.key)
		return conn
	}
	stalled := []net.Conn{start("/v2/prediction/"), start("/predict"), start("/v1/predict/server/depression/binary")}
	under := func() int {
		return httpadapter.UploadsOf(s.handler, strings.Split(s.key, "_")[1])
	}
	within(t, time.Minute, "three uploads are on their way", func() bool { return under() == limit })
	for _, path := range []string{"/v2/prediction/", "/predict"} {
		r := form("POST", path, field{"session_id", "session-9"}, field{"file", recording})
		if w := s.do(r); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: got %d %s, want 429 and Retry-After", path, w.Code, w.Body)
		}
		r.key = other
		s.want(http.StatusNotFound, r)
	}
	// It is said before the body is asked for.
	if status, body := wire(t, addr, fmt.Sprintf("POST /v2/prediction/ HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\nExpect: 100-continue\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 100000\r\n\r\n", s.key)); status != http.StatusTooManyRequests {
		t.Errorf("got %d %s, want 429 and not to be asked for the body", status, body)
	}
	// Other calls of the key are taken, and when an upload ends the next one is.
	s.want(http.StatusCreated, request{method: "POST", path: "/v2/initiate", body: `{"user_id":"p","is_initiated":true}`})
	stalled[0].Close()
	within(t, time.Minute, "an upload was broken off", func() bool { return under() < limit })
	s.want(http.StatusAccepted, form("POST", "/v2/prediction/", field{"session_id", "session-1"}, field{"file", recording}))
}

// Many uploads at once take memory for their number, not for their size. With
// 99 MiB each the figure is the same, but takes a minute under the race detector.
func TestUploadMemoryConcurrent(t *testing.T) {
	const (
		uploads = 64
		allowed = 64 << 20 // bytes that all of them may allocate, from first to last
		slack   = 16 << 20 // between the sizes: what the runtime allocates meanwhile
	)
	s := newService(t)
	e, err := voicescreen.New(discard{s.store}, &voicescreen.Options{Workers: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.Background())
	s.use(e)
	head := string(testWAV(t, 44100, 1, 0.1))[:44]
	measure := func(size int64, fileFirst bool) uint64 {
		var before, after runtime.MemStats
		all := make(chan struct{}) // closed when all uploads are half way
		var half, done sync.WaitGroup
		half.Add(uploads)
		bodies := make([]io.Reader, uploads)
		for i := range bodies {
			bodies[i] = meet{s.uploadText(head, size, fileFirst), &half, all}.body()
		}
		runtime.ReadMemStats(&before)
		go func() { half.Wait(); close(all) }()
		for _, body := range bodies {
			done.Go(func() {
				req := httptest.NewRequest("POST", "/v2/prediction/", body)
				req.Header.Set("Content-Type", "multipart/form-data; boundary=x")
				req.Header.Set("X-API-Key", s.key)
				w := httptest.NewRecorder()
				s.handler.ServeHTTP(w, req)
				if w.Code != http.StatusAccepted {
					t.Errorf("got %d %s, want 202", w.Code, w.Body)
				}
			})
		}
		done.Wait()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	for _, fileFirst := range []bool{false, true} {
		small, large := measure(128<<10, fileFirst), measure(1<<20, fileFirst)
		t.Logf("file first %v: %d uploads allocated %.1f MB for 128 KiB each, %.1f MB for 1 MiB each", fileFirst, uploads, float64(small)/1e6, float64(large)/1e6)
		if small > allowed || large > allowed || large > small+slack {
			t.Errorf("file first %v: got %d and %d bytes, want at most %d and the same", fileFirst, small, large, allowed)
		}
	}
}

// meet is an upload that waits half way for the others.
type meet struct {
	parts [3]io.Reader // before, in and after the middle
	half  *sync.WaitGroup
	all   chan struct{}
}

func (m meet) body() io.Reader { return io.MultiReader(m.parts[0], m, m.parts[1], m.parts[2]) }

func (m meet) Read([]byte) (int, error) {
	m.half.Done()
	<-m.all
	return 0, io.EOF
}

// uploadText is the body of an upload of silence with the header of a WAV file, in two
// halves and the rest.
func (s *service) uploadText(head string, size int64, fileFirst bool) [3]io.Reader {
	head = head[:4] + "\xff\xff\xff\xff" + head[8:40] + "\xff\xff\xff\xff" // to the end of the file
	session := "--x\r\nContent-Disposition: form-data; name=\"session_id\"\r\n\r\n" + s.initiate("p1") + "\r\n"
	before, behind := session, ""
	if fileFirst {
		before, behind = "", session
	}
	return [3]io.Reader{
		io.MultiReader(strings.NewReader(before+"--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n"+head), io.LimitReader(silence{}, size/2)),
		io.LimitReader(silence{}, size/2),
		strings.NewReader("\r\n" + behind + "--x--\r\n"),
	}
}
