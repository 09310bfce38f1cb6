package httpadapter_test

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

var update = flag.Bool("update", false, "write the golden bodies anew; those of v1 never change")

// golden compares status and body of an answer with a file.
func (s *service) golden(version, name string, r request) {
	s.t.Helper()
	w := s.do(r)
	got := fmt.Appendf(nil, "%d\n%s", w.Code, w.Body)
	path := filepath.Join("testdata", version, name+".http")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o666); err != nil {
			s.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		s.t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}

// One body of each kind and status, byte for byte, for each version.
func TestGoldenBodies(t *testing.T) {
	recording := testWAV(t, 44100, 1, 0.1)
	for _, v := range []string{"v1", "v2"} {
		t.Run(v, func(t *testing.T) {
			s := newService(t)
			get := func(id string) request { return request{method: "GET", path: "/" + v + "/predict/sessions/" + id} }
			post := func(path, body string) request {
				return request{method: "POST", path: "/" + v + path, contentType: formType, body: body}
			}
			labels := func(path, body string) {
				s.want(http.StatusOK, request{method: "PATCH", path: "/" + v + "/feedback/" + path, body: body})
			}

			s.golden(v, "initiate_201", post("/initiate", "user_id=p1&is_initiated=true"))
			s.golden(v, "initiate_406", post("/initiate", "user_id=p1&is_initiated=false"))
			s.golden(v, "initiate_422", post("/initiate", "is_initiated=perhaps&metadata.zipcode=1234"))
			s.golden(v, "result_417_not_submitted", get("session-1"))
			s.golden(v, "feedback_409", request{method: "PATCH", path: "/" + v + "/feedback/phq/2", body: `{"session_id":"session-1","actual_score":[1,2]}`})
			s.golden(v, "submit_202", form("POST", "/"+v+"/prediction/", field{"session_id", "session-1"}, field{"file", string(recording)}))
			s.golden(v, "submit_409", form("POST", "/"+v+"/prediction/", field{"session_id", "session-1"}, field{"file", string(recording)}))
			s.golden(v, "submit_404", form("POST", "/"+v+"/prediction/", field{"session_id", "none"}, field{"file", string(recording)}))
			s.golden(v, "submit_406", form("POST", "/"+v+"/prediction/", field{"session_id", "session-1"}))
			s.golden(v, "result_200_processing", get("session-1"))
			s.golden(v, "result_404", get("none"))
			s.golden(v, "result_403_missing", request{method: "GET", path: "/" + v + "/predict/sessions/session-1", key: "none"})
			s.golden(v, "result_403_invalid", request{method: "GET", path: "/" + v + "/predict/sessions/session-1", key: "vk_x"})
			s.golden(v, "result_401", request{method: "GET", path: "/" + v + "/predict/sessions/session-1", key: s.newKey("clinic", httpadapter.ScopeSubmit)})
			s.finish("session-1", nil, nil)
			s.golden(v, "result_200_depression_anxiety", get("session-1"))
			detailed := get("session-1")
			detailed.path += "?detail=full"
			s.golden(v, "result_200_detail", detailed)

			for _, p := range products {
				name := p.name
				s.advance(time.Minute)
				id := s.submit("p2", "/"+v+p.path, recording)
				if name == "deepfake" {
					s.golden(v, "result_200_processing_deepfake", get(id))
				}
				s.finish(id, nil, nil)
				s.golden(v, "result_200_"+name, get(id))
				if name == "deepfake" {
					s.golden(v, "predict_200_deepfake", form("POST", "/"+v+"/predict", field{"session_id", id}))
				}
			}

			s.golden(v, "results_200_empty", request{method: "GET", path: "/" + v + "/predict/users/nobody"})
			s.listing(v, recording)
			labels("depression/binary", `{"session_id":"session-1","actual_score":"Additional_consideration_required"}`)
			labels("phq/9", `{"session_id":"session-1","actual_score":[0,1,2,3,0,1,2,3,0]}`)
			labels("gad/7", `{"session_id":"session-1","actual_score":[0,1,2,3,0,1,2]}`)
			s.golden(v, "result_200_labels_phq_9", get("session-1"))
			labels("phq/2", `{"session_id":"session-1","actual_score":[1,2]}`)
			s.golden(v, "result_200_labels_phq_2", get("session-1"))
			s.golden(v, "results_200_labels", request{method: "GET", path: "/" + v + "/predict/users/p1"})
		})
	}
}

var products = []struct{ name, path string }{
	{"depression_binary", "/predict/depression/binary"}, {"depression_severity", "/predict/depression/severity"},
	{"anxiety_severity", "/predict/anxiety/severity"}, {"deepfake", "/predict"},
}

// listing makes the sessions of a user who has one of each kind.
func (s *service) listing(v string, recording []byte) {
	s.t.Helper()
	next := func(path string) string { s.advance(time.Minute); return s.submit("p3", "/"+v+path, recording) }
	success, failed, plain, deepfake, fake := next("/prediction/"), next("/prediction/"), next("/prediction/"), next("/predict"), next("/predict")
	next("/prediction/") // stays in processing
	s.initiate("p3")     // is not listed
	s.finish(success, nil, nil)
	s.finish(failed, tooShort, nil)
	s.finish(plain, &screen.Failure{Code: "no_speech_error", Message: "Audio file contains no speech"}, nil)
	s.finish(deepfake, nil, nil)
	s.finish(fake, tooShort, func(r *store.Session) { r.Features = nil })
	s.golden(v, "result_417_failed", request{method: "GET", path: "/" + v + "/predict/sessions/" + failed})
	s.golden(v, "result_417_failed_deepfake", request{method: "GET", path: "/" + v + "/predict/sessions/" + fake})
	s.golden(v, "results_200", request{method: "GET", path: "/" + v + "/predict/users/p3"})
}
