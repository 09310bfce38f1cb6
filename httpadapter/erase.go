package httpadapter

import "net/http"

// deleteSession erases a session permanently.
func (a *adapter) deleteSession(c *call) error {
	c.session = c.id
	if err := c.account.Delete(c.r.Context(), c.id); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// forgetUser erases all sessions of a user permanently. The answer is the same for
// an unknown user.
func (a *adapter) forgetUser(c *call) error {
	if err := c.account.Forget(c.r.Context(), c.id); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}
