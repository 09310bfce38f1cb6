package console

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
)

// An instrument is a questionnaire. Its items and answers are texts, whose wording is
// that of the instrument: PHQ-9 and PHQ-2 of Kroenke et al. (2001, 2003), GAD-7 of
// Spitzer et al. (2006), and the German versions of Löwe et al.; all are free to use.
type instrument struct {
	Path   string          // of the page, and with the names of its texts
	Name   string          // the names of its texts begin with it
	Items  int             // item i has the text Of.i
	Of     string          // whose items it has
	about  screen.Category // what its total is about
	action string          // in the audit log
	label  func(items []int) voicescreen.Feedback
}

var (
	phq2 = &instrument{"phq-2", "phq2", 2, "phq", screen.Depression, "feedback/phq/2", func(x []int) voicescreen.Feedback { return voicescreen.Feedback{PHQ2: x} }}
	phq9 = &instrument{"phq-9", "phq9", 9, "phq", screen.Depression, "feedback/phq/9", func(x []int) voicescreen.Feedback { return voicescreen.Feedback{PHQ9: x} }}
	gad7 = &instrument{"gad-7", "gad7", 7, "gad", screen.Anxiety, "feedback/gad/7", func(x []int) voicescreen.Feedback { return voicescreen.Feedback{GAD7: x} }}
)

const (
	// answers is the number of answers to an item, 0 to 3.
	answers = 4

	// positivePHQ2 is the total of a PHQ-2 from which it is positive (Kroenke et al. 2003).
	positivePHQ2 = 3

	// harmItem is the item of the PHQ-9 about thoughts of death or self-harm.
	harmItem = 9
)

// itemData is one item of a form.
type itemData struct {
	Number  int // from 1
	Text    string
	Answer  int  // -1 for none
	Missing bool // whether the form came without an answer
	Choices []int
}

// formData is what the page of a questionnaire shows.
type formData struct {
	*instrument
	Entries []itemData
	Missing bool
}

// entries returns the items with answers; nil is none.
func (q *instrument) entries(answered []int) (all []itemData) {
	for i := range q.Items {
		d := itemData{Number: i + 1, Text: fmt.Sprintf("%s.%d", q.Of, i+1), Answer: -1, Choices: []int{0, 1, 2, 3}}
		if answered != nil {
			d.Answer = answered[i]
			d.Missing = d.Answer < 0
		}
		all = append(all, d)
	}
	return all
}

// questions returns the handler of the page of a questionnaire.
func questions(q *instrument) func(*visit) error {
	return func(v *visit) error {
		if err := v.acceptsLabels(); err != nil {
			return err
		}
		return v.page(http.StatusOK, "questions", &formData{instrument: q, Entries: q.entries(nil)})
	}
}

// acceptsLabels returns an error where a label of the session would be refused, so that
// nobody answers in vain.
func (v *visit) acceptsLabels() error {
	r, err := v.account.Result(v.ctx(), v.session)
	switch {
	case err != nil:
		return err
	case r.Status == screen.StatusInitiated:
		return fault{http.StatusConflict, "error.label-early"}
	case r.Product == screen.DeepfakeBinary:
		return fault{http.StatusConflict, "error.label-deepfake"}
	case v.opts.Now().Sub(r.SubmittedAt) > voicescreen.FeedbackWindow:
		return voicescreen.ErrTooLate
	}
	return nil
}

// answered returns the handler of the answers. The page that it shows is not an address of
// its own: it repeats what was just answered, to who may not read results too.
func answered(q *instrument) func(*visit) error {
	return func(v *visit) error {
		if err := v.form(); err != nil {
			return err
		}
		items, whole := make([]int, q.Items), true
		for i := range items {
			n, err := strconv.Atoi(v.r.PostForm.Get("item-" + strconv.Itoa(i+1)))
			if items[i] = n; err != nil || n < 0 || n >= answers {
				items[i], whole = -1, false
			}
		}
		if !whole {
			if err := v.acceptsLabels(); err != nil {
				return err
			}
			return v.page(http.StatusUnprocessableEntity, "questions", &formData{q, q.entries(items), true})
		}
		if err := v.account.Feedback(v.ctx(), v.session, q.label(items)); err != nil {
			return err
		}
		return v.page(http.StatusOK, "answered", &answeredData{Title: q.Title(), Total: newTotal(q, items)})
	}
}

// answeredData is what the page after a questionnaire or an interview shows.
type answeredData struct {
	Title string
	Total *total // nil after an interview
}

// A total is the sum of a questionnaire, and what it means.
type total struct {
	*instrument
	Sum   int
	Most  int
	Class string // the name of a text
	Harm  bool   // whether item 9 of the PHQ-9 is above zero
}

// Title is the name of the text that names the instrument.
func (q *instrument) Title() string { return q.Name + ".title" }

func newTotal(q *instrument, items []int) *total {
	t := &total{instrument: q, Most: q.Items * (answers - 1)}
	for _, n := range items {
		t.Sum += n
	}
	switch {
	case q != phq2:
		t.Class = "class." + screen.SeverityOf(q.about, t.Sum).String()
	case t.Sum >= positivePHQ2:
		t.Class = "phq2.positive"
	default:
		t.Class = "phq2.negative"
	}
	t.Harm = q == phq9 && items[harmItem-1] > 0
	return t
}

// totals returns the questionnaires among the labels of a session.
func totals(l *screen.Labels) (all []*total) {
	for _, x := range []struct {
		q     *instrument
		items []int
	}{{phq9, l.PHQ9}, {phq2, l.PHQ2}, {gad7, l.GAD7}} {
		if len(x.items) == x.q.Items { // what another program stored may be anything
			all = append(all, newTotal(x.q, x.items))
		}
	}
	return all
}

// given is what was given for a recording: questionnaires and an interview.
type given struct {
	Totals    []*total
	Interview string // the name of the text of its outcome; "" for none
	Harm      bool   // whether item 9 of the PHQ-9 is above zero
}

func newGiven(l *screen.Labels) (g given) {
	g.Totals = totals(l)
	for _, t := range g.Totals {
		g.Harm = g.Harm || t.Harm
	}
	if l.Depression.Valid() {
		g.Interview = "interview." + strconv.Itoa(int(l.Depression))
	}
	return g
}

// interviews are the outcomes of a clinical interview.
func interviews() (all []choice) {
	for i := screen.Interview(1); i.Valid(); i++ {
		all = append(all, choice{i.String(), "interview." + strconv.Itoa(int(i))})
	}
	return all
}

// interviewPage asks for the outcome of a clinical interview.
func (v *visit) interviewPage() error {
	if err := v.acceptsLabels(); err != nil {
		return err
	}
	return v.page(http.StatusOK, "interview", interviews())
}

// interview stores the outcome of a clinical interview.
func (v *visit) interview() error {
	if err := v.form(); err != nil {
		return err
	}
	outcome, err := screen.ParseInterview(v.r.PostForm.Get("outcome"))
	if err != nil {
		return fault{http.StatusUnprocessableEntity, "error.invalid"}
	}
	if err := v.account.Feedback(v.ctx(), v.session, voicescreen.Feedback{Depression: outcome}); err != nil {
		return err
	}
	return v.page(http.StatusOK, "answered", &answeredData{Title: "interview.title"})
}
