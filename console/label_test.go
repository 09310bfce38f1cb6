package console_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/voicescreentest"
)

// answers returns the fields of a form with these answers.
func answers(items ...int) (fields []string) {
	for i, n := range items {
		fields = append(fields, fmt.Sprintf("item-%d", i+1), fmt.Sprint(n))
	}
	return fields
}

func TestQuestionnaires(t *testing.T) {
	s := newService(t, nil)
	c := s.signedIn("")
	id := c.recorded("patient-17")
	page := "/console/sessions/" + id
	for _, test := range []struct {
		path  string
		items []int
		says  string
		kept  func(l *screen.Labels) []int
	}{
		{"/phq-2", []int{1, 1}, "PHQ-2: 2 of 6, below 3", func(l *screen.Labels) []int { return l.PHQ2 }},
		{"/phq-2", []int{1, 2}, "PHQ-2: 3 of 6, positive", func(l *screen.Labels) []int { return l.PHQ2 }},
		{"/phq-9", []int{1, 1, 1, 1, 1, 1, 1, 2, 0}, "PHQ-9: 9 of 27, no to mild", func(l *screen.Labels) []int { return l.PHQ9 }},
		{"/phq-9", []int{1, 1, 1, 1, 1, 1, 1, 3, 0}, "PHQ-9: 10 of 27, mild to moderate", func(l *screen.Labels) []int { return l.PHQ9 }},
		{"/phq-9", []int{3, 3, 3, 3, 3, 3, 3, 3, 3}, "PHQ-9: 27 of 27, moderate to severe", func(l *screen.Labels) []int { return l.PHQ9 }},
		{"/gad-7", []int{1, 1, 1, 1, 0, 0, 0}, "GAD-7: 4 of 21, no or minimal", func(l *screen.Labels) []int { return l.GAD7 }},
		{"/gad-7", []int{2, 2, 2, 2, 2, 2, 3}, "GAD-7: 15 of 21, severe", func(l *screen.Labels) []int { return l.GAD7 }},
	} {
		form := c.get(page + test.path)
		form.want(t, test.path, http.StatusOK, "Over the last 2 weeks", "Not at all", "Nearly every day")
		if got, want := strings.Count(form.body, "<fieldset"), len(test.items); got != want {
			t.Errorf("%s: got %d items, want %d", test.path, got, want)
		}
		if strings.Contains(form.body, "checked") {
			t.Errorf("%s: an answer is chosen before the person chose one", test.path)
		}
		c.post(page+test.path, answers(test.items...)...).want(t, test.path, http.StatusOK, test.says)
		r, err := s.engine.Tenant(account).Result(t.Context(), id)
		if err != nil || !slices.Equal(test.kept(&r.Labels), test.items) {
			t.Errorf("%s: got labels %+v (%v), want %v", test.path, r.Labels, err, test.items)
		}
		c.get(page).want(t, "the result", http.StatusOK, test.says)
	}
}

func TestItemNineIsSaid(t *testing.T) {
	const procedure = "Follow your practice&#39;s procedure"
	s := newService(t, nil)
	c := s.signedIn("")
	id := c.recorded("patient-17")
	page := "/console/sessions/" + id
	for item := range 9 {
		items := make([]int, 9)
		items[item] = 1
		got := c.post(page+"/phq-9", answers(items...)...)
		if said := strings.Contains(got.body, procedure); said != (item == 8) {
			t.Errorf("item %d is 1: the procedure is said: %v, want only for item 9", item+1, said)
		}
		if said := strings.Contains(c.get(page).body, procedure); said != (item == 8) {
			t.Errorf("item %d is 1: the result says the procedure: %v, want only for item 9", item+1, said)
		}
	}
	kiosk := s.signedIn(s.newKey(account, httpadapter.ScopeFeedback))
	got := kiosk.post(page+"/phq-9", answers(0, 0, 0, 0, 0, 0, 0, 0, 1)...)
	got.want(t, "a device without the scope read", http.StatusOK, procedure, "Please speak with the staff now")
	if strings.Contains(got.body, "of 27") {
		t.Error("without the scope read the page has the total")
	}
}

