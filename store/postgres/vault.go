package postgres

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/voicescreen/voicescreen/internal/stream"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// KeySize is the length of Options.Key, in bytes.
const KeySize = 32

// ErrKey says that Options.Key does not open the store: it is another one, or one
// is missing, or the store is not encrypted.
var ErrKey = errors.New("store/postgres: the key does not open this store")

// vault seals what an encrypted store keeps to itself. Nil is the vault of a store
// that is not encrypted. It is safe for concurrent use.
//
// Everything is AES-256-GCM with a random nonce in front, bound to what it is and
// to whom it belongs. Each session and each recording has a random key, which
// stands in its row, sealed; each row has its own, so no key seals more than the
// changes of one session.
type vault struct {
	keys      cipher.AEAD // seals keys
	documents cipher.AEAD
}

// newSecret returns a secret for a new store.
func newSecret() []byte {
	secret := make([]byte, KeySize)
	_, _ = rand.Read(secret) // never fails
	return secret
}

// newVault returns the vault of a store's secret.
func newVault(secret []byte) *vault {
	return &vault{keys: derived(secret, "keys"), documents: derived(secret, "documents")}
}

// secretAEAD seals the store's secret.
func secretAEAD(key []byte) cipher.AEAD { return derived(key, "secret") }

// derived returns the cipher of a purpose.
func derived(secret []byte, purpose string) cipher.AEAD {
	key, err := hkdf.Key(sha256.New, secret, nil, "voicescreen postgres "+purpose, KeySize)
	if err != nil {
		panic(err) // only for a key that is too long
	}
	return newAEAD(key)
}

func newAEAD(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // only for a length that is none of AES
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // only for a block that is none of AES
	}
	return aead
}

// bound returns what a sealed value is bound to.
func bound(what, whose string) []byte { return []byte(what + "\x00" + whose) }

// newKey returns a key for a session or a recording, sealed; nil if the store is
// not encrypted.
func (v *vault) newKey(what, whose string) (key, sealed []byte) {
	if v == nil {
		return nil, nil
	}
	key = newSecret()
	return key, v.sealKey(what, whose, key)
}

// sealKey seals the key of a session or a recording; nil if the store is not encrypted.
func (v *vault) sealKey(what, whose string, key []byte) []byte {
	if v == nil {
		return nil
	}
	return v.keys.Seal(nil, nil, key, bound(what, whose))
}

// key opens the key of a session or a recording.
func (v *vault) key(what, whose string, sealed []byte) ([]byte, error) {
	key, err := v.keys.Open(nil, nil, sealed, bound(what, whose))
	if err != nil || len(key) != stream.KeySize {
		return nil, fmt.Errorf("%w: a key is not authentic", store.ErrDamaged)
	}
	return key, nil
}

// What is sealed, and what a key is of.
const (
	ofSession  = "session"
	ofAudio    = "audio"
	privately  = "private"
	ofAnalysis = "analysis"
)

// private are the fields of a session that are sealed as one.
type private struct {
	Metadata screen.Metadata
	Labels   screen.Labels
	Failure  *screen.Failure
}

// sealSession returns the columns sealed and analysis of an encrypted store.
func (v *vault) sealSession(s *store.Session, sealedKey []byte) (sealed, analysed []byte, err error) {
	key, err := v.key(ofSession, s.ID, sealedKey)
	if err != nil {
		return nil, nil, err
	}
	aead := newAEAD(key)
	text, err := json.Marshal(private{s.Metadata, s.Labels, s.Failure})
	if err != nil {
		return nil, nil, fmt.Errorf("store/postgres: encode: %w", err)
	}
	sealed = aead.Seal(nil, nil, text, bound(privately, s.ID))
	plain, err := analysis(s)
	if err != nil || plain == nil {
		return sealed, nil, err
	}
	return sealed, aead.Seal(nil, nil, plain, bound(ofAnalysis, s.ID)), nil
}

// openRow opens the sealed columns of a row of an encrypted store.
func (v *vault) openRow(r *row) (p private, analysed []byte, err error) {
	key, err := v.key(ofSession, r.stored.ID, r.key)
	if err != nil {
		return p, nil, err
	}
	aead := newAEAD(key)
	text, err := aead.Open(nil, nil, r.sealed, bound(privately, r.stored.ID))
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err == nil && r.analysis != nil {
		analysed, err = aead.Open(nil, nil, r.analysis, bound(ofAnalysis, r.stored.ID))
	}
	if err != nil {
		return p, nil, fmt.Errorf("%w: a session is not authentic", store.ErrDamaged)
	}
	return p, analysed, nil
}

// documentBound is what a document is bound to.
func documentBound(name string, revision uint64) []byte {
	return binary.BigEndian.AppendUint64(bound("document", name), revision)
}

// sealDocument returns the content of a document as it is stored.
func (v *vault) sealDocument(name string, revision uint64, data []byte) []byte {
	if v == nil {
		return data
	}
	return v.documents.Seal(nil, nil, data, documentBound(name, revision))
}

// openDocument is the inverse of sealDocument.
func (v *vault) openDocument(name string, revision uint64, data []byte) ([]byte, error) {
	if v == nil || revision == 0 {
		return data, nil
	}
	data, err := v.documents.Open(nil, nil, data, documentBound(name, revision))
	if err != nil {
		return nil, fmt.Errorf("%w: a document is not authentic", store.ErrDamaged)
	}
	return data, nil
}
