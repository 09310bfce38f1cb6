package httpadapter_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/store"
)

// A client that sends a whole large upload before it reads has its answer, whatever
// the status, and not a closed connection.
func TestLargeUploadsAreAnswered(t *testing.T) {
	s := newServiceWith(t, nil, &httpadapter.Options{MaxUpload: 8 << 20})
	addr := s.listen()
	id := s.initiate("p1")
	file := strings.Repeat("no audio", 1<<19) // 4 MiB
	for name, c := range map[string]struct {
		key, session, file string
		want               int
	}{
		"no key":          {"", id, file, 403},
		"unknown session": {s.key, "x", file, 404},
		"no audio":        {s.key, id, file, 422},
		"too large":       {s.key, id, file + file + "x", 413},
		"much too large":  {s.key, id, file + file + file, 413},
	} {
		r := form("POST", "/v2/prediction/", field{"session_id", c.session}, field{"file", c.file})
		status, body := wire(t, addr, fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
			r.path, c.key, r.contentType, len(r.body), r.body))
		if status != c.want || !strings.Contains(body, "message") {
			t.Errorf("%s: got %d %s, want %d", name, status, body, c.want)
		}
	}
}

// A client with Expect: 100-continue is answered before its body.
func TestExpectContinue(t *testing.T) {
	s := newService(t)
	addr := s.listen()
	for key, want := range map[string]string{"x": "HTTP/1.1 403 ", s.key: "HTTP/1.1 413 "} {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST /v2/prediction/ HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\nExpect: 100-continue\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 999999999\r\n\r\n", key)
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil || !strings.HasPrefix(line, want) {
			t.Errorf("got %q %v, want %s", line, err, want)
		}
	}
}

// Calls without parameters accept a body, within the limits of other bodies.
func TestBodiesOfCallsWithoutOne(t *testing.T) {
	s := newServiceWith(t, nil, &httpadapter.Options{Limits: httpadapter.Limits{BodyTime: 200 * time.Millisecond}})
	addr := s.listen()
	id := s.initiate("p1")
	for line, want := range map[string]int{
		"GET /healthz":                      http.StatusOK,
		"GET /v2/predict/users/p1":          http.StatusOK,
		"GET /v2/predict/sessions/" + id:    http.StatusExpectationFailed,
		"DELETE /v2/users/somebody":         http.StatusNoContent,
		"GET /v2/predict/users/p1?detail=x": http.StatusUnprocessableEntity,
	} {
		head := line + " HTTP/1.1\r\nHost: x\r\nX-API-Key: " + s.key + "\r\nContent-Length: "
		if status, body := wire(t, addr, head+"3\r\n\r\nabc"); status != want {
			t.Errorf("%s: got %d %s, want %d", line, status, body, want)
		}
		if status, body := wire(t, addr, head+"300\r\n\r\nabc"); status != http.StatusUnprocessableEntity {
			t.Errorf("%s with a slow body: got %d %s, want 422", line, status, body)
		}
	}
	s.wantNothing(id)
}

// Bodies that end too early, over a TCP connection.
func TestUploadBreaksOff(t *testing.T) {
	s := newService(t)
	addr := s.listen()
	id := s.initiate("p1")
	whole := form("POST", "/v2/prediction/", field{"session_id", id}, field{"file", string(testWAV(t, 44100, 1, 0.2))})
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "POST /v2/prediction/ HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
		s.key, whole.contentType, len(whole.body), whole.body[:5000])
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || resp.StatusCode != http.StatusNotAcceptable {
		t.Errorf("got %v %v, want 406", resp, err)
	}
	conn.Close()
	s.want(http.StatusAccepted, whole) // the session is not used up
}

// discard is a store that discards audio.
type discard struct{ store.Store }

func (d discard) Audio() store.Audio { return discardAudio{d.Store.Audio()} }

type discardAudio struct{ store.Audio }

func (discardAudio) Put(_ context.Context, r io.Reader) (string, error) {
	_, err := io.Copy(io.Discard, r)
	return "none", err
}

