package console

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
)

// consentForm is what the page of the consent shows: what was entered, and what is wrong
// with it.
type consentForm struct {
	User, Age, Gender, English string
	Wrong                      map[string]bool // by the names of voicescreen.InvalidError
	Refused                    bool            // whether the form came without consent
	Genders                    []choice
}

// A choice is a value that a person can choose, and the name of its text.
type choice struct{ Value, Text string }

// genders are the values of screen.Gender.
func genders() (all []choice) {
	for g := screen.Gender(1); g.Valid(); g++ {
		all = append(all, choice{g.String(), "gender." + strconv.Itoa(int(g))})
	}
	return all
}

// consentPage asks who speaks and for consent.
func (v *visit) consentPage() error {
	return v.page(http.StatusOK, "consent", &consentForm{Genders: genders()})
}

// initiate opens a session, if the person consents, and goes on to the recording.
func (v *visit) initiate() error {
	if err := v.form(); err != nil {
		return err
	}
	form := &consentForm{User: v.trimmed("user"), Age: v.trimmed("age"),
		Gender: v.r.PostForm.Get("gender"), English: v.r.PostForm.Get("english"), Genders: genders()}
	request := voicescreen.InitiateRequest{UserID: form.User, Consent: v.r.PostForm.Get("consent") == "yes"}
	request.Metadata, form.Wrong = form.metadata()
	id, err := "", error(nil)
	if len(form.Wrong) == 0 {
		id, err = v.account.Initiate(v.ctx(), request)
	}
	var invalid *voicescreen.InvalidError
	switch {
	case errors.As(err, &invalid):
		form.Wrong = map[string]bool{}
		for name := range invalid.Fields {
			form.Wrong[name] = true
		}
	case errors.Is(err, voicescreen.ErrConsent):
		form.Refused = true
	case err != nil:
		return err
	}
	if id == "" {
		return v.page(http.StatusUnprocessableEntity, "consent", form)
	}
	v.session = id
	v.browser.opened(id)
	return v.redirect("sessions/" + id + "/record")
}

// metadata reads the optional fields. Wrong holds those that cannot be read.
func (f *consentForm) metadata() (m screen.Metadata, wrong map[string]bool) {
	wrong = map[string]bool{}
	if f.Age != "" {
		age, err := strconv.Atoi(f.Age)
		if m.Age = age; err != nil || age <= 0 {
			wrong["metadata.age"] = true
		}
	}
	if f.Gender != "" {
		g, err := screen.ParseGender(f.Gender)
		if m.Gender = g; err != nil {
			wrong["metadata.gender"] = true
		}
	}
	if f.English != "" {
		english := f.English == "yes"
		m.English = &english
	}
	return m, wrong
}
