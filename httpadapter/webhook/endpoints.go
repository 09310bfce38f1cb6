package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/internal/document"
	"github.com/voicescreen/voicescreen/internal/durable"
	"github.com/voicescreen/voicescreen/store"
)

// ErrNoEndpoint is the error for an account without an endpoint.
var ErrNoEndpoint = errors.New("httpadapter/webhook: the account has no endpoint")

const (
	fileFormat = "voicescreen-webhooks/1"

	// maxFile is the size of the largest file in bytes: some 10,000 endpoints.
	maxFile = 8 << 20

	// maxSecrets is the maximum number of secrets of an endpoint. Chosen: a
	// rotation needs two, and the header must stay short.
	maxSecrets = 5

	// maxAccount is the maximum length of an account's name in bytes. Chosen:
	// more than the 64 bytes of an account with keys.
	maxAccount = 255
)

// Endpoint describes the receiver of an account's notices, without its secrets.
type Endpoint struct {
	Account    string
	URL        string    // https://…; confidential, since its path may be a credential
	CreatedAt  time.Time // time of the last Set
	DisabledAt time.Time // time at which the receiver answered 410; zero: active
	Secrets    int       // number of valid secrets
}

// record is an endpoint as it is stored. It is never changed.
type record struct {
	Account    string         `json:"account"`
	URL        string         `json:"url"`
	CreatedAt  time.Time      `json:"created_at"`
	DisabledAt time.Time      `json:"disabled_at,omitzero"`
	Secrets    []secretRecord `json:"secrets"`

	// AllowPrivate holds the networks beside the public ones in which the address
	// of URL may be.
	AllowPrivate []netip.Prefix `json:"allow_private,omitempty"`
}

// secretRecord is a secret as it is stored: in clear text, unlike a key, since a
// signature cannot be made from a hash.
type secretRecord struct {
	Secret    secret    `json:"secret"`
	ExpiresAt time.Time `json:"expires_at,omitzero"` // zero: never
}

// valid returns the secrets that are valid at the time now, the newest first.
func (r *record) valid(now time.Time) []secret {
	var list []secret
	for _, s := range slices.Backward(r.Secrets) {
		if s.ExpiresAt.IsZero() || now.Before(s.ExpiresAt) {
			list = append(list, s.Secret)
		}
	}
	return list
}

// set holds the endpoints at one time, by account. It is never changed.
type set struct {
	records  map[string]*record
	accounts []string // with an active endpoint, in order
}

func newSet(records map[string]*record) *set {
	s := &set{records: records, accounts: make([]string, 0, len(records))}
	for account, r := range records {
		if r.DisabledAt.IsZero() {
			s.accounts = append(s.accounts, account)
		}
	}
	slices.Sort(s.accounts)
	return s
}

// Endpoints holds the endpoints of all accounts: in a JSON file, in a document of a
// store ([Stored]) or in memory ([Memory]). The file holds the secrets and is
// readable by its owner only. Several processes may use one file or store; each
// sees the changes of the others within a second. Endpoints is safe for concurrent
// use.
type Endpoints struct {
	file       durable.Value[*set]
	deliveries deliveryStore
	now        func() time.Time
}

// Memory returns an empty set of endpoints in memory.
func Memory() *Endpoints {
	return &Endpoints{durable.Memory(newSet(nil)), deliveryStore{value: durable.Memory(deliveries{})}, time.Now}
}

// Open reads a file of endpoints, and creates a missing one. The error describes the
// fault of a malformed file, without its secrets.
func Open(path string) (*Endpoints, error) {
	f, err := durable.CreateFile(path, newSet(nil), format)
	if err != nil {
		return nil, fmt.Errorf("httpadapter/webhook: open endpoints: %w", err)
	}
	return &Endpoints{f, deliveryStore{path: path + deliveriesSuffix}, time.Now}, nil
}

