package console

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/voicescreen/voicescreen/httpadapter/webhook"
)

// operationsData is what the page of operations shows.
type operationsData struct {
	*summary
	Ready    bool     // whether the summary is made
	Failed   bool     // whether it could not be made
	Service  *service // nil for who sees the own account only
	Webhooks []webhook.Delivery
	Unread   bool // whether the state of the webhooks could not be read
	Waiting  int  // notices of the account that wait to be sent
	Counted  bool // whether Waiting is known
	Keys     bool // whether keys can be managed here
}

// service is the state of the service as a whole.
type service struct {
	Ready   bool
	Queued  int
	Counted bool // whether Queued is known
	Workers int
	Errors  []tally // calls of the store that failed, by kind
}

// operations shows that the service works: as a whole to an operator, and the own account
// to every holder of the scope admin.
func (v *visit) operations() error {
	s, err := v.summaries.get(v.ctx(), v.caller.Account, v.account)
	operator := slices.Contains(v.opts.Operations.Accounts, v.caller.Account)
	if err != nil && !operator {
		return err
	}
	d := &operationsData{summary: cmp.Or(s, &summary{}), Ready: s != nil, Failed: err != nil, Keys: v.keys != nil}
	if operator {
		d.Service = v.service()
	}
	if notices, err := v.engine.Notices(v.ctx()); err == nil {
		d.Waiting, d.Counted = notices[v.caller.Account], true
	}
	if w := v.opts.Operations.Webhooks; w != nil {
		all, err := w.Deliveries()
		if err != nil { // the rest of the page is what helps now
			v.opts.Logger.Error("state of the webhooks", "error", err)
			d.Unread = true
		}
		d.Webhooks = slices.DeleteFunc(all, func(one webhook.Delivery) bool { return !operator && one.Account != v.caller.Account })
	}
	return v.page(http.StatusOK, "operations", d)
}

// service asks the engine how it is.
func (v *visit) service() *service {
	s := &service{Ready: v.engine.Ready(v.ctx()) == nil, Workers: v.opts.Operations.Workers}
	if n, err := v.engine.Queued(v.ctx()); err == nil {
		s.Queued, s.Counted = n, true
	}
	failed := v.engine.StoreErrors()
	maps.DeleteFunc(failed, func(_ string, n int) bool { return n == 0 })
	s.Errors = tallies(failed)
	return s
}

// Seconds writes a duration.
func (p *view) Seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
