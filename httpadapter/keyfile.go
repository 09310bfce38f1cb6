package httpadapter

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/voicescreen/voicescreen/internal/document"
	"github.com/voicescreen/voicescreen/internal/durable"
	"github.com/voicescreen/voicescreen/store"
)

const (
	keyFormat = "voicescreen-keys/1"

	// maxKeyFile is the size of the largest key file in bytes: some 200,000 keys.
	maxKeyFile = 64 << 20
)

// keyFile is the form of the file.
type keyFile struct {
	Format string       `json:"format"`
	Keys   []*keyRecord `json:"keys"`
}

// keyFormatting is the format of the file.
var keyFormatting = durable.Format[keySet]{Parse: parseKeyFile, Text: keyText, MaxBytes: maxKeyFile}

// OpenKeys reads a key file. The error wraps fs.ErrNotExist for a missing file, and
// describes the fault of a malformed one.
func OpenKeys(path string) (*Keys, error) {
	return newKeys(durable.OpenFile(path, keyFormatting))
}

// CreateKeys is OpenKeys, and creates a missing file: without keys, readable by its
// owner only.
func CreateKeys(path string) (*Keys, error) {
	return newKeys(durable.CreateFile(path, keySet{}, keyFormatting))
}

func newKeys(file *durable.File[keySet], err error) (*Keys, error) {
	if err != nil {
		return nil, fmt.Errorf("httpadapter: key file: %w", err)
	}
	return &Keys{file: file, now: time.Now}, nil
}

// keyDocument is the name of the document of keys in a store.
const keyDocument = "keys"

// StoredKeys returns the keys that are kept in a store, which all replicas of a
// service on that store share. The store must stay open as long as they are used.
func StoredKeys(ctx context.Context, st store.Store) (*Keys, error) {
	d, err := document.Open(ctx, st, keyDocument, keySet{}, keyFormatting)
	if err != nil {
		return nil, fmt.Errorf("httpadapter: keys: %w", err)
	}
	return &Keys{file: d, now: time.Now}, nil
}

// Check returns an error if the key file cannot be read. The keys that were read
// last stay valid meanwhile.
func (k *Keys) Check() error {
	_, err := k.read()
	return err
}

// read returns the keys that are in the file now.
func (k *Keys) read() (keySet, error) {
	set, err := k.file.Read()
	if err != nil {
		return nil, fmt.Errorf("httpadapter: key file: %w", err)
	}
	return set, nil
}

// change applies f to a copy of the current keys and makes the result durable,
// under a lock against changes of other processes. An error of f is returned, and
// the keys stay as they are.
func (k *Keys) change(f func(keySet) error) error {
	var refused error
	err := k.file.Change(func(set keySet) (keySet, error) {
		set = maps.Clone(set)
		refused = f(set)
		return set, refused
	})
	if err != nil && err != refused {
		return fmt.Errorf("httpadapter: key file: %w", err)
	}
	return err
}

// parseKeyFile reads a key file. It refuses a file with a member that is unknown
// or missing, or with a record that is not valid: an operator must not believe
// that a key is revoked, or a scope withdrawn, by a line that was skipped.
func parseKeyFile(data []byte) (keySet, error) {
	var file keyFile
	if err := durable.DecodeJSON(data, &file); err != nil {
		return nil, fmt.Errorf("not a key file: %w", err)
	}
	if file.Format != keyFormat {
		return nil, fmt.Errorf("format is %.40q, want %q", file.Format, keyFormat)
	}
	if file.Keys == nil {
		return nil, errors.New("it has no list of keys")
	}
	for i, r := range file.Keys {
		if err := r.parse(); err != nil {
			return nil, fmt.Errorf("key %d: %w", i+1, err)
		}
	}
	set := make(keySet, len(file.Keys))
	for i, r := range file.Keys {
		if set[r.ID] != nil {
			return nil, fmt.Errorf("key %d: another one has the same id", i+1)
		}
		set[r.ID] = r
	}
	return set, nil
}

// parse checks a record and sets its sum.
func (r *keyRecord) parse() error {
	if r == nil {
		return errors.New("is null")
	}
	if b, err := hex.DecodeString(r.ID); err != nil || len(b) != idBytes {
		return fmt.Errorf("id: want %d hexadecimal digits", 2*idBytes)
	}
	b, err := hex.DecodeString(r.SHA256)
	if err != nil || len(b) != len(r.sum) {
		return fmt.Errorf("sha256: want %d hexadecimal digits", 2*len(r.sum))
	}
	copy(r.sum[:], b)
	if !accountName.MatchString(r.Account) {
		return errors.New("account: not a valid name")
	}
	if r.Scopes == nil || r.CreatedAt.IsZero() {
		return errors.New("scopes or created_at is missing")
	}
	return nil
}

// keyText returns the content of a key file: the inverse of parseKeyFile.
func keyText(set keySet) ([]byte, error) {
	file := keyFile{Format: keyFormat, Keys: []*keyRecord{}}
	for _, key := range set.list() {
		file.Keys = append(file.Keys, set[key.ID])
	}
	data, err := json.MarshalIndent(file, "", "\t")
	return append(data, '\n'), err
}
