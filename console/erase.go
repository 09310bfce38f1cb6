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
	user, err := v.person()
	if err != nil {
		return err
	}
	if user == "" {
		return errNobody
	}
	d := &eraseData{User: user, Wrong: wrong}
	list, next, err := v.account.Results(v.ctx(), d.User, voicescreen.Page{Limit: historyPage})
	if err != nil {
		return err
	}
	d.Recordings, d.More = len(list), next != ""
	return v.page(status, "erase", d)
}

// errNobody answers where an erasure finds no session.
var errNobody = fault{http.StatusNotFound, "erase.nobody"}

// erasePerson erases every session of a person, once confirmed. It takes the identifier
// exactly, as the confirmation had it.
func (v *visit) erasePerson() error {
	if err := v.form(); err != nil {
		return err
	}
	if v.r.PostForm.Get("confirm") != "yes" {
		return v.confirmPerson(http.StatusUnprocessableEntity, true)
	}
	user := v.r.PostForm.Get("user")
	known, err := v.account.Known(v.ctx(), user)
	if err != nil {
		return err
	}
	if !known {
		return errNobody
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
