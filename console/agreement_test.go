package console_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/console"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// phq9Of returns answers whose sum is n.
func phq9Of(n int) []int {
	items := make([]int, 9)
	for i := range n {
		items[i%9]++
	}
	return items
}

// labelled puts a session with a depression score and a PHQ-9 into the store.
func (s *service) labelled(i int, p float64, d screen.Decision, total int, change func(*store.Session)) {
	s.t.Helper()
	s.stored(account, fmt.Sprintf("labelled-%03d", i), fmt.Sprintf("person-%03d", i), s.clock.Now().Add(-time.Hour), func(x *store.Session) {
		x.Scores[0].Probability, x.Scores[0].Decision = p, d
		x.Labels = screen.Labels{PHQ9: phq9Of(total), UpdatedAt: s.clock.Now()}
		if change != nil {
			change(x)
		}
	})
}

// cells returns the texts of the numbers in the table of a caption.
func cells(page, caption string) []string {
	_, table, _ := strings.Cut(page, "<caption>"+caption)
	table, _, _ = strings.Cut(table, "</table>")
	var all []string
	for _, part := range strings.Split(table, `<td class="number">`)[1:] {
		cell, _, _ := strings.Cut(part, "<")
		all = append(all, cell)
	}
	return all
}

func TestAgreement(t *testing.T) {
	s := newService(t, nil)
	c := s.signedIn("")
	c.until("/console/agreement", "no session yet")
	s.clock.Add(2 * time.Minute) // a summary is kept a minute

	female := func(x *store.Session) { x.Metadata = screen.Metadata{Gender: screen.Female, Age: 40} }
	male := func(x *store.Session) { x.Metadata = screen.Metadata{Gender: screen.Male, Age: 70} }
	// 12 women: 6 positive, of whom 4 were decided positive, 1 negative and 1 left open;
	// 6 negative, of whom 5 were decided negative and 1 positive. 9 men, all negative.
	for i, d := range []screen.Decision{screen.Positive, screen.Positive, screen.Positive, screen.Positive, screen.Negative, screen.Indeterminate} {
		s.labelled(i, 0.7, d, 12, func(x *store.Session) { female(x); x.Scores[0].Severity = screen.MildToModerate })
	}
	for i, d := range []screen.Decision{screen.Negative, screen.Negative, screen.Negative, screen.Negative, screen.Negative, screen.Positive} {
		s.labelled(10+i, 0.1, d, 3, female)
	}
	for i := range 9 {
		s.labelled(20+i, 0.1, screen.Negative, 3, male)
	}
	s.labelled(30, 0.9, screen.Positive, 0, func(x *store.Session) { x.Account = "other" })
	s.labelled(31, 0.9, screen.Positive, 0, func(x *store.Session) { x.Labels = screen.Labels{PHQ2: []int{3, 3}, UpdatedAt: x.SubmittedAt} })

	a := c.until("/console/agreement", "from 22 sessions")
	a.want(t, "the agreement", http.StatusOK, screen.Disclaimer, "21 recordings of 21 people have a label; 6 are positive",
		"80 % (4/5)",
		"93 % (14/15)",
		"female")
	for caption, want := range map[string]string{
		"Decisions by label": "14 0 1 1 1 4",
		"Classes of the score by class of the questionnaire": "15 0 0 0 6 0 0 0 0",
		"Calibration": "15 10 % 0 % 6 70 % 100 %",
		"By group":    "12 12 40 % 50 % 1.00 12 12 40 % 50 % 1.00", // women, and 30 to 49 years
	} {
		if got := strings.Join(cells(a.body, caption), " "); got != want {
			t.Errorf("%s: got %q, want %q", caption, got, want)
		}
	}
	if !strings.Contains(a.body, "1.00 (1.00–1.00)") {
		t.Error("the AUC of all lacks its interval")
	}
	for _, absent := range []string{"male</th>", "65 years", "person-0"} {
		if strings.Contains(strings.ReplaceAll(a.body, "female</th>", ""), absent) {
			t.Errorf("the page holds %q: a group of 9 people, or a person", absent)
		}
	}
}

func TestTrialChangesNothing(t *testing.T) {
	s := newService(t, nil)
	// An engine with the shipped models, which learn.
	e := newShipped(t, s.store)
	h, err := console.New(e, s.keys, &console.Options{Now: s.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	s.server.Config.Handler = h
	for i := range 3 {
		s.labelled(i, 0.5, screen.Positive, 12, nil)
	}
	reader := s.signedIn(s.newKey(account, httpadapter.ScopeRead))
	reader.post("/console/agreement/trial").want(t, "without the scope admin", http.StatusForbidden)
	c := s.signedIn("")
	c.post("/console/agreement/trial").want(t, "a trial", http.StatusOK)
	a := c.until("/console/agreement", "Calibrate, Depression:")
	a.want(t, "the trial", http.StatusOK, "Calibrate, Depression:", "Calibrate, Anxiety:", "Adapt, Depression:", "the model in use would stay")
}
