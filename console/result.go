package console

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/report"
	"github.com/voicescreen/voicescreen/screen"
)

// resultData is what the page of a result shows.
type resultData struct {
	*voicescreen.Result
	given
	Sections []report.Section
	Cautious bool          // whether a score has a caution
	Quality  []report.Fact // nil where the recording was not analysed
	Places   []report.Place
	Labelled bool // whether labels may be added now
}

// waitingData is what the page of a session without a result shows.
type waitingData struct {
	*voicescreen.Result
	given
}

// maxWait is how long a request waits for a result. Chosen: shorter than a server waits
// for its requests when it ends, which is 20 s in the command.
const maxWait = 10 * time.Second

// result shows a session: what is known of it.
func (v *visit) result() error {
	r, err := v.account.Result(v.ctx(), v.session)
	if err != nil {
		return err
	}
	v.browser.opened(v.session)
	if !r.Status.Final() {
		return v.page(http.StatusOK, "waiting", &waitingData{r, newGiven(&r.Labels)})
	}
	d := &resultData{Result: r, given: newGiven(&r.Labels)}
	var speech []*screen.Score
	for _, c := range r.Product.Categories() {
		var s *screen.Score
		for i := range r.Scores {
			if r.Scores[i].Category == c {
				s = &r.Scores[i]
				d.Cautious = d.Cautious || len(s.Cautions) > 0
			}
		}
		if s != nil && c != screen.Deepfake {
			speech = append(speech, s)
		}
		d.Sections = append(d.Sections, report.NewSection(c, s, noScore(c, r)))
	}
	d.Places = report.Places(speech...)
	if q := report.ResultQuality(r); q != nil {
		d.Quality = q.Facts()
	}
	d.Labelled = r.Product != screen.DeepfakeBinary && v.opts.Now().Sub(r.SubmittedAt) <= voicescreen.FeedbackWindow
	return v.page(http.StatusOK, "result", d)
}

// noScore says why a category of a session has no score.
func noScore(c screen.Category, r *voicescreen.Result) string {
	if r.Failure == nil {
		return "the model gave none"
	}
	return report.Reason(c, r.Failure, r.Failure.Data["actual_length"])
}

// wait shows the result once it is there, or says after a while that it is not. The
// script of the page gets JSON: true if there is a result.
func (v *visit) wait() error {
	ctx, cancel := context.WithTimeout(v.ctx(), maxWait)
	defer cancel()
	_, err := v.account.Wait(ctx, v.session)
	over := errors.Is(err, context.DeadlineExceeded)
	if err != nil && !over {
		return err
	}
	if v.polls() {
		return v.send(http.StatusOK, "application/json", strconv.AppendBool(nil, !over))
	}
	return v.redirect("sessions/" + v.session)
}

// polls says whether the script of a page that waits asks, rather than a person.
func (v *visit) polls() bool {
	return v.r.Method == http.MethodGet && v.r.Header.Get("Accept") == "application/json"
}
