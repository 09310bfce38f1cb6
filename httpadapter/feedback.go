package httpadapter

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
)

// feedbackPHQ2 attaches the items of a PHQ-2. As in all feedback calls, the scores
// are in actual_score or in data.
func (a *adapter) feedbackPHQ2(c *call) error {
	return c.feedback(func(f *voicescreen.Feedback, values []any, form bool) (err error) {
		f.PHQ2, err = parseItems(values, 2, form)
		return err
	})
}

// feedbackPHQ9 attaches the items of a PHQ-9.
func (a *adapter) feedbackPHQ9(c *call) error {
	return c.feedback(func(f *voicescreen.Feedback, values []any, form bool) (err error) {
		f.PHQ9, err = parseItems(values, 9, form)
		return err
	})
}

// feedbackGAD7 attaches the items of a GAD-7.
func (a *adapter) feedbackGAD7(c *call) error {
	return c.feedback(func(f *voicescreen.Feedback, values []any, form bool) (err error) {
		f.GAD7, err = parseItems(values, 7, form)
		return err
	})
}

// feedbackDepression attaches the outcome of a clinical interview.
func (a *adapter) feedbackDepression(c *call) error {
	return c.feedback(func(f *voicescreen.Feedback, values []any, _ bool) (err error) {
		f.Depression, err = parseInterview(values)
		return err
	})
}

// setLabel reads the values of a parameter, in a form or in JSON, into a label.
type setLabel func(f *voicescreen.Feedback, values []any, form bool) error

// feedback reads the body with set and attaches the label.
func (c *call) feedback(set setLabel) error {
	body, err := c.fieldBody()
	if err != nil {
		return err
	}
	f, err := c.limits.parseFields(c.r.Header.Get("Content-Type"), body)
	if err != nil {
		return refuse(http.StatusUnprocessableEntity, err.Error())
	}
	id, label, err := parseFeedback(f, set, !isJSON(body))
	if err != nil {
		return refuse(http.StatusUnprocessableEntity, err.Error())
	}
	c.session = id
	if err := c.account.Feedback(c.r.Context(), id, label); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusOK) // no body
	return nil
}

// parseFeedback reads the parameters of a feedback call. An error holds the name of
// the parameter at fault and no value.
func parseFeedback(f fields, set setLabel, form bool) (id string, label voicescreen.Feedback, err error) {
	id, p := f.text("session_id")
	if p != "" {
		return "", label, fmt.Errorf("session_id is %s", p)
	}
	found := false
	for _, name := range []string{"actual_score", "data"} {
		if len(f[name]) == 0 {
			continue
		}
		var l voicescreen.Feedback
		if err := set(&l, f[name], form); err != nil {
			return "", label, fmt.Errorf("%s: %w", name, err)
		}
		if found && !sameLabel(l, label) {
			return "", label, fmt.Errorf("actual_score and data differ")
		}
		label, found = l, true
	}
	if !found {
		return "", label, fmt.Errorf("actual_score is %s", unprovided)
	}
	return id, label, nil
}

func sameLabel(a, b voicescreen.Feedback) bool {
	return a.Depression == b.Depression && slices.Equal(a.PHQ2, b.PHQ2) &&
		slices.Equal(a.PHQ9, b.PHQ9) && slices.Equal(a.GAD7, b.GAD7)
}

// parseItems reads the n items of a questionnaire: an array of JSON, or in a form
// repeated fields, a list separated by commas or the text of an array.
func parseItems(values []any, n int, form bool) ([]int, error) {
	var list []any
	if form {
		list = splitTexts(values)
	} else {
		array, ok := values[0].([]any)
		if !ok || len(values) > 1 || slices.ContainsFunc(array, func(v any) bool { _, ok := v.(json.Number); return !ok }) {
			return nil, fmt.Errorf("want %d integers from 0 to 3", n)
		}
		list = array
	}
	items := make([]int, 0, n)
	for _, v := range list {
		item, ok := toInt(v)
		if !ok || item < 0 || item > 3 || len(items) == n {
			return nil, fmt.Errorf("want %d integers from 0 to 3", n)
		}
		items = append(items, item)
	}
	if len(items) != n {
		return nil, fmt.Errorf("want %d integers from 0 to 3, got %d", n, len(items))
	}
	return items, nil
}

// splitTexts splits the values of a form at commas, without the brackets of a JSON
// array.
func splitTexts(values []any) []any {
	var list []any
	for _, v := range values {
		text := strings.TrimSpace(v.(string))
		if inner, ok := strings.CutPrefix(text, "["); ok {
			if inner, ok = strings.CutSuffix(inner, "]"); ok {
				text = inner
			}
		}
		for item := range strings.SplitSeq(text, ",") {
			list = append(list, strings.TrimSpace(item))
		}
	}
	return list
}

// parseInterview reads the outcome of a clinical interview: a boolean, or its
// name in any case.
func parseInterview(values []any) (screen.Interview, error) {
	v, _, ok := fields{"": values}.one("")
	text, isScalar := scalar(v)
	if _, isNumber := v.(json.Number); !ok || !isScalar || isNumber {
		text = ""
	}
	outcome, err := screen.ParseInterview(text)
	if err != nil {
		return 0, fmt.Errorf("want true, false or %v", screen.InterviewUndecided)
	}
	return outcome, nil
}
