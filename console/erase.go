package console

import (
	"errors"
	"net/http"

	"github.com/voicescreen/voicescreen"
)

// eraseData is what a page that asks for a confirmation shows.
type eraseData struct {
	User       string // whose sessions; "" for one session
	Recordings int    // historyPage at most
	More       bool   // whether there are more recordings
	Wrong      bool   // whether the confirmation was missing
}

// eraseSessionPage asks to confirm the erasure of a session.
func (v *visit) eraseSessionPage() error {
	if _, err := v.account.Result(v.ctx(), v.session); err != nil {
		return err
	}
	return v.page(http.StatusOK, "erase", &eraseData{})
}

// eraseSession erases a session, once confirmed.
func (v *visit) eraseSession() error {
	if err := v.form(); err != nil {
		return err
	}
	if v.r.PostForm.Get("confirm") != "yes" {
		if _, err := v.account.Result(v.ctx(), v.session); err != nil {
			return err
		}
		return v.page(http.StatusUnprocessableEntity, "erase", &eraseData{Wrong: true})
	}
	if err := v.account.Delete(v.ctx(), v.session); err != nil {
		return err
	}
	v.browser.erased(v.session)
	return v.page(http.StatusOK, "erased", nil)
}

// erasePersonPage asks to confirm the erasure of a person, whose identifier came in a
// form.
func (v *visit) erasePersonPage() error {
	if err := v.form(); err != nil {
		return err
	}
	return v.confirmPerson(http.StatusOK, false)
}

func (v *visit) confirmPerson(status int, wrong bool) error {
	d := &eraseData{User: v.trimmed("user"), Wrong: wrong}
	if d.User == "" {
		return fault{http.StatusUnprocessableEntity, "error.invalid"}
	}
	list, next, err := v.account.Results(v.ctx(), d.User, voicescreen.Page{Limit: historyPage})
	if err != nil {
		return err
	}
	d.Recordings, d.More = len(list), next != ""
	return v.page(status, "erase", d)
}

// erasePerson erases every session of a person, once confirmed. A person without
// recordings may have sessions that wait for one: the answer is the same.
func (v *visit) erasePerson() error {
	if err := v.form(); err != nil {
		return err
	}
	user := v.trimmed("user")
	if v.r.PostForm.Get("confirm") != "yes" || user == "" {
		return v.confirmPerson(http.StatusUnprocessableEntity, true)
	}
	if err := v.account.Forget(v.ctx(), user); err != nil {
		return err
	}
	for _, id := range v.browser.sessions() {
		if _, err := v.account.Result(v.ctx(), id); errors.Is(err, voicescreen.ErrNotFound) {
			v.browser.erased(id)
		}
	}
	return v.page(http.StatusOK, "erased", nil)
}
