package httpadapter_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// The values that the published clients know. The Java client of the service throws
// an exception for any other value of an enumeration, and then has nothing of the
// answer; its enumerations are ValidBinaryString, ValidPHQInt, Gender, Race and
// Ethnicity. The Python client tests the interview values that it sends.
var (
	clientBinaries    = []string{"false", "true", "additional_consideration_required"}
	clientGenders     = []string{"male", "female", "non-binary", "transgender female", "transgender male", "other", "prefer not to specify"}
	clientRaces       = []string{"white", "black or african-american", "asian", "american indian or alaskan native", "native Hawaiian or pacific islander", "two or more races", "other", "prefer not to specify"}
	clientEthnicities = []string{"Hispanic, Latino, or Spanish Origin", "Not Hispanic, Latino, or Spanish Origin"}
)

// clientBinary is ValidBinaryString: null or one of its values exactly.
type clientBinary string

func (b *clientBinary) UnmarshalText(text []byte) error {
	if !slices.Contains(clientBinaries, string(text)) {
		return fmt.Errorf("unexpected value %q", text)
	}
	*b = clientBinary(text)
	return nil
}

// clientItem is ValidPHQInt: 0 to 3.
type clientItem int

func (i *clientItem) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, (*int)(i)); err != nil {
		return err
	}
	if *i < 0 || *i > 3 {
		return fmt.Errorf("unexpected value %d", *i)
	}
	return nil
}

// clientRecord is a result as the Java client reads it: of these types, and without
// the members that it does not know.
type clientRecord struct {
	ActualScore *struct {
		AnxietyBinary    *clientBinary `json:"anxiety_binary"`
		DepressionBinary *clientBinary `json:"depression_binary"`
		PHQ2             []clientItem  `json:"phq_2"`
		PHQ9             []clientItem  `json:"phq_9"`
	} `json:"actual_score"`
	CreatedAt                string  `json:"created_at"`
	UpdatedAt                string  `json:"updated_at"`
	IsCalibrated             *bool   `json:"is_calibrated"`
	ModelCategory            *string `json:"model_category"`
	ModelGranularity         *string `json:"model_granularity"`
	PredictedScore           *string `json:"predicted_score"`
	PredictedScoreDepression *string `json:"predicted_score_depression"`
	PredictedScoreAnxiety    *string `json:"predicted_score_anxiety"`
	PredictError             *struct {
		Error   string `json:"error"`
		Message string `json:"message"`
	} `json:"predict_error"`
	SessionID string `json:"session_id"`
	Status    string `json:"status"`
}

// seen counts the values that the service answered, by member.
type seen map[string]map[string]int

func (s seen) add(member string, value *string) {
	if value == nil {
		return
	}
	if s[member] == nil {
		s[member] = map[string]int{}
	}
	s[member][*value]++
}

// read reads a result as both clients do.
func (s seen) read(t *testing.T, name string, data []byte) {
	t.Helper()
	var r clientRecord
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatalf("%s: %v in %s", name, err, data)
	}
	if r.CreatedAt == "" || r.UpdatedAt == "" || r.IsCalibrated == nil || r.Status == "" {
		t.Errorf("%s: got %s, want every member that the Python client reads", name, data)
	}
	if r.PredictedScore != nil && r.ModelCategory == nil {
		t.Errorf("%s: got %s, want the category of the score", name, data)
	}
	s.add("status", &r.Status)
	s.add("model_category", r.ModelCategory)
	s.add("model_granularity", r.ModelGranularity)
	s.add("predicted_score", r.PredictedScore)
	s.add("predicted_score_depression", r.PredictedScoreDepression)
	s.add("predicted_score_anxiety", r.PredictedScoreAnxiety)
	if r.ActualScore != nil {
		s.add("depression_binary", (*string)(r.ActualScore.DepressionBinary))
	}
	if r.PredictError != nil {
		s.add("error", &r.PredictError.Error)
	}
}

