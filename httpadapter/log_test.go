package httpadapter_test

import (
	"net/http"
	"regexp"
	"slices"
	"testing"
)

// A poll that brought nothing new and a health check that succeeded are logged at
// level debug, everything else at info.
func TestLogLevels(t *testing.T) {
	s := newService(t)
	line := regexp.MustCompile(`level=(\w+) msg=request .*route="?([^" ]+ [^" ]+|none)"? status=(\d+)`)
	recording := testWAV(t, 44100, 1, 0.1)
	id := s.submit("p1", "/v2/prediction/", recording)
	fake := s.submit("p1", "/v2/predict", recording)
	failing := s.submit("p1", "/v2/prediction/", recording)
	before := len(s.log.String())

	result := func(id string) request { return request{method: "GET", path: "/v2/predict/sessions/" + id} }
	deepfake := func() request { return form("POST", "/predict", field{"session_id", fake}) }
	s.want(http.StatusOK, result(id))
	s.want(http.StatusOK, deepfake())
	s.finish(id, nil, nil)
	s.finish(fake, nil, nil)
	s.finish(failing, tooShort, nil)
	s.want(http.StatusOK, result(id))
	s.want(http.StatusOK, deepfake())
	s.want(http.StatusExpectationFailed, result(failing))
	s.want(http.StatusNotFound, result("none"))
	s.want(http.StatusOK, request{method: "GET", path: "/v2/predict/users/p1"})
	s.want(http.StatusOK, request{method: "GET", path: "/healthz", key: "none"})
	s.want(http.StatusOK, request{method: "GET", path: "/readyz", key: "none"})
	s.want(http.StatusForbidden, request{method: "GET", path: "/v2/predict/sessions/" + id, key: "none"})
	if err := s.engine.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.want(http.StatusServiceUnavailable, request{method: "GET", path: "/readyz", key: "none"})

	want := []string{
		"DEBUG GET predict/sessions/* 200", "DEBUG POST predict 200",
		"INFO GET predict/sessions/* 200", "INFO POST predict 200",
		"INFO GET predict/sessions/* 417", "INFO GET predict/sessions/* 404", "INFO GET predict/users/* 200",
		"DEBUG GET healthz 200", "DEBUG GET readyz 200",
		"INFO GET predict/sessions/* 403", "INFO GET readyz 503",
	}
	var got []string
	for _, m := range line.FindAllStringSubmatch(s.log.String()[before:], -1) {
		got = append(got, m[1]+" "+m[2]+" "+m[3])
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q\nin\n%s", got, want, s.log.String())
	}
}
