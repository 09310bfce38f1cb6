package httpadapter

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
)

// maxPage is the largest number of results in a page; a larger limit means this
// one. Chosen: a page of some hundred KB.
const maxPage = 1000

// analysedHeader says how many seconds of the recording were analysed, from its
// beginning, with three decimals.
const analysedHeader = "Voicescreen-Analysed-Seconds"

// result answers with the result of one session.
func (a *adapter) result(c *call) error { return a.sendResult(c, c.id) }

// sendResult answers 200 with the result or while the session is processing, and
// 417 for a session that failed or was not submitted.
func (a *adapter) sendResult(c *call, sessionID string) error {
	c.session, c.asks = sessionID, true
	if err := c.require(ScopeRead); err != nil {
		return err
	}
	full, err := wantsDetail(c.r.URL.Query())
	if err != nil {
		return err
	}
	r, err := c.account.Result(c.r.Context(), sessionID)
	if err != nil {
		return err
	}
	if r, err = a.await(c, r); err != nil {
		return err
	}
	if r.Analysed > 0 {
		c.w.Header().Set(analysedHeader, strconv.FormatFloat(r.Analysed, 'f', 3, 64))
	}
	c.waits = r.Status == screen.StatusProcessing
	switch {
	case r.Status == screen.StatusInitiated, r.Status == screen.StatusFailed:
		return c.json(http.StatusExpectationFailed, newFailure(r, full))
	case r.Product == screen.DeepfakeBinary:
		return c.json(http.StatusOK, newDeepfake(r, full))
	}
	return c.json(http.StatusOK, newPrediction(r, full))
}

// results answers with the results of one user, or a page of them.
func (a *adapter) results(c *call) error {
	query := c.r.URL.Query()
	full, err := wantsDetail(query)
	if err != nil {
		return err
	}
	page := voicescreen.Page{Cursor: query.Get("cursor")}
	if query.Has("limit") {
		page.Limit, err = strconv.Atoi(query.Get("limit"))
		if err != nil || page.Limit < 1 {
			return refuse(http.StatusUnprocessableEntity, "limit is malformed, want an integer above 0")
		}
		page.Limit = min(page.Limit, maxPage)
	}
	// Without a limit one answer holds all results. They are read page by page,
	// since a result with its features takes ten times the memory of its item.
	items, asked := []json.RawMessage{}, page.Limit
	page.Limit = cmp.Or(asked, maxPage)
	for more := true; more; more = asked == 0 && page.Cursor != "" {
		if items, page.Cursor, err = c.appendPage(items, page, full); err != nil {
			return err
		}
	}
	if page.Cursor != "" {
		c.w.Header().Set("Link", fmt.Sprintf("<%s>; rel=\"next\"", nextPage(c.r, asked, page.Cursor)))
	}
	return c.json(http.StatusOK, items)
}

// appendPage appends the results of a page in the form of a listing, and returns
// the cursor of the next page, "" after the last one.
func (c *call) appendPage(items []json.RawMessage, page voicescreen.Page, full bool) (_ []json.RawMessage, next string, err error) {
	list, next, err := c.account.Results(c.r.Context(), c.id, page)
	if err != nil {
		return nil, "", err
	}
	for _, r := range list {
		item, err := json.Marshal(newItem(r, full))
		if err != nil {
			return nil, "", err
		}
		items = append(items, item)
	}
	return items, next, nil
}

// nextPage returns the path and query of the next page as the caller sees them:
// with a prefix that http.StripPrefix removed.
func nextPage(r *http.Request, limit int, cursor string) string {
	path := r.URL.EscapedPath()
	if asked, err := url.ParseRequestURI(r.RequestURI); err == nil {
		path = asked.EscapedPath()
	}
	query := r.URL.Query()
	query.Set("limit", strconv.Itoa(limit))
	query.Set("cursor", cursor)
	return path + "?" + query.Encode()
}

// wantsDetail returns whether a query asks for the object detail. An error is an
// answer.
func wantsDetail(query url.Values) (bool, error) {
	if query.Has("detail") && query.Get("detail") != "full" {
		return false, refuse(http.StatusUnprocessableEntity, "detail is malformed, want full")
	}
	return query.Has("detail"), nil
}
