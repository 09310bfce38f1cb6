package httpadapter

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/internal/durable"
)

// ErrNoKey is the error for an unknown ID of a key.
var ErrNoKey = errors.New("httpadapter: no such key")

const (
	keyPrefix   = "vk_"
	idBytes     = 8  // 64 random bits: two keys of a file share an ID with a probability below 1e-8
	secretBytes = 32 // 256 random bits
)

// accountName is the form of an account's name, which log lines and tables hold.
var accountName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)

// Key describes an API key. Only the caller of Create has the key itself.
type Key struct {
	ID        string    `json:"id"` // the part of the key between its underscores
	Account   string    `json:"account"`
	Scopes    []Scope   `json:"scopes"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at,omitzero"` // zero: never
	RevokedAt time.Time `json:"revoked_at,omitzero"` // zero: not revoked
}

// Allows returns whether the key has the scope.
func (k *Key) Allows(s Scope) bool { return slices.Contains(k.Scopes, s) }

// Live returns whether the key is valid at the time now: neither revoked nor
// expired.
func (k *Key) Live(now time.Time) bool {
	return k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || now.Before(k.ExpiresAt))
}

// keyRecord is a key as it is stored.
type keyRecord struct {
	Key
	SHA256 string `json:"sha256"` // of the whole key, in hexadecimal
	sum    [sha256.Size]byte
}

// keySet holds the keys at one time, by ID. It is never changed.
type keySet map[string]*keyRecord

// Keys holds the API keys that a service accepts: in a JSON file, in a document of
// a store ([StoredKeys]) or in memory ([NewKeys]). It stores the SHA-256 of each
// key and never the key. Several processes may use one file or store; each sees
// the changes of the others within a second. Keys is safe for concurrent use.
type Keys struct {
	file durable.Value[keySet]
	now  func() time.Time
}

// NewKeys returns an empty set of keys in memory.
func NewKeys() *Keys {
	return &Keys{file: durable.Memory(keySet{}), now: time.Now}
}

// Create makes a key for an account and returns it: vk_<id>_<secret>. The key
// cannot be read again. Without scopes it has [DefaultScopes]. An account may have
// any number of keys. The error wraps voicescreen.ErrInvalid for an invalid
// account name.
func (k *Keys) Create(account string, scopes ...Scope) (key string, err error) {
	return k.CreateUntil(time.Time{}, account, scopes...)
}

// CreateUntil is Create for a key that is valid until expires. A key with the zero
// time does not expire; an earlier time than now is an error.
func (k *Keys) CreateUntil(expires time.Time, account string, scopes ...Scope) (key string, err error) {
	if !accountName.MatchString(account) {
		return "", fmt.Errorf("%w: account name: want 1 to 64 letters, digits or . _ @ -, beginning with a letter or digit", voicescreen.ErrInvalid)
	}
	if len(scopes) == 0 {
		scopes = DefaultScopes()
	}
	for _, s := range scopes {
		if !s.valid() {
			return "", fmt.Errorf("httpadapter: invalid scope %v", s)
		}
	}
	now := k.now().UTC()
	if !expires.IsZero() && !expires.After(now) {
		return "", errors.New("httpadapter: the key would have expired already")
	}
	scopes = slices.Clone(scopes)
	slices.Sort(scopes)
	var random [idBytes + secretBytes]byte
	rand.Read(random[:]) // never fails
	id := hex.EncodeToString(random[:idBytes])
	key = keyPrefix + id + "_" + hex.EncodeToString(random[idBytes:])
	r := &keyRecord{sum: sha256.Sum256([]byte(key))}
	r.SHA256 = hex.EncodeToString(r.sum[:])
	r.Key = Key{ID: id, Account: account, Scopes: slices.Compact(scopes), CreatedAt: now.Truncate(time.Second)}
	if !expires.IsZero() {
		r.ExpiresAt = expires.UTC()
	}
	err = k.change(func(set keySet) error { set[id] = r; return nil })
	if err != nil {
		return "", err
	}
	return key, nil
}

// List returns all keys, with the expired and the revoked ones, ordered by account,
// creation and ID.
func (k *Keys) List() ([]Key, error) {
	set, err := k.read()
	if err != nil {
		return nil, err
	}
	return set.list(), nil
}

func (s keySet) list() []Key {
	list := make([]Key, 0, len(s))
	for _, r := range s {
		key := r.Key
		key.Scopes = slices.Clone(key.Scopes)
		list = append(list, key)
	}
	slices.SortFunc(list, func(a, b Key) int {
		if c := strings.Compare(a.Account, b.Account); c != 0 {
			return c
		}
		if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return list
}

// Revoke ends the validity of a key, given by its ID or by the key itself. It
// returns ErrNoKey for an unknown ID. To revoke a revoked key has no effect.
func (k *Keys) Revoke(id string) error {
	if from, _, ok := splitKey(id); ok {
		id = from
	}
	now := k.now().UTC().Truncate(time.Second)
	return k.change(func(set keySet) error {
		r, ok := set[id]
		if !ok {
			return fmt.Errorf("%w of that ID", ErrNoKey)
		}
		if r.RevokedAt.IsZero() {
			revoked := *r
			revoked.RevokedAt = now
			set[id] = &revoked
		}
		return nil
	})
}

// RevokeAccount ends the validity of all keys of an account, and returns the number
// of those that were valid.
func (k *Keys) RevokeAccount(account string) (n int, err error) {
	now := k.now().UTC()
	err = k.change(func(set keySet) error {
		n = 0
		for id, r := range set {
			if r.Account == account && r.Live(now) {
				revoked := *r
				revoked.RevokedAt = now.Truncate(time.Second)
				set[id] = &revoked
				n++
			}
		}
		return nil
	})
	return n, err
}

// Lookup returns the description of a key, and false for a key that is unknown,
// expired or revoked. Its time does not depend on the secret. The caller must not
// change the Scopes.
func (k *Keys) Lookup(key string) (Key, bool) {
	info, ok, _ := k.find(key)
	if !ok {
		return Key{}, false
	}
	return info, true
}

// find is Lookup with more information on a key that is refused: the description
// of an expired or revoked key, and the ID alone for a wrong secret. The error is why
// it is not known whether there is such a key.
func (k *Keys) find(key string) (info Key, live bool, err error) {
	set := k.file.Get()
	id, _, ok := splitKey(key)
	if !ok {
		return Key{}, false, nil
	}
	r, ok := set[id]
	if !ok { // a new key of another process is valid at once
		if set, err = k.file.Read(); err == nil {
			r, ok = set[id]
		}
	}
	if !ok {
		r = &keyRecord{} // compare with a sum that no key has
	}
	sum := sha256.Sum256([]byte(key))
	same := subtle.ConstantTimeCompare(sum[:], r.sum[:]) == 1
	if !ok {
		return Key{}, false, err
	}
	if !same {
		return Key{ID: id}, false, nil
	}
	return r.Key, r.Live(k.now()), nil
}

// splitKey returns the parts of a key, and false for a text that does not have the
// form of a key.
func splitKey(key string) (id, secret string, ok bool) {
	rest, ok := strings.CutPrefix(key, keyPrefix)
	if !ok || len(rest) != 2*idBytes+1+2*secretBytes || rest[2*idBytes] != '_' {
		return "", "", false
	}
	return rest[:2*idBytes], rest[2*idBytes+1:], true
}