// Stored returns the endpoints that are kept in a store, which all replicas of a
// service on that store share. The store must stay open as long as they are used.
// It holds the secrets: encrypt it.
func Stored(ctx context.Context, st store.Store) (*Endpoints, error) {
	d, err := document.Open(ctx, st, documentName, newSet(nil), format)
	if err != nil {
		return nil, fmt.Errorf("httpadapter/webhook: endpoints: %w", err)
	}
	outcomes, err := document.Open(ctx, st, DeliveriesDocument, deliveries{}, deliveriesFormat)
	if err != nil {
		return nil, fmt.Errorf("httpadapter/webhook: deliveries: %w", err)
	}
	return &Endpoints{d, deliveryStore{value: outcomes}, time.Now}, nil
}

// documentName is the name of the document of endpoints in a store.
const documentName = "webhooks"

// format is that of the file and of the document.
var format = durable.Format[*set]{Parse: parse, Text: text, MaxBytes: maxFile}

// Accounts returns the accounts with an active endpoint, in order. The caller must
// not change the slice.
func (e *Endpoints) Accounts() []string { return e.file.Get().accounts }

// List returns the endpoints of all accounts, ordered by account.
func (e *Endpoints) List() ([]Endpoint, error) {
	s, err := e.file.Read()
	if err != nil {
		return nil, err
	}
	list := []Endpoint{}
	for _, account := range slices.Sorted(maps.Keys(s.records)) {
		r := s.records[account]
		list = append(list, Endpoint{r.Account, r.URL, r.CreatedAt, r.DisabledAt, len(r.valid(e.now()))})
	}
	return list, nil
}