// Every value that the service answers, in results and in listings, is one that both
// clients read.
func TestClientsReadEveryValue(t *testing.T) {
	s := newService(t)
	recording := testWAV(t, 44100, 1, 0.1)
	got := seen{}
	read := func(name, id string, status int) {
		t.Helper()
		w := s.do(request{method: "GET", path: "/v2/predict/sessions/" + id})
		if w.Code != status {
			t.Fatalf("%s: got %d %s, want %d", name, w.Code, w.Body, status)
		}
		got.read(t, name, w.Body.Bytes())
	}
	paths := map[string]screen.Product{
		"/v2/prediction/": screen.DepressionAnxiety, "/v2/predict/depression/binary": screen.DepressionBinary,
		"/v2/predict/depression/severity": screen.DepressionSeverity, "/v2/predict/anxiety/severity": screen.AnxietySeverity,
		"/v2/predict": screen.DeepfakeBinary,
	}
	for path, product := range paths {
		id := s.submit("p1", path, recording)
		read(path+" processing", id, http.StatusOK)
		for _, code := range []string{screen.CodeAudioLength, screen.CodeNoSpeech, screen.CodeAudioQuality, screen.CodeAudioDecode, screen.CodeInternal} {
			id := s.submit("p1", path, recording)
			s.finish(id, &screen.Failure{Code: code, Message: "message"}, nil)
			read(path+" "+code, id, http.StatusExpectationFailed)
		}
		for decision := screen.Decision(1); decision.Valid(); decision++ {
			for class := range 4 {
				id := s.submit("p1", path, recording)
				s.finish(id, nil, func(r *store.Session) {
					for i := range r.Scores {
						r.Scores[i].Decision = decision
						if classes := r.Scores[i].Category.Severities(); classes != nil {
							r.Scores[i].Severity = classes[min(class, len(classes)-1)]
						}
					}
				})
				read(fmt.Sprint(product, decision, class), id, http.StatusOK)
			}
		}
	}
	read("not submitted", s.initiate("p1"), http.StatusExpectationFailed)
	for _, path := range []string{"/v2/feedback/depression/binary", "/v1/feedback/server/depression/binary"} {
		for _, value := range append(slices.Clone(clientBinaries), "True", "Additional_consideration_required", "ADDITIONAL_CONSIDERATION_REQUIRED") {
			id := s.submit("p1", "/v2/prediction/", recording)
			s.want(http.StatusOK, request{method: "PATCH", path: path, contentType: jsonType, body: `{"session_id":"` + id + `","data":"` + value + `"}`})
			s.want(http.StatusOK, request{method: "PATCH", path: "/v2/feedback/phq/9", body: `{"session_id":"` + id + `","data":[0,1,2,3,0,1,2,3,0]}`})
			read(path+" "+value, id, http.StatusOK)
		}
	}
	w := s.do(request{method: "GET", path: "/v2/predict/users/p1"})
	var list []json.RawMessage
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || len(list) < 100 {
		t.Fatalf("got %d results and error %v, want all", len(list), err)
	}
	for _, item := range list {
		got.read(t, "listing", item)
	}

	depression := []string{"no_to_mild", "mild_to_moderate", "moderate_to_severe"}
	anxiety := []string{"no_or_minimal", "moderate", "moderately_severe", "severe"}
	for member, want := range map[string][]string{
		"status":                     {"processing", "success", "failed"},
		"model_category":             {"depression,anxiety", "depression", "anxiety", "deepfake"},
		"model_granularity":          {"severity", "binary"},
		"predicted_score":            slices.Concat(depression, anxiety, clientBinaries),
		"predicted_score_depression": slices.Concat(depression, clientBinaries),
		"predicted_score_anxiety":    anxiety,
		"depression_binary":          clientBinaries,
		"error":                      {"audio_length_error", "no_speech_error", "audio_quality_error", "audio_decode_error", "internal_error", "audio_not_submitted"},
	} {
		for value := range got[member] {
			if !slices.Contains(want, value) {
				t.Errorf("%s: got %q, want one of %q", member, value, want)
			}
		}
		for _, value := range want {
			if got[member][value] == 0 {
				t.Errorf("%s: %q was never answered", member, value)
			}
		}
	}
}

// Every value that the published clients send is accepted.
func TestClientsMetadataIsAccepted(t *testing.T) {
	s := newService(t)
	for name, values := range map[string][]string{"gender": clientGenders, "race": clientRaces, "ethnicity": clientEthnicities} {
		for _, value := range values {
			body, err := json.Marshal(map[string]any{"user_id": "p1", "is-initiated": true, "metadata": map[string]string{name: value}})
			if err != nil {
				t.Fatal(err)
			}
			s.want(http.StatusCreated, request{method: "POST", path: "/v2/initiate", contentType: jsonType, body: string(body), beyond: true})
		}
	}
}
