package console

import "net/http"

// home shows what the caller may do, and the sessions that were opened last.
func (v *visit) home() error {
	return v.page(http.StatusOK, "home", struct{ Recent []string }{v.browser.sessions()})
}