// Set sets the URL of an account's endpoint and makes the endpoint active. For a new
// endpoint it makes a secret, whsec_ and base64, and returns it; the secret cannot
// be read again. An existing endpoint keeps its secrets, and "" is returned. The
// error wraps voicescreen.ErrInvalid for an invalid account or URL, and does not
// hold the URL. It wraps ErrAddress too for localhost and for an address that is
// neither public nor in the networks of allow: those that Options.AllowPrivate of
// the Sender allows. Names are not resolved: see Resolve.
func (e *Endpoints) Set(account, url string, allow ...netip.Prefix) (secret string, err error) {
	if err := errors.Join(checkAccount(account), checkNew(url, allow...)); err != nil {
		return "", fmt.Errorf("%w: %w", voicescreen.ErrInvalid, err)
	}
	now := e.now().UTC().Truncate(time.Second)
	made := newSecret()
	err = e.change(account, func(r *record) (*record, error) {
		secret = ""
		if r == nil {
			secret = made.text()
			r = &record{Account: account, Secrets: []secretRecord{{Secret: made}}}
		}
		r.URL, r.CreatedAt, r.DisabledAt, r.AllowPrivate = url, now, time.Time{}, slices.Clone(allow)
		return r, nil
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// Rotate makes a new secret for an account's endpoint and returns it; the secret
// cannot be read again. Notices are signed with the former secrets too for the
// time keep. It returns ErrNoEndpoint for an account without an endpoint, and an
// error if five secrets are valid already.
func (e *Endpoints) Rotate(account string, keep time.Duration) (secret string, err error) {
	now := e.now().UTC()
	made := newSecret()
	until := now.Add(max(keep, 0))
	err = e.change(account, func(r *record) (*record, error) {
		if r == nil {
			return nil, ErrNoEndpoint
		}
		r.Secrets = slices.DeleteFunc(r.Secrets, func(s secretRecord) bool { return !s.ExpiresAt.IsZero() && !now.Before(s.ExpiresAt) })
		for i := range r.Secrets {
			if s := &r.Secrets[i]; s.ExpiresAt.IsZero() || s.ExpiresAt.After(until) {
				s.ExpiresAt = until
			}
		}
		r.Secrets = append(r.Secrets, secretRecord{Secret: made})
		if len(r.Secrets) > maxSecrets {
			return nil, fmt.Errorf("httpadapter/webhook: the endpoint has %d valid secrets, want one of them to expire first", maxSecrets)
		}
		return r, nil
	})
	if err != nil {
		return "", err
	}
	return made.text(), nil
}

// Remove removes an account's endpoint with its secrets. It returns ErrNoEndpoint
// for an account without an endpoint.
func (e *Endpoints) Remove(account string) error {
	return e.change(account, func(r *record) (*record, error) {
		if r == nil {
			return nil, ErrNoEndpoint
		}
		return nil, nil
	})
}

// disable disables an account's endpoint unless its URL has changed from url.
func (e *Endpoints) disable(account, url string, now time.Time) error {
	return e.change(account, func(r *record) (*record, error) {
		if r != nil && r.URL == url && r.DisabledAt.IsZero() {
			r.DisabledAt = now.UTC().Truncate(time.Second)
		}
		return r, nil
	})
}

// active returns the endpoint of an account, and false if it is missing or
// disabled.
func (e *Endpoints) active(account string) (*record, bool) {
	r, ok := e.file.Get().records[account]
	return r, ok && r.DisabledAt.IsZero()
}

// change replaces an account's endpoint by the result of f, which receives a copy.
// Nil is an account without an endpoint.
func (e *Endpoints) change(account string, f func(*record) (*record, error)) error {
	return e.file.Change(func(s *set) (*set, error) {
		var c *record
		if r := s.records[account]; r != nil {
			c = new(record)
			*c = *r
			c.Secrets = slices.Clone(r.Secrets)
		}
		c, err := f(c)
		if err != nil {
			return nil, err
		}
		records := maps.Clone(s.records)
		if records == nil {
			records = map[string]*record{}
		}
		if c == nil {
			delete(records, account)
		} else {
			records[account] = c
		}
		return newSet(records), nil
	})
}

// checkAccount refuses names that would break a table or a log line.
func checkAccount(account string) error {
	if len(account) > maxAccount || hasControl(account) {
		return fmt.Errorf("account: want at most %d bytes without control characters", maxAccount)
	}
	return nil
}

// hasControl returns whether a text holds a control character or is not UTF-8.
func hasControl(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' })
}

// endpointFile is the form of the file.
type endpointFile struct {
	Format    string    `json:"format"`
	Endpoints []*record `json:"endpoints"`
}

// parse reads a file of endpoints. It refuses a file with a member that is
// unknown or missing, or with a record that is not valid: an operator must not
// believe that an endpoint is removed by a line that was skipped.
func parse(data []byte) (*set, error) {
	var file endpointFile
	if err := durable.DecodeJSON(data, &file); err != nil {
		return nil, fmt.Errorf("not a file of endpoints: %w", err)
	}
	if file.Format != fileFormat {
		return nil, fmt.Errorf("format is %.40q, want %q", file.Format, fileFormat)
	}
	if file.Endpoints == nil {
		return nil, errors.New("it has no list of endpoints")
	}
	for i, r := range file.Endpoints {
		if err := r.parse(); err != nil {
			return nil, fmt.Errorf("endpoint %d: %w", i+1, err)
		}
	}
	records := make(map[string]*record, len(file.Endpoints))
	for i, r := range file.Endpoints {
		if records[r.Account] != nil {
			return nil, fmt.Errorf("endpoint %d: another one has the same account", i+1)
		}
		records[r.Account] = r
	}
	return newSet(records), nil
}

// parse checks a record.
func (r *record) parse() error {
	if r == nil {
		return errors.New("is null")
	}
	if err := checkAccount(r.Account); err != nil {
		return err
	}
	if err := checkURL(r.URL, r.AllowPrivate...); err != nil {
		return err
	}
	if r.CreatedAt.IsZero() {
		return errors.New("created_at is missing")
	}
	if len(r.Secrets) < 1 || len(r.Secrets) > maxSecrets {
		return fmt.Errorf("secrets: there are %d, want 1 to %d", len(r.Secrets), maxSecrets)
	}
	for i, s := range r.Secrets {
		if s.Secret == nil {
			return fmt.Errorf("secret %d: %w", i+1, errSecret)
		}
	}
	return nil
}

// text returns the content of the file: the inverse of parse.
func text(s *set) ([]byte, error) {
	file := endpointFile{Format: fileFormat, Endpoints: []*record{}}
	for _, account := range slices.Sorted(maps.Keys(s.records)) {
		file.Endpoints = append(file.Endpoints, s.records[account])
	}
	data, err := json.MarshalIndent(file, "", "\t")
	return append(data, '\n'), err
}
