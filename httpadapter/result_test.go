package httpadapter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// list asks for a listing and returns the session IDs and the path of the next
// page.
func (s *service) list(path string) (ids []string, next string) {
	s.t.Helper()
	w := s.do(request{method: "GET", path: path})
	var items []struct {
		SessionID string `json:"session_id"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &items); err != nil || w.Code != http.StatusOK {
		s.t.Fatalf("%s: got %d %s", path, w.Code, w.Body)
	}
	for _, item := range items {
		ids = append(ids, item.SessionID)
	}
	if link := w.Header().Get("Link"); link != "" {
		next = strings.TrimSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
	}
	return ids, next
}

func TestListingPages(t *testing.T) {
	s := newService(t)
	user := "a/b ?&%ü"
	recording := testWAV(t, 44100, 1, 0.1)
	for i := range 5 {
		if i%2 == 0 {
			s.advance(time.Second)
		}
		s.submit(user, "/v2/prediction/", recording)
	}
	s.submit("other", "/v2/prediction/", recording)
	path := "/v2/predict/users/" + url.PathEscape(user)
	all, next := s.list(path)
	want := "[session-5 session-4 session-3 session-2 session-1]" // newest first, within a second too
	if fmt.Sprint(all) != want || next != "" {
		t.Errorf("got %v, next %q, want %s and no next page", all, next, want)
	}
	for _, limit := range []int{1, 2, 4, 5, 6, 100000} {
		var pages []string
		at := fmt.Sprintf("%s?limit=%d", path, limit)
		for at != "" {
			var ids []string
			ids, at = s.list(at)
			if len(ids) > limit || len(ids) == 0 {
				t.Errorf("limit %d: got a page of %d", limit, len(ids))
			}
			pages = append(pages, ids...)
		}
		if fmt.Sprint(pages) != want {
			t.Errorf("limit %d: got %v, want %s", limit, pages, want)
		}
	}
	for _, query := range []string{"limit=0", "limit=-1", "limit=x", "limit=", "limit=1.5", "cursor=x", "limit=1&cursor=%00", "detail=x"} {
		s.want(http.StatusUnprocessableEntity, request{method: "GET", path: path + "?" + query})
	}
	s.want(http.StatusUnprocessableEntity, request{method: "GET", path: "/v2/predict/sessions/session-1?detail=half"})
	if _, next := s.list(path + "?limit=1&detail=full"); !strings.Contains(next, "detail=full") {
		t.Errorf("got next %q, want the query kept", next)
	}
}

// For a listing without a limit the service holds the results of at most one page,
// with their features, in memory.
func TestListingHoldsOnePage(t *testing.T) {
	const (
		maxPage  = 1000
		sessions = 3*maxPage + 7
	)
	s := newService(t)
	st := &longListing{Store: s.store, sessions: sessions}
	e, err := voicescreen.New(st, &voicescreen.Options{Workers: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.Background())
	s.use(e)
	ids, next := s.list("/v2/predict/users/p1")
	if len(ids) != sessions || next != "" || !slices.IsSorted(ids) {
		t.Errorf("got %d sessions and next page %q, want all %d in their order", len(ids), next, sessions)
	}
	if most := maxPage + 2*st.largest; st.held > most {
		t.Errorf("%d results were held at once, want at most a page and what is read for the next, %d", st.held, most)
	}
}

// longListing is a store in which every user has the same number of sessions. At
// each call of List it counts the results of former calls that are still in use.
type longListing struct {
	store.Store
	sessions int
	lent     []weak.Pointer[screen.Score]
	held     int // at most
	largest  int // batch that was asked for
}

func (l *longListing) List(_ context.Context, account, user string, after *store.Cursor, limit int) ([]*store.Session, error) {
	runtime.GC()
	held := 0
	for _, p := range l.lent {
		if p.Value() != nil {
			held++
		}
	}
	l.held, l.largest = max(l.held, held), max(l.largest, limit)
	next := 0
	if after != nil {
		if _, err := fmt.Sscanf(after.ID, "session-%d", &next); err != nil {
			return nil, err
		}
		next++
	}
	var list []*store.Session
	for ; next < l.sessions && len(list) < limit; next++ {
		r := &store.Session{Account: account, ID: fmt.Sprintf("session-%06d", next), UserID: user, Status: screen.StatusSuccess,
			Product: screen.DepressionBinary, Scores: testScores([]screen.Category{screen.Depression})}
		l.lent = append(l.lent, weak.Make(&r.Scores[0]))
		list = append(list, r)
	}
	return list, nil
}

func TestDeepfakeResult(t *testing.T) {
	for name, c := range map[string]struct {
		p    float64
		d    screen.Decision
		is   bool
		want float64
	}{
		"positive":             {0.875, screen.Positive, true, 87.5},
		"positive, low":        {0.3, screen.Positive, true, 30},
		"negative":             {0, screen.Negative, false, 0},
		"undecided, more so":   {0.5, screen.Indeterminate, false, 50},
		"just below one half":  {0.49999, screen.Indeterminate, false, 49.99},
		"certain":              {1, screen.Positive, true, 100},
		"two decimals":         {1.0 / 3, screen.Negative, false, 33.33},
		"beyond by a rounding": {1.0000001, screen.Positive, true, 100},
	} {
		s := newService(t)
		id := s.submit("p1", "/predict", testWAV(t, 44100, 1, 0.1))
		s.finish(id, nil, func(r *store.Session) {
			r.Scores[0].Probability, r.Scores[0].Decision, r.Scores[0].Band = c.p, c.d, screen.Band{Low: 0.1, High: 0.5}
		})
		got := s.want(http.StatusOK, request{method: "POST", path: "/predict", contentType: jsonType, body: fmt.Sprintf(`{"session_id":%q}`, id)})
		if got["predicted_deepfake_score"] != c.want || got["predicted_is_deepfake"] != c.is || got["predicted_score"] != fmt.Sprint(c.is) {
			t.Errorf("%s: got %v, want %v and %g", name, got, c.is, c.want)
		}
	}
}

// All requests for a deepfake result, and a session without a submission.
func TestPredictWithoutFile(t *testing.T) {
	s := newService(t)
	id := s.submit("p1", "/predict", testWAV(t, 44100, 1, 0.1))
	other := s.submit("p1", "/v2/prediction/", testWAV(t, 44100, 1, 0.1))
	bare := s.initiate("p1")
	for name, r := range map[string]request{
		"JSON":              {contentType: jsonType, body: fmt.Sprintf(`{"session_id":%q}`, id)},
		"JSON without type": {body: fmt.Sprintf(`{"session_id":%q}`, id)},
		"JSON as multipart": {contentType: "multipart/form-data; boundary=x", body: fmt.Sprintf(`{"session_id":%q}`, id)},
		"form":              {contentType: formType, body: "session_id=" + id},
		"multipart":         form("POST", "/predict", field{"session_id", id}),
	} {
		r.method, r.path = "POST", "/v1/predict"
		if got := s.want(http.StatusOK, r); got["status"] != "processing" || got["model_category"] != "deepfake" {
			t.Errorf("%s: got %v, want the deepfake result", name, got)
		}
	}
	ask := func(body string) request {
		return request{method: "POST", path: "/v2/predict", contentType: formType, body: body}
	}
	s.want(http.StatusNotFound, ask("session_id=x"))
	s.want(http.StatusUnprocessableEntity, ask(""))
	s.want(http.StatusUnprocessableEntity, ask("session_id="))
	s.want(http.StatusUnprocessableEntity, ask(`{"session_id":7}`))
	s.want(http.StatusUnprocessableEntity, ask(`{"session_id":`))
	s.want(http.StatusUnprocessableEntity, form("POST", "/predict"))
	s.want(http.StatusUnprocessableEntity, form("POST", "/predict", field{"x", "y"}))
	s.want(http.StatusNotAcceptable, request{method: "POST", path: "/predict", contentType: "multipart/form-data; boundary=x", body: "--x\r\nhello"})
	recording := string(testWAV(t, 44100, 1, 1)) // more than a body of fields
	upload := form("POST", "/predict", field{"session_id", bare}, field{"file", recording})
	for _, r := range []request{
		{contentType: "multipart/form-data", body: upload.body}, {body: upload.body}, {contentType: "audio/wav", body: recording}, {body: recording}, {contentType: "audio/wav", body: "x"},
		{body: "fLaC\x00\x00\x00\x22" + recording}, {contentType: "application/octet-stream", body: "OggS\x00\x02" + recording},
		{contentType: formType, body: "\x1a\x45\xdf\xa3" + recording}, {body: "\xff\xfb\x90d" + recording}, {contentType: "video/webm", body: "webm"},
	} {
		r.method, r.path = "POST", "/predict"
		s.want(http.StatusNotAcceptable, r)
	}
	if got := s.want(http.StatusExpectationFailed, ask("session_id="+bare)); got["predict_error"].(map[string]any)["error"] != "audio_not_submitted" {
		t.Errorf("got %v, want audio_not_submitted", got)
	}
	if got := s.want(http.StatusOK, ask("session_id="+other)); got["model_category"] != "depression,anxiety" {
		t.Errorf("got %v, want the session's own shape", got)
	}
}

func TestErase(t *testing.T) {
	s := newService(t)
	recording := testWAV(t, 44100, 1, 0.1)
	a, b, c := s.submit("p/1", "/v2/prediction/", recording), s.submit("p/1", "/predict", recording), s.submit("p2", "/predict", recording)
	w := s.do(request{method: "DELETE", path: "/v2/sessions/" + a})
	if w.Code != http.StatusNoContent || w.Body.Len() > 0 {
		t.Errorf("got %d %s, want 204 and no body", w.Code, w.Body)
	}
	s.want(http.StatusNotFound, request{method: "DELETE", path: "/v2/sessions/" + a})
	s.want(http.StatusNotFound, request{method: "GET", path: "/v2/predict/sessions/" + a})
	s.want(http.StatusNoContent, request{method: "DELETE", path: "/v2/users/p%2F1"})
	s.want(http.StatusNoContent, request{method: "DELETE", path: "/v2/users/p%2F1"})
	s.want(http.StatusNotFound, request{method: "GET", path: "/v2/predict/sessions/" + b})
	s.want(http.StatusOK, request{method: "GET", path: "/v2/predict/sessions/" + c})
}