// The memory that an upload takes does not depend on its size.
func TestUploadMemory(t *testing.T) {
	const (
		size    = 32 << 20
		allowed = 2 << 20 // chosen: room for buffers, far below size
	)
	s := newService(t)
	e, err := voicescreen.New(discard{s.store}, &voicescreen.Options{Workers: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.Background())
	s.use(e)
	header := string(testWAV(t, 44100, 1, 1))[:44]
	header = header[:4] + "\xff\xff\xff\xff" + header[8:40] + "\xff\xff\xff\xff" // to the end of the file
	for name, parts := range map[string][2]string{
		"streamed": {"--x\r\nContent-Disposition: form-data; name=\"session_id\"\r\n\r\nSESSION\r\n--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n", "\r\n--x--\r\n"},
		"spooled":  {"--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n", "\r\n--x\r\nContent-Disposition: form-data; name=\"session_id\"\r\n\r\nSESSION\r\n--x--\r\n"},
	} {
		_, got := cost.Memory(math.MaxUint64, allowed, func() {
			id := s.initiate("p1")
			body := io.MultiReader(strings.NewReader(strings.ReplaceAll(parts[0], "SESSION", id)+header),
				io.LimitReader(silence{}, size), strings.NewReader(strings.ReplaceAll(parts[1], "SESSION", id)))
			req := httptest.NewRequest("POST", "/v2/prediction/", body)
			req.Header.Set("Content-Type", "multipart/form-data; boundary=x")
			req.Header.Set("X-API-Key", s.key)
			w := httptest.NewRecorder()
			s.handler.ServeHTTP(w, req)
			if w.Code != http.StatusAccepted {
				t.Errorf("%s: got %d %s, want 202", name, w.Code, w.Body)
			}
		})
		if got > allowed {
			t.Errorf("%s: got %d bytes allocated for an upload of %d, want at most %d", name, got, size, allowed)
		}
	}
}

// silence is zeros without end.
type silence struct{}

func (silence) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Exactly one of several submissions at the same time wins.
func TestSubmissionsRace(t *testing.T) {
	s := newService(t)
	addr := s.listen()
	id := s.initiate("p1")
	recording := string(testWAV(t, 44100, 1, 0.5))
	codes := make(chan int, 8)
	var wg sync.WaitGroup
	for i := range cap(codes) {
		wg.Go(func() {
			fields := []field{{"session_id", id}, {"file", recording}}
			if i%2 == 1 {
				fields[0], fields[1] = fields[1], fields[0]
			}
			r := form("POST", "/v2/prediction/", fields...)
			req, err := http.NewRequest(r.method, "http://"+addr+r.path, strings.NewReader(r.body))
			if err != nil {
				t.Error(err)
				return
			}
			req.Header.Set("Content-Type", r.contentType)
			req.Header.Set("X-API-Key", s.key)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			resp.Body.Close()
			codes <- resp.StatusCode
		})
	}
	wg.Wait()
	close(codes)
	count := map[int]int{}
	for code := range codes {
		count[code]++
	}
	if count[http.StatusAccepted] != 1 || count[http.StatusConflict] != cap(codes)-1 {
		t.Errorf("got %v, want one 202 and the others 409", count)
	}
}

func TestNewServerHasTimeouts(t *testing.T) {
	s := httpadapter.NewServer("127.0.0.1:0", http.NotFoundHandler())
	if s.ReadHeaderTimeout <= 0 || s.ReadTimeout <= 0 || s.WriteTimeout < s.ReadTimeout || s.IdleTimeout <= 0 || s.MaxHeaderBytes <= 0 {
		t.Errorf("got %+v, want every limit set", s)
	}
}

func FuzzSubmit(f *testing.F) {
	whole := form("POST", "/", field{"session_id", "session-1"}, field{"allowed_sample_rate", "8000"}, field{"file", "RIFF0000WAVEfmt "})
	f.Add(whole.contentType, whole.body)
	f.Add("multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=file\r\n\r\nhello\r\n--x--")
	f.Add("multipart/form-data; boundary=x", "{\"session_id\":\"a\"}")
	s := newService(f)
	f.Fuzz(func(t *testing.T, contentType, body string) {
		for _, path := range []string{"/v2/prediction/", "/predict"} {
			req := httptest.NewRequest("POST", path, strings.NewReader(body))
			req.Header.Set("Content-Type", contentType)
			req.Header.Set("X-API-Key", s.key)
			var w *httptest.ResponseRecorder
			cost.Check(t, len(contentType)+len(body), func() {
				w = httptest.NewRecorder()
				req.Body = io.NopCloser(strings.NewReader(body))
				s.handler.ServeHTTP(w, req)
			})
			switch w.Code {
			case 404, 406, 413, 422: // there is no session to be used
			default:
				t.Errorf("%s: got %d %s", path, w.Code, w.Body)
			}
		}
	})
}
