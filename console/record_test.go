package console_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/console"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/voicescreentest"
)

func TestConsentIsTicked(t *testing.T) {
	s := newService(t, nil)
	c := s.signedIn("")
	page := c.get("/console/new")
	page.want(t, "the page of the consent", http.StatusOK, `type="checkbox" name="consent" value="yes" required`)
	if strings.Contains(page.body, "checked") {
		t.Error("the consent is ticked, want it left to the person")
	}
	c.post("/console/sessions", "user", "patient-17").want(t, "no consent", http.StatusUnprocessableEntity, "Consent was not given", `value="patient-17"`)
	c.post("/console/sessions", "user", "", "consent", "yes").want(t, "no user", http.StatusUnprocessableEntity, `aria-invalid="true"`)
	c.post("/console/sessions", "user", "patient-17", "consent", "yes", "age", "-3", "gender", "x").want(t, "a wrong age", http.StatusUnprocessableEntity, `aria-invalid="true"`)
	id := c.consented("patient-17", "age", "44", "gender", "Female", "english", "no")
	stored, err := s.store.Get(t.Context(), account, id)
	if err != nil {
		t.Fatal(err)
	}
	if m := stored.Metadata; stored.UserID != "patient-17" || m.Age != 44 || m.Gender != screen.Female || m.English == nil || *m.English {
		t.Errorf("got user %q and %+v, want patient-17, 44, female, not English", stored.UserID, m)
	}
}

func TestRecordingIsSubmitted(t *testing.T) {
	s := newService(t, nil)
	c := s.signedIn("")
	id := c.consented("patient-17")
	page := "/console/sessions/" + id
	c.get(page+"/record").want(t, "the page of the recording", http.StatusOK, `action="/console/sessions/`+id+`/recording"`, "last two weeks")
	c.upload(id, []byte("no recording")).want(t, "no WAV file", http.StatusUnprocessableEntity, "WAV file of one channel", `type="file"`)
	c.upload(id, nil).want(t, "an empty file", http.StatusUnprocessableEntity, "WAV file of one channel")
	c.post(page+"/recording", "file", "x").want(t, "no multipart body", http.StatusBadRequest, "could not be read")
	c.upload(id, voicescreentest.Recording(), "speech", "song").want(t, "an unknown way of speaking", http.StatusUnprocessableEntity)
	if a := c.get(page + "/thanks"); a.path != page+"/record" {
		t.Errorf("thanks before the recording: got %s, want the page of the recording", a.path)
	}
	a := c.upload(id, voicescreentest.Recording(), "product", "depression_anxiety", "speech", "picture")
	a.want(t, "a recording", http.StatusOK, "has arrived")
	c.upload(id, voicescreentest.Recording()).want(t, "a second recording", http.StatusConflict, "another state")
	if a := c.get(page + "/record"); a.path != page+"/thanks" {
		t.Errorf("the page of the recording, afterwards: got %s, want the thanks", a.path)
	}
	stored, err := s.store.Get(t.Context(), account, id)
	if err != nil || stored.Speech != screen.Picture || stored.Product != screen.DepressionAnxiety {
		t.Errorf("got %+v (%v), want the description of a picture, for depression and anxiety", stored, err)
	}
}

func TestUploadIsBounded(t *testing.T) {
	s := newService(t, func(o *console.Options) { o.Upload.MaxBytes = 1000 })
	c := s.signedIn("")
	id := c.consented("patient-17")
	c.upload(id, voicescreentest.Recording()).want(t, "a recording above MaxBytes", http.StatusRequestEntityTooLarge, "too large")
	if r, err := s.engine.Tenant(account).Result(t.Context(), id); err != nil || r.Status != screen.StatusInitiated {
		t.Errorf("got %v (%v), want a session that still waits", r, err)
	}
}

// TestScriptGetsJSON is what a script that uploads relies on.
func TestScriptGetsJSON(t *testing.T) {
	s := newService(t, nil)
	c := s.signedIn("")
	id := c.consented("patient-17")
	send := func(c *client, kind string) answer {
		r := c.request("POST", "/console/sessions/"+id+"/recording", strings.NewReader("x"))
		r.Header.Set("Accept", "application/json")
		r.Header.Set("Content-Type", kind)
		return c.do(r)
	}
	send(c, "text/plain").want(t, "no form", http.StatusBadRequest, `{"message":"The form could not be read."}`)
	send(s.newClient(), "text/plain").want(t, "signed out", http.StatusUnauthorized, `{"message":"You are signed out. Sign in again."}`)
	const form = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"r.wav\"\r\n\r\n"
	r := c.request("POST", "/console/sessions/"+id+"/recording", strings.NewReader(form+string(voicescreentest.Recording())+"\r\n--b--\r\n"))
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
	c.do(r).want(t, "a recording", http.StatusOK, `{"location":"/console/sessions/`+id+`/thanks"}`)
}

// A device that a patient holds does not lead to the session of the patient before.
func TestRecentSessionsNeedRead(t *testing.T) {
	s := newService(t, nil)
	c := s.signedIn(s.newKey(account, httpadapter.ScopeInitiate, httpadapter.ScopeSubmit, httpadapter.ScopeFeedback))
	id := c.consented("patient-17")
	if a := c.get("/console/"); strings.Contains(a.body, id) {
		t.Errorf("the first page names the session %s to a key that may not read", id)
	}
	reader := s.signedIn("")
	id = reader.consented("patient-18")
	reader.get("/console/").want(t, "a key that may read", http.StatusOK, id)
}

