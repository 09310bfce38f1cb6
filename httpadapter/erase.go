package httpadapter

import "net/http"

// deleteSession erases a session for good.
func (a *adapter) deleteSession(c *call) error {
	c.session = c.id
	if err := c.account.Delete(c.r.Context(), c.id); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// forgetUser erases every session of a user for good. A user that does not
// exist is answered the same.
func (a *adapter) forgetUser(c *call) error {
	if err := c.account.Forget(c.r.Context(), c.id); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}
