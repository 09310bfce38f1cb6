package console

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/voicescreen/voicescreen/httpadapter"
)

// keysData is what the page of the API keys shows.
type keysData struct {
	Keys   []httpadapter.Key // of the account
	Now    time.Time
	Own    string              // the ID of the key of this sign-in
	Scopes []httpadapter.Scope // that a new key may have: those of the caller
	Made   string              // the key that was just created, which is shown once
	Wrong  string              // the name of a text; "" for none
}

// maxKeyDays is the longest validity of a key that is created here. Chosen: five years.
const maxKeyDays = 5 * 365

// keysPage lists the keys of the account.
func (v *visit) keysPage() error { return v.showKeys(http.StatusOK, &keysData{}) }

func (v *visit) showKeys(status int, d *keysData) error {
	own, err := v.ownKeys()
	if err != nil {
		return err
	}
	d.Keys, d.Own, d.Now, d.Scopes = own, v.caller.ID, time.Now(), v.caller.Scopes
	return v.page(status, "keys", d)
}

// ownKeys returns the keys of the account.
func (v *visit) ownKeys() ([]httpadapter.Key, error) {
	if v.keys == nil {
		return nil, errNotFound // the host program authenticates
	}
	all, err := v.keys.List()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(k httpadapter.Key) bool { return k.Account != v.caller.Account }), nil
}

// createKey makes a key for the account, with scopes that the caller has, that ends no
// later than the key of the caller: nobody gives away more than they may do.
func (v *visit) createKey() error {
	if v.keys == nil {
		return errNotFound
	}
	if err := v.form(); err != nil {
		return err
	}
	var scopes []httpadapter.Scope
	for _, name := range v.r.PostForm["scope"] {
		s, err := httpadapter.ParseScope(name)
		if err != nil {
			return fault{http.StatusUnprocessableEntity, "error.invalid"}
		}
		if !v.caller.Allows(s) {
			return errForbidden
		}
		scopes = append(scopes, s)
	}
	days, err := strconv.Atoi(v.trimmed("days"))
	if err != nil || days < 1 || days > maxKeyDays || len(scopes) == 0 {
		return v.showKeys(http.StatusUnprocessableEntity, &keysData{Wrong: "keys.wrong"})
	}
	until, err := v.noLater(time.Now().AddDate(0, 0, days))
	if err != nil {
		return err
	}
	key, err := v.keys.CreateUntil(until, v.caller.Account, scopes...)
	if err != nil {
		return err
	}
	return v.showKeys(http.StatusOK, &keysData{Made: key})
}

// noLater returns the end of a new key's validity: as asked for, or that of the key of this
// sign-in if it is earlier.
func (v *visit) noLater(asked time.Time) (time.Time, error) {
	own, err := v.ownKeys()
	if err != nil {
		return time.Time{}, err
	}
	i := slices.IndexFunc(own, func(k httpadapter.Key) bool { return k.ID == v.caller.ID })
	if i >= 0 && !own[i].ExpiresAt.IsZero() && own[i].ExpiresAt.Before(asked) {
		return own[i].ExpiresAt, nil
	}
	return asked, nil
}

// revokeKey ends the validity of a key of the account.
func (v *visit) revokeKey() error {
	if err := v.form(); err != nil {
		return err
	}
	own, err := v.ownKeys()
	if err != nil {
		return err
	}
	id := v.r.PostForm.Get("id")
	if !slices.ContainsFunc(own, func(k httpadapter.Key) bool { return k.ID == id }) {
		return errNotFound
	}
	if v.r.PostForm.Get("confirm") != "yes" {
		return v.showKeys(http.StatusUnprocessableEntity, &keysData{Wrong: "confirm.missing"})
	}
	if err := v.keys.Revoke(id); err != nil {
		return err
	}
	return v.redirect("operations/keys")
}
