package console_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// stored puts a session with its result into the store. Change may be nil.
func (s *service) stored(account, id, user string, at time.Time, change func(*store.Session)) {
	s.t.Helper()
	x := &store.Session{Account: account, ID: id, UserID: user, Status: screen.StatusSuccess, Product: screen.DepressionAnxiety,
		CreatedAt: at, UpdatedAt: at, SubmittedAt: at, Duration: 70, Analysed: 70,
		Features: map[string]float64{"speech.duration_s": 65, "quality.snr_db": 31}}
	for _, c := range []screen.Category{screen.Depression, screen.Anxiety} {
		x.Scores = append(x.Scores, screen.Score{Category: c, Model: "m", Version: "1", Probability: 0.25, Low: 0.1, High: 0.5, Decision: screen.Negative,
			Severity: c.Severities()[0], Coverage: 1, Band: screen.Band{Low: 0.4, High: 0.6}})
	}
	if change != nil {
		change(x)
	}
	if err := s.store.Create(s.t.Context(), x); err != nil {
		s.t.Fatal(err)
	}
}

// probability sets the depression score.
func probability(p float64) func(*store.Session) {
	return func(x *store.Session) { x.Scores[0].Probability, x.Scores[0].Low, x.Scores[0].High = p, p-0.1, p+0.1 }
}

func TestHistoryOfAPerson(t *testing.T) {
	s := newService(t, nil)
	day := func(n int) time.Time { return s.clock.Now().AddDate(0, 0, n-20) }
	for i, p := range []float64{0.20, 0.30, 0.40, 0.70} {
		s.stored(account, fmt.Sprintf("visit-%d", i), "patient-17", day(i), func(x *store.Session) {
			probability(p)(x)
			if i == 2 {
				x.Labels = screen.Labels{PHQ9: []int{1, 1, 1, 1, 1, 1, 1, 3, 1}, UpdatedAt: day(2)}
			}
			if i == 1 {
				x.Labels = screen.Labels{Depression: screen.InterviewUndecided, UpdatedAt: day(1)}
			}
		})
	}
	s.stored(account, "visit-4", "patient-17", day(5), func(x *store.Session) { probability(0.9)(x); x.Scores[0].Version = "2" })
	s.stored(account, "other", "patient-18", day(5), probability(0.99))
	c := s.signedIn("")
	a := c.post("/console/people", "user", " patient-17 ")
	if a.path != "/console/sessions/visit-4/history" {
		t.Fatalf("got %s, want the history of the newest session", a.path)
	}
	a.want(t, "the history", http.StatusOK, screen.Disclaimer, "patient-17", "<svg",
		"&#43;40 of 100 against the median of 3 earlier", // 70 against 20, 30, 40
		"&#43;15 of 100 against the median of 2 earlier", "&#43;10 of 100 against the median of 1 earlier",
		"PHQ-9: 11 of 27", "Item 9 is above zero", ">11</text>", "Clinical interview: undecided")
	if n := strings.Count(a.body, "Nothing to compare with"); n != 3 { // the first depression and anxiety scores, and that of model version 2
		t.Errorf("got %d scores without a comparison, want 3", n)
	}
	if strings.Contains(a.body, "patient-18") || strings.Contains(a.body, "99 of 100") {
		t.Error("the history holds a recording of somebody else")
	}
	if title := between(a.body, "<title>", "</title>"); strings.Contains(title, "patient") {
		t.Errorf("got the title %q, want one without data of a patient", title)
	}
	c.post("/console/people", "user", "nobody").want(t, "an unknown person", http.StatusNotFound, "no recording of such a person")
	c.post("/console/people", "user", "").want(t, "nobody", http.StatusUnprocessableEntity)
	c.get("/console/sessions/visit-1/history?after=x").want(t, "a malformed cursor", http.StatusUnprocessableEntity)
}

// TestHistoryHasTheDatesOfTheServer: the picture and the table have the same date, also
// where it is another day in UTC.
func TestHistoryHasTheDatesOfTheServer(t *testing.T) {
	zone := time.Local
	time.Local = time.FixedZone("Berlin", 2*60*60)
	t.Cleanup(func() { time.Local = zone }) // after the service has ended
	s := newService(t, nil)
	s.stored(account, "late", "patient-17", time.Date(2026, 6, 1, 23, 30, 0, 0, time.UTC), nil)
	c := s.signedIn("")
	page := c.get("/console/sessions/late/history")
	page.want(t, "the history", http.StatusOK, "2026-06-02 01:30 Berlin", ">2026-06-02</text>")
	if strings.Contains(page.body, ">2026-06-01</text>") {
		t.Error("the picture has the date in UTC, want that of the table")
	}
}

func TestHistoryHasPages(t *testing.T) {
	s := newService(t, nil)
	for i := range 120 {
		s.stored(account, fmt.Sprintf("visit-%03d", i), "patient-17", s.clock.Now().Add(time.Duration(i-200)*time.Hour), nil)
	}
	c := s.signedIn("")
	seen := map[string]bool{}
	next, pages := "/console/sessions/visit-119/history", 0
	for ; next != ""; pages++ {
		a := c.get(next)
		a.want(t, next, http.StatusOK)
		for _, part := range strings.Split(a.body, `<th scope="row"><a href="`)[1:] {
			id, _, _ := strings.Cut(part, `"`)
			if seen[id] {
				t.Errorf("%s is on two pages", id)
			}
			seen[id] = true
		}
		next = ""
		if i := strings.Index(a.body, "?after="); i >= 0 {
			next = "/console/sessions/visit-119/history" + between(a.body[i:], "", `"`)
		}
	}
	if pages != 3 || len(seen) != 120 {
		t.Errorf("got %d recordings on %d pages, want 120 on 3", len(seen), pages)
	}
}
