package httpadapter

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

const (
	keyFormat = "voicescreen-keys/1"

	// maxKeyFile bounds what is read of a key file: some 200,000 keys.
	maxKeyFile = 64 << 20

	// lockWait is how long a change waits for another process's change.
	// Chosen: a change takes milliseconds, so whoever holds the lock for
	// longer hangs.
	lockWait = 10 * time.Second

	// lockRetry is the pause between two attempts to take the lock. Chosen:
	// about as long as a change takes.
	lockRetry = 5 * time.Millisecond
)

// keyFile is the form of the file.
type keyFile struct {
	Format string       `json:"format"`
	Keys   []*keyRecord `json:"keys"`
}

// OpenKeys reads a key file. It returns an error that wraps fs.ErrNotExist if
// there is none, and one that names the fault if the file is not a key file.
func OpenKeys(path string) (*Keys, error) {
	k := &Keys{path: path, now: time.Now}
	k.set.Store(&keySet{})
	if err := k.reload(); err != nil {
		return nil, err
	}
	return k, nil
}

// CreateKeys is OpenKeys that first makes an empty key file, readable by its
// owner alone, if there is none.
func CreateKeys(path string) (*Keys, error) {
	k, err := OpenKeys(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	unlock, err := lockFile(path+".lock", lockWait)
	if err != nil {
		return nil, fmt.Errorf("httpadapter: lock key file: %w", err)
	}
	defer unlock()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := writeKeyFile(path, keySet{}); err != nil {
			return nil, fmt.Errorf("httpadapter: create key file: %w", err)
		}
	}
	return OpenKeys(path)
}

// Check returns nil if the key file can be read. Where it cannot, the keys
// that were last read stay valid.
func (k *Keys) Check() error { return k.reload() }

// poll reads the file anew if the last look at it was long enough ago and it
// has changed since. An error is kept for Check: the former keys stay.
func (k *Keys) poll() {
	if k.path == "" {
		return
	}
	now, last := time.Now().UnixNano(), k.checked.Load()
	if now-last < int64(pollEvery) || !k.checked.CompareAndSwap(last, now) {
		return
	}
	k.reload()
}

// reload reads the file anew if it has changed.
func (k *Keys) reload() error {
	if k.path == "" {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.checked.Store(time.Now().UnixNano())
	return k.reloadLocked()
}

func (k *Keys) reloadLocked() error {
	info, err := os.Stat(k.path)
	if err == nil && k.seen != nil && k.err == nil && os.SameFile(info, k.seen) &&
		info.ModTime().Equal(k.seen.ModTime()) && info.Size() == k.seen.Size() {
		return nil
	}
	var set keySet
	if err == nil {
		set, err = readKeyFile(k.path)
	}
	if err != nil {
		k.err = fmt.Errorf("httpadapter: key file: %w", err)
		return k.err
	}
	k.seen, k.err = info, nil
	k.set.Store(&set)
	return nil
}

// change applies f to a copy of the current keys and keeps the result,
// durably, while no other process changes them. If f returns an error, nothing
// changes.
func (k *Keys) change(f func(keySet) error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.path != "" {
		unlock, err := lockFile(k.path+".lock", lockWait)
		if err != nil {
			return fmt.Errorf("httpadapter: lock key file: %w", err)
		}
		defer unlock()
		k.seen = nil // read it whatever it looks like
		if err := k.reloadLocked(); err != nil {
			return err
		}
	}
	set := maps.Clone(*k.set.Load())
	if err := f(set); err != nil {
		return err
	}
	if k.path != "" {
		if err := writeKeyFile(k.path, set); err != nil {
			return fmt.Errorf("httpadapter: write key file: %w", err)
		}
		k.seen = nil
	}
	k.set.Store(&set)
	return nil
}

func readKeyFile(path string) (keySet, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxKeyFile {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxKeyFile)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	set, err := parseKeyFile(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return set, nil
}

// parseKeyFile is strict: a file that is not wholly understood is refused,
// since half of the keys would be worse than none.
func parseKeyFile(data []byte) (keySet, error) {
	var file keyFile
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("not a key file: %w", err)
	}
	if dec.More() {
		return nil, errors.New("not a key file: more follows its end")
	}
	if file.Format != keyFormat {
		return nil, fmt.Errorf("format is %.40q, want %q", file.Format, keyFormat)
	}
	set := make(keySet, len(file.Keys))
	for i, r := range file.Keys {
		if err := r.parse(); err != nil {
			return nil, fmt.Errorf("key %d: %w", i+1, err)
		}
		if set[r.ID] != nil {
			return nil, fmt.Errorf("key %d: its id stands twice", i+1)
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
	return nil
}

// writeKeyFile replaces the file in one step: whoever reads it sees the old or
// the new one, also after a power failure.
func writeKeyFile(path string, set keySet) error {
	file := keyFile{Format: keyFormat, Keys: []*keyRecord{}}
	for _, key := range set.list() {
		file.Keys = append(file.Keys, set[key.ID])
	}
	data, err := json.MarshalIndent(file, "", "\t")
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	tmp, err := os.CreateTemp(dir, filepath.Base(path)+".*.tmp") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails, as it should, after the rename
	_, err = tmp.Write(append(data, '\n'))
	if err == nil {
		err = tmp.Sync()
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil || runtime.GOOS == "windows" { // where a directory cannot be synced
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