// What was given is shown before the recording is measured, which may take long.
func TestLabelsAreShownWhileARecordingWaits(t *testing.T) {
	const procedure = "Follow your practice&#39;s procedure"
	s := newService(t, nil)
	c := s.signedIn("")
	s.stored(account, "queued", "patient-17", s.clock.Now(), func(x *store.Session) { x.Status, x.Scores = screen.StatusProcessing, nil })
	const page = "/console/sessions/queued"
	got := c.get(page)
	got.want(t, "without labels", http.StatusOK, "is being measured", "None was given")
	if strings.Contains(got.body, procedure) {
		t.Error("without labels: the page says the procedure")
	}
	c.post(page+"/phq-9", answers(0, 0, 0, 0, 0, 0, 0, 0, 1)...).want(t, "the answers", http.StatusOK)
	c.post(page+"/interview", "outcome", "true").want(t, "an outcome", http.StatusOK)
	c.get(page).want(t, "with labels", http.StatusOK, "is being measured", procedure, "PHQ-9: 1 of 27", "Clinical interview: yes")
}

func TestEveryItemIsAnswered(t *testing.T) {
	s := newService(t, nil)
	c := s.signedIn("")
	id := c.recorded("patient-17")
	for name, fields := range map[string][]string{
		"an item is missing": answers(3, 1, 1, 1, 1, 1, 1, 1),
		"too large":          answers(3, 1, 1, 1, 1, 1, 1, 1, 4),
		"negative":           answers(3, 1, 1, 1, 1, 1, 1, 1, -1),
		"no number":          append(answers(3, 1, 1, 1, 1, 1, 1, 1), "item-9", "x"),
	} {
		a := c.post("/console/sessions/"+id+"/phq-9", fields...)
		a.want(t, name, http.StatusUnprocessableEntity, "has no answer", `name="item-1" value="3" required checked`)
		if n := strings.Count(a.body, `aria-invalid="true"`); n != 1 {
			t.Errorf("%s: got %d marked items, want 1", name, n)
		}
	}
	if r, err := s.engine.Tenant(account).Result(t.Context(), id); err != nil || r.Labels.PHQ9 != nil {
		t.Errorf("got labels %+v (%v), want none", r.Labels, err)
	}
}

func TestInterview(t *testing.T) {
	s := newService(t, nil)
	c := s.signedIn("")
	id := c.recorded("patient-17")
	page := "/console/sessions/" + id
	c.get(page+"/interview").want(t, "the form", http.StatusOK, `value="true"`, `value="false"`, `value="additional_consideration_required"`)
	c.post(page+"/interview", "outcome", "perhaps").want(t, "an unknown outcome", http.StatusUnprocessableEntity)
	c.post(page+"/interview", "outcome", "true").want(t, "an outcome", http.StatusOK, "saved")
	c.get(page).want(t, "the result", http.StatusOK, "Clinical interview: yes")
}

func TestLabelsThatWouldBeRefusedAreNotAskedFor(t *testing.T) {
	s := newService(t, nil)
	c := s.signedIn("")
	early := c.consented("patient-17")
	deepfake := c.consented("patient-17")
	late := c.recorded("patient-17")
	c.upload(deepfake, voicescreentest.Recording(), "product", "deepfake").want(t, "a deepfake session", http.StatusOK)
	s.clock.Add(25 * time.Hour)
	c = s.signedIn("")
	for _, path := range []string{"/phq-2", "/phq-9", "/gad-7", "/interview"} {
		c.get("/console/sessions/"+early+path).want(t, "before the recording", http.StatusConflict, "no recording yet")
		c.get("/console/sessions/"+deepfake+path).want(t, "a deepfake session", http.StatusConflict, "synthetic")
		c.get("/console/sessions/"+late+path).want(t, "a day later", http.StatusConflict, "within 24 hours")
	}
	c.post("/console/sessions/"+late+"/phq-2", answers(1, 1)...).want(t, "an answer a day later", http.StatusConflict, "within 24 hours")
	if strings.Contains(c.get("/console/sessions/"+late).body, "/phq-9") {
		t.Error("a day later the result has a link to a questionnaire")
	}
}
