package console_test

import (
	"errors"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/report"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/voicescreentest"
)

// depression is a score with all that a page can show.
func depression() screen.Score {
	return screen.Score{
		Category: screen.Depression, Probability: 0.42, Prior: 0.08, Low: 0.2, High: 0.7, Decision: screen.Indeterminate, Severity: screen.NoToMild,
		Band: screen.Band{Low: 0.3, High: 0.5}, Cautions: []screen.Caution{screen.Noisy},
		Contributions: []screen.Contribution{{Feature: "pause.mean_s", Value: 0.9, Unit: "s", Logits: 0.6, Deviation: 1.4}},
	}
}

func TestResult(t *testing.T) {
	anxiety := screen.Score{Category: screen.Anxiety, Probability: 0.06, Low: math.NaN(), High: math.NaN()}
	s := newService(t, nil, voicescreentest.NewScorer(depression(), anxiety, screen.Score{Category: screen.Deepfake, Probability: 0.1,
		Segments: []screen.Segment{{Start: 0, End: 4, Probability: 0.1}, {Start: 4, End: 8, Probability: 0.9}}}))
	c := s.signedIn("")
	id := c.recorded("patient-17")
	r, err := s.engine.Tenant(account).Result(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	got := c.get("/console/sessions/" + id)
	got.want(t, "a result", http.StatusOK,
		screen.Disclaimer, "patient-17",
		report.Sentence(&r.Scores[0]), report.Sentence(&r.Scores[1]), report.Uncertainty(&r.Scores[0]), string(report.Scale(&r.Scores[0])),
		"hatched, the model does not decide", "Caution:</strong> "+report.Caution(screen.Noisy), "read it before you use the score",
		report.Measures(r.Scores[0].Contributions, 1)[0], "Beside the norms", "Speech above noise",
		"What this means", "What it does not", "None was given")
	if title := between(got.body, "<title>", "</title>"); strings.Contains(title, "patient-17") || title != "Result · Voice screening" {
		t.Errorf("got the title %q, want one without data of a patient", title)
	}

	fake := c.consented("patient-17")
	c.upload(fake, voicescreentest.Recording(), "product", "deepfake")
	got = c.get("/console/sessions/" + fake + "/wait")
	got.want(t, "a deepfake result", http.StatusOK, "By segment", "1 of 2 segments are at 50 of 100 or above")
	if got.path != "/console/sessions/"+fake {
		t.Errorf("wait: got %s, want the page of the session", got.path)
	}
}

// between returns the text between two others.
func between(text, from, to string) string {
	_, text, _ = strings.Cut(text, from)
	text, _, _ = strings.Cut(text, to)
	return text
}

func TestResultOfAFailure(t *testing.T) {
	s := newService(t, nil)
	c := s.signedIn("")
	id := c.consented("patient-17")
	c.upload(id, voicescreentest.ShortRecording())
	c.get("/console/sessions/"+id+"/wait").want(t, "a recording that is too short", http.StatusOK, "No score", "30 s of speech are needed", screen.Disclaimer)
}

func TestResultThatWaits(t *testing.T) {
	failing := voicescreentest.NewScorer()
	failing.Fail(errors.New("not today"))
	s := newService(t, nil, models.Scorer(failing))
	c := s.signedIn("")
	id := c.consented("patient-17")
	c.get("/console/sessions/"+id).want(t, "before the recording", http.StatusOK, "waits for its recording")
	c.upload(id, voicescreentest.Recording())
	c.get("/console/sessions/"+id).want(t, "before the result", http.StatusOK, "is being measured", "/wait")
}
