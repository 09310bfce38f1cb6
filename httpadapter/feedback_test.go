package httpadapter_test

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/screen"
)

// label is a feedback call and what it must store.
type label struct {
	path, contentType, body string // SESSION stands for the session
	want                    screen.Labels
}

func (l label) request(id string) request {
	return request{method: "PATCH", beyond: strings.Contains(l.body, "null"), path: l.path, contentType: l.contentType,
		body: strings.ReplaceAll(l.body, "SESSION", id)}
}

func TestFeedback(t *testing.T) {
	nine, seven := []int{0, 1, 2, 3, 0, 1, 2, 3, 0}, []int{3, 2, 1, 0, 3, 2, 1}
	positive := screen.Labels{Depression: screen.InterviewPositive}
	negative := screen.Labels{Depression: screen.InterviewNegative}
	undecided := screen.Labels{Depression: screen.InterviewUndecided}
	for name, l := range map[string]label{
		"phq 2":                {"/v2/feedback/phq/2", jsonType, `{"session_id":"SESSION","actual_score":[1,2]}`, screen.Labels{PHQ2: []int{1, 2}}},
		"phq 9":                {"/v2/feedback/phq/9", jsonType, `{"session_id":"SESSION","actual_score":[0,1,2,3,0,1,2,3,0]}`, screen.Labels{PHQ9: nine}},
		"gad 7":                {"/v2/feedback/gad/7", jsonType, `{"session_id":"SESSION","actual_score":[3,2,1,0,3,2,1]}`, screen.Labels{GAD7: seven}},
		"under data":           {"/v2/feedback/gad/7", "", `{"session_id":"SESSION","data":[3,2,1,0,3,2,1]}`, screen.Labels{GAD7: seven}},
		"under both, the same": {"/v2/feedback/phq/2/", "", `{"session_id":"SESSION","data":[1,2],"actual_score":[1,2]}`, screen.Labels{PHQ2: []int{1, 2}}},
		"data null":            {"/feedback/phq/2", "", `{"session_id":"SESSION","data":null,"actual_score":[1,2]}`, screen.Labels{PHQ2: []int{1, 2}}},
		"true":                 {"/v2/feedback/depression/binary", jsonType, `{"session_id":"SESSION","actual_score":"true"}`, positive},
		"JSON true":            {"/v2/feedback/depression/binary", jsonType, `{"session_id":"SESSION","actual_score":true}`, positive},
		"False":                {"/v2/feedback/depression/binary", jsonType, `{"session_id":"SESSION","actual_score":"False"}`, negative},
		"JSON false":           {"/v2/feedback/depression/binary", jsonType, `{"session_id":"SESSION","data":false}`, negative},
		"undecided":            {"/v2/feedback/depression/binary", jsonType, `{"session_id":"SESSION","actual_score":"Additional_consideration_required"}`, undecided},
		"undecided, lower":     {"/v2/feedback/depression/binary", jsonType, `{"session_id":"SESSION","actual_score":"additional_consideration_required"}`, undecided},
		"v1 repeated":          {"/v1/feedback/server/phq/2", formType, "session_id=SESSION&actual_score=1&actual_score=2", screen.Labels{PHQ2: []int{1, 2}}},
		"v1 commas":            {"/v1/feedback/server/phq/9", formType, "session_id=SESSION&actual_score=0,1,2,3,0,1,2,3,0", screen.Labels{PHQ9: nine}},
		"v1 commas and spaces": {"/v1/feedback/server/phq/2", formType, "session_id=SESSION&actual_score=+1,+2+", screen.Labels{PHQ2: []int{1, 2}}},
		"v1 JSON in a form":    {"/v1/feedback/server/gad/7", formType, "session_id=SESSION&actual_score=%5B3%2C+2%2C+1%2C+0%2C+3%2C+2%2C+1%5D", screen.Labels{GAD7: seven}},
		"v1 binary":            {"/v1/feedback/server/depression/binary", formType, "session_id=SESSION&actual_score=TRUE", positive},
		"v1 JSON":              {"/v1/feedback/phq/2", jsonType, `{"session_id":"SESSION","actual_score":[0,0]}`, screen.Labels{PHQ2: []int{0, 0}}},
		"v2 form":              {"/v2/feedback/phq/2", formType, "session_id=SESSION&data=1,2&actual_score=1&actual_score=2", screen.Labels{PHQ2: []int{1, 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			id := s.submit("p1", "/v2/prediction/", testWAV(t, 44100, 1, 0.1))
			w := s.do(l.request(id))
			if w.Code != http.StatusOK || w.Body.Len() != 0 {
				t.Fatalf("got %d %q, want 200 with no body", w.Code, w.Body)
			}
			got, err := s.store.Get(context.Background(), "clinic", id)
			if err != nil {
				t.Fatal(err)
			}
			got.Labels.UpdatedAt = time.Time{}
			if !reflect.DeepEqual(got.Labels, l.want) {
				t.Errorf("got %+v, want %+v", got.Labels, l.want)
			}
		})
	}
}

func TestFeedbackRefuses(t *testing.T) {
	s := newService(t)
	id := s.submit("p1", "/v2/prediction/", testWAV(t, 44100, 1, 0.1))
	for name, l := range map[string]label{
		"empty":             {path: "/v2/feedback/phq/2"},
		"no session":        {path: "/v2/feedback/phq/2", body: `{"actual_score":[1,2]}`},
		"session a number":  {path: "/v2/feedback/phq/2", body: `{"session_id":1,"actual_score":[1,2]}`},
		"empty session":     {path: "/v2/feedback/phq/2", body: `{"session_id":"","actual_score":[1,2]}`},
		"no scores":         {path: "/v2/feedback/phq/2", body: `{"session_id":"SESSION"}`},
		"null scores":       {path: "/v2/feedback/phq/2", body: `{"session_id":"SESSION","actual_score":null}`},
		"no items":          {path: "/v2/feedback/phq/2", body: `{"session_id":"SESSION","actual_score":[]}`},
		"one item":          {path: "/v2/feedback/phq/2", body: `{"session_id":"SESSION","actual_score":[1]}`},
		"three items":       {path: "/v2/feedback/phq/2", body: `{"session_id":"SESSION","actual_score":[1,2,3]}`},
		"eight items":       {path: "/v2/feedback/phq/9", body: `{"session_id":"SESSION","actual_score":[1,2,3,0,1,2,3,0]}`},
		"eight of seven":    {path: "/v2/feedback/gad/7", body: `{"session_id":"SESSION","actual_score":[1,2,3,0,1,2,3,0]}`},
		"item 4":            {path: "/v2/feedback/phq/2", body: `{"session_id":"SESSION","actual_score":[1,4]}`},
		"item -1":           {path: "/v2/feedback/phq/2", body: `{"session_id":"SESSION","actual_score":[-1,2]}`},
		"item 1.5":          {path: "/v2/feedback/phq/2", body: `{"session_id":"SESSION","actual_score":[1.5,2]}`},
		"item null":         {path: "/v2/feedback/phq/2", body: `{"session_id":"SESSION","actual_score":[null,2]}`},
		"item true":         {path: "/v2/feedback/phq/2", body: `{"session_id":"SESSION","actual_score":[true,2]}`},
		"items as text":     {path: "/v2/feedback/phq/2", body: `{"session_id":"SESSION","actual_score":["1","2"]}`},
		"items in one text": {path: "/v2/feedback/phq/2", body: `{"session_id":"SESSION","actual_score":"1,2"}`},
		"an array as text":  {path: "/v2/feedback/phq/2", body: `{"session_id":"SESSION","data":"[1,2]"}`},
		"items by repeats":  {path: "/v2/feedback/phq/2", body: `{"session_id":"SESSION","actual_score":1,"actual_score":2}`},
		"nested":            {path: "/v2/feedback/phq/2", body: `{"session_id":"SESSION","actual_score":[[1,2]]}`},
		"a number":          {path: "/v2/feedback/phq/2", body: `{"session_id":"SESSION","actual_score":3}`},
		"an object":         {path: "/v2/feedback/phq/2", body: `{"session_id":"SESSION","actual_score":{"q1":1,"q2":2}}`},
		"both, different":   {path: "/v2/feedback/phq/2", body: `{"session_id":"SESSION","actual_score":[1,2],"data":[2,1]}`},
		"binary perhaps":    {path: "/v2/feedback/depression/binary", body: `{"session_id":"SESSION","actual_score":"perhaps"}`},
		"binary 1":          {path: "/v2/feedback/depression/binary", body: `{"session_id":"SESSION","actual_score":1}`},
		"binary empty":      {path: "/v2/feedback/depression/binary", body: `{"session_id":"SESSION","actual_score":""}`},
		"binary list":       {path: "/v2/feedback/depression/binary", body: `{"session_id":"SESSION","actual_score":[true,false]}`},
		"binary, different": {path: "/v2/feedback/depression/binary", body: `{"session_id":"SESSION","actual_score":true,"data":"false"}`},
		"form, one item":    {path: "/v1/feedback/server/phq/2", body: "session_id=SESSION&actual_score=1"},
		"form, no digits":   {path: "/v1/feedback/server/phq/2", body: "session_id=SESSION&actual_score=a,b"},
		"form, open end":    {path: "/v1/feedback/server/phq/2", body: "session_id=SESSION&actual_score=1,2,"},
		"broken JSON":       {path: "/v2/feedback/phq/2", body: `{"session_id":"SESSION","actual_score":[1,`},
		"broken form":       {path: "/v2/feedback/phq/2", body: `%zz`},
	} {
		if w := s.do(l.request(id)); w.Code != http.StatusUnprocessableEntity {
			t.Errorf("%s: got %d %s, want 422", name, w.Code, w.Body)
		}
	}
	if got, err := s.store.Get(context.Background(), "clinic", id); err != nil || !reflect.DeepEqual(got.Labels, screen.Labels{}) {
		t.Errorf("got %+v %v, want no label stored", got.Labels, err)
	}
}

func TestFeedbackStates(t *testing.T) {
	bodies := map[string]string{
		"/v2/feedback/phq/2": "[1,2]", "/v2/feedback/phq/9": "[0,0,0,0,0,0,0,0,0]",
		"/v2/feedback/gad/7": "[0,0,0,0,0,0,0]", "/v2/feedback/depression/binary": "true",
	}
	for path, score := range bodies {
		s := newService(t)
		send := func(id string) request {
			return request{method: "PATCH", path: path, body: fmt.Sprintf(`{"session_id":%q,"actual_score":%s}`, id, score)}
		}
		s.want(http.StatusNotFound, send("unknown"))
		id := s.initiate("p1")
		s.want(http.StatusConflict, send(id)) // before the submission
		fake := s.submit("p1", "/predict", testWAV(t, 44100, 1, 0.1))
		if got := s.want(http.StatusUnprocessableEntity, send(fake)); !strings.Contains(got["message"].(string), "deepfake") {
			t.Errorf("%s: got %v, want a message that names the product", path, got)
		}
		id = s.submit("p1", "/v2/prediction/", testWAV(t, 44100, 1, 0.1))
		s.want(http.StatusOK, send(id)) // while it waits
		s.finish(id, tooShort, nil)
		s.want(http.StatusOK, send(id)) // after a failure
		s.advance(24 * time.Hour)
		s.want(http.StatusOK, send(id)) // at the end of the window
		s.advance(time.Second)
		s.want(http.StatusUnprocessableEntity, send(id))
	}
}
