package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/voicescreen/voicescreen/internal/durable"
)

// Delivery is the delivery state of an account's endpoint since the last Set. It
// holds nothing of a session.
type Delivery struct {
	Account     string    `json:"account"`
	DeliveredAt time.Time `json:"delivered_at,omitzero"` // time of the last notice that was accepted; zero: none
	FailedAt    time.Time `json:"failed_at,omitzero"`    // time of the last attempt that failed; zero: none
	Reason      string    `json:"reason,omitempty"`      // of that failure, without the URL
	Waiting     int       `json:"waiting"`               // number of notices that wait to be sent
	CountedAt   time.Time `json:"counted_at,omitzero"`   // time at which Waiting was counted; zero: never
}

// Failing returns whether the last attempt failed.
func (d Delivery) Failing() bool { return d.FailedAt.After(d.DeliveredAt) }

// with returns the delivery with what other adds to it: the later of each.
func (d Delivery) with(other Delivery) Delivery {
	d.Account = other.Account
	if !other.DeliveredAt.Before(d.DeliveredAt) {
		d.DeliveredAt = other.DeliveredAt
	}
	if !other.FailedAt.Before(d.FailedAt) {
		d.FailedAt, d.Reason = other.FailedAt, other.Reason
	}
	if !other.CountedAt.Before(d.CountedAt) {
		d.Waiting, d.CountedAt = other.Waiting, other.CountedAt
	}
	return d
}

// since returns the delivery without what came before the time at.
func (d Delivery) since(at time.Time) Delivery {
	if d.DeliveredAt.Before(at) {
		d.DeliveredAt = time.Time{}
	}
	if d.FailedAt.Before(at) {
		d.FailedAt, d.Reason = time.Time{}, ""
	}
	return d
}

// Deliveries returns the delivery state of each account with an endpoint,
// in the order of List. A Sender in any process writes it within two seconds; what
// it would have written in the last second before a crash is missing.
func (e *Endpoints) Deliveries() ([]Delivery, error) {
	list, err := e.List()
	if err != nil {
		return nil, err
	}
	all, err := e.deliveries.read()
	if err != nil {
		return nil, fmt.Errorf("httpadapter/webhook: deliveries: %w", err)
	}
	out := make([]Delivery, len(list))
	for i, endpoint := range list {
		out[i] = all[endpoint.Account].since(endpoint.CreatedAt)
		out[i].Account = endpoint.Account
	}
	return out, nil
}

// add adds deliveries to those that are stored, and removes those of accounts
// without an endpoint.
func (e *Endpoints) add(news deliveries) error {
	endpoints, err := e.file.Read()
	if err != nil {
		return err
	}
	return e.deliveries.change(func(stored deliveries) (deliveries, error) {
		all := maps.Clone(stored)
		if all == nil {
			all = deliveries{}
		}
		for account, d := range news {
			all[account] = all[account].with(d)
		}
		maps.DeleteFunc(all, func(account string, _ Delivery) bool { return endpoints.records[account] == nil })
		return all, nil
	})
}

// deliveries holds the delivery state by account. It is never changed.
type deliveries map[string]Delivery

// deliveryStore is where deliveries are kept: a file beside that of the endpoints, which
// the first change makes, or a value.
type deliveryStore struct {
	path  string
	value durable.Value[deliveries] // if there is no path
}

// DeliveriesDocument is the name of the store's document of what was delivered last, beside
// [Stored]. It says nothing that a copy of the store needs.
const DeliveriesDocument = "webhook-deliveries"

const (
	deliveriesName   = "voicescreen-webhook-deliveries/1"
	deliveriesSuffix = ".deliveries"

	// maxReason is the maximum length of a reason in bytes. Chosen: more than
	// the longest of the package.
	maxReason = 200
)

// deliveriesFormat is that of the file and of the document.
var deliveriesFormat = durable.Format[deliveries]{Parse: parseDeliveries, Text: deliveriesText, MaxBytes: maxFile}

func (l *deliveryStore) read() (deliveries, error) {
	if l.path == "" {
		return l.value.Read()
	}
	f, err := durable.OpenFile(l.path, deliveriesFormat)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return f.Get(), nil
}

func (l *deliveryStore) change(change func(deliveries) (deliveries, error)) error {
	if l.path == "" {
		return l.value.Change(change)
	}
	f, err := durable.CreateFile(l.path, deliveries{}, deliveriesFormat)
	if err != nil {
		return err
	}
	return f.Change(change)
}

// deliveriesFile is the form of the file.
type deliveriesFile struct {
	Format   string     `json:"format"`
	Accounts []Delivery `json:"accounts"`
}

func parseDeliveries(data []byte) (deliveries, error) {
	var file deliveriesFile
	if err := durable.DecodeJSON(data, &file); err != nil {
		return nil, fmt.Errorf("not a file of deliveries: %w", err)
	}
	if file.Format != deliveriesName {
		return nil, fmt.Errorf("format is %.40q, want %q", file.Format, deliveriesName)
	}
	all := make(deliveries, len(file.Accounts))
	for i, d := range file.Accounts {
		if err := checkAccount(d.Account); err != nil {
			return nil, fmt.Errorf("account %d: %w", i+1, err)
		}
		if _, twice := all[d.Account]; twice || d.Waiting < 0 || len(d.Reason) > maxReason || hasControl(d.Reason) {
			return nil, fmt.Errorf("account %d: is there twice, or has an invalid reason or number", i+1)
		}
		all[d.Account] = d
	}
	return all, nil
}

// deliveriesText is the inverse of parseDeliveries.
func deliveriesText(all deliveries) ([]byte, error) {
	file := deliveriesFile{Format: deliveriesName, Accounts: []Delivery{}}
	for _, account := range slices.Sorted(maps.Keys(all)) {
		file.Accounts = append(file.Accounts, all[account])
	}
	data, err := json.MarshalIndent(file, "", "\t")
	return append(data, '\n'), err
}