// Leaving a page that waits is no error of the service.
func TestLeavingAPageIsNoError(t *testing.T) {
	s := newService(t, nil)
	c := s.signedIn("")
	id := c.consented("patient-17")
	ctx, leave := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer leave()
	r := c.request("GET", "/console/sessions/"+id+"/wait", nil).WithContext(ctx)
	if _, err := c.http.Do(r); err == nil {
		t.Fatal("the page did not wait")
	}
	for range 100 { // until the server has seen it
		if strings.Contains(s.log.String(), "status=499") {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if got := s.log.String(); strings.Contains(got, "internal error") || !strings.Contains(got, "status=499") {
		t.Errorf("got the log %s, want the status 499 and no error", got)
	}
}

func TestScopesDecideWhatIsShown(t *testing.T) {
	s := newService(t, nil)
	kiosk := s.signedIn(s.newKey(account, httpadapter.ScopeInitiate, httpadapter.ScopeSubmit))
	id := kiosk.consented("patient-17")
	a := kiosk.upload(id, voicescreentest.Recording())
	a.want(t, "a device without the scope read", http.StatusOK, "give the device back")
	if strings.Contains(a.body, "Show the result") {
		t.Error("without the scope read the page has a link to the result")
	}
	reader := s.signedIn(s.newKey(account, httpadapter.ScopeRead))
	reader.get("/console/new").want(t, "without the scope initiate", http.StatusForbidden, "no permission")
	if strings.Contains(reader.get("/console/").body, "/console/new") {
		t.Error("without the scope initiate the overview has a link to a new recording")
	}
}

// TestUploadThatStalls begins an upload and sends nothing more.
func TestUploadThatStalls(t *testing.T) {
	s := newService(t, func(o *console.Options) { o.Upload.StallTime, o.Upload.PerCaller = 200*time.Millisecond, 1 })
	c := s.signedIn("")
	id := c.consented("patient-17")
	body, feed := io.Pipe()
	defer feed.Close()
	r := c.request("POST", "/console/sessions/"+id+"/recording", body)
	r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
	ended := make(chan error, 1)
	go func() {
		res, err := c.http.Do(r)
		if err == nil {
			res.Body.Close()
			if res.StatusCode != http.StatusBadRequest {
				t.Errorf("got %d, want 400", res.StatusCode)
			}
		}
		ended <- err
	}()
	if _, err := io.WriteString(feed, "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"r.wav\"\r\n\r\nRIFF"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended: // the server answers, or closes the connection while the client still sends
		if err != nil {
			t.Log(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the upload does not end")
	}
	if got, err := s.engine.Tenant(account).Result(t.Context(), id); err != nil || got.Status != screen.StatusInitiated {
		t.Errorf("got %+v (%v), want a session that still waits", got, err)
	}
	c.upload(id, voicescreentest.Recording()).want(t, "a second try", http.StatusOK, "has arrived")
}

func TestUploadsOfOneCallerAreBounded(t *testing.T) {
	s := newService(t, func(o *console.Options) { o.Upload.PerCaller = 1 })
	c := s.signedIn("")
	first, second := c.consented("patient-17"), c.consented("patient-18")
	body, feed := io.Pipe()
	r := c.request("POST", "/console/sessions/"+first+"/recording", body)
	r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
	r.Header.Set("Expect", "100-continue") // answered once the upload is let in and its body is read
	begun := make(chan struct{})
	r = r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{Got100Continue: func() { close(begun) }}))
	ended := make(chan int, 1)
	go func() {
		res, err := c.http.Do(r)
		if err != nil {
			ended <- 0
			return
		}
		res.Body.Close()
		ended <- res.StatusCode
	}()
	select {
	case <-begun:
	case status := <-ended:
		t.Fatalf("the first upload: got %d before its body was asked for", status)
	}
	c.upload(second, []byte("x")).want(t, "while another upload is under way", http.StatusTooManyRequests)
	if _, err := io.WriteString(feed, "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"r.wav\"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	feed.Write(voicescreentest.Recording())
	io.WriteString(feed, "\r\n--b--\r\n")
	feed.Close()
	if status := <-ended; status != http.StatusOK {
		t.Errorf("the first upload: got %d, want 200", status)
	}
	c.upload(second, voicescreentest.Recording()).want(t, "after the first", http.StatusOK, "has arrived")
}

// TestFormThatStalls: whoever sends a form slowly holds no connection, and needs no key for
// the form to sign in.
func TestFormThatStalls(t *testing.T) {
	s := newService(t, func(o *console.Options) { o.Upload.StallTime = 100 * time.Millisecond })
	conn, err := net.Dial("tcp", s.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	fmt.Fprint(conn, "POST /console/sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\nkey=")
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.Contains(line, "400 Bad Request") {
		t.Errorf("got %q (%v), want 400", line, err)
	}
}

// TestRefusedUploadIsRead: a browser that is refused reads the answer after it has sent
// the whole recording, and reports a closed connection as a failure of the network.
func TestRefusedUploadIsRead(t *testing.T) {
	s := newService(t, nil)
	out := s.newClient()
	forbidden := s.signedIn(s.newKey(account, httpadapter.ScopeRead))
	for name, test := range map[string]struct {
		c    *client
		want string
	}{"signed out": {out, "401 Unauthorized"}, "without the scope": {forbidden, "403 Forbidden"}} {
		conn, err := net.Dial("tcp", s.server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(time.Minute))
		r := test.c.request("POST", "/console/sessions/a/recording", bytes.NewReader(make([]byte, 16<<20)))
		r.Header.Set("Accept", "application/json")
		r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
		for _, k := range test.c.http.Jar.Cookies(r.URL) {
			r.AddCookie(k)
		}
		if err := r.Write(conn); err != nil {
			t.Errorf("%s: %v, want the whole upload taken", name, err)
			continue
		}
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil || !strings.Contains(line, test.want) {
			t.Errorf("%s: got %q (%v), want %s", name, line, err, test.want)
		}
	}
}
