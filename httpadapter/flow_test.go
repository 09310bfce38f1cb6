package httpadapter_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/screen"

	"github.com/voicescreen/voicescreen"
)

// The whole flow with a real recording, analysed by the shipped models.
func TestFlowWithShippedModels(t *testing.T) {
	s := newServiceWith(t, func(o *voicescreen.Options) { o.Scoring.Models, o.Workers = nil, 1 }, nil)
	id := s.submit("patient", "/v2/prediction/", speech(t, "interview_en.wav"))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := s.engine.Tenant("clinic").Wait(ctx, id); err != nil {
		t.Fatal(err)
	}
	got := s.want(http.StatusOK, request{method: "GET", path: "/v2/predict/sessions/" + id + "?detail=full"})
	if got["status"] != "success" || got["predict_error"] != nil {
		t.Errorf("got %v, want success", got)
	}
	for category := range strings.SplitSeq(got["model_category"].(string), ",") {
		class, _ := got["predicted_score_"+category].(string)
		var c screen.Category
		var s screen.Severity
		if err := errors.Join(c.UnmarshalText([]byte(category)), s.UnmarshalText([]byte(class))); err != nil || !slices.Contains(c.Severities(), s) {
			t.Errorf("%s: got %q, want one of %v", category, class, c.Severities())
		}
	}
	if n := len(got["detail"].(map[string]any)["scores"].([]any)); n != 2 {
		t.Errorf("got %d scores in detail, want 2", n)
	}
	s.want(http.StatusOK, request{method: "PATCH", path: "/v2/feedback/gad/7",
		body: fmt.Sprintf(`{"session_id":%q,"actual_score":[0,1,2,3,0,1,2]}`, id)})
}
