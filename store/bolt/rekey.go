package bolt

import (
	"errors"
	"fmt"
)

// Rekey replaces the key of the encrypted store at path, which nobody has open:
// from is what Options.Key was, to what it is from now on, of KeySize bytes. The
// store's secret is encrypted anew and nothing else, in a moment. If Rekey is
// interrupted, both keys open the store, and the first that does is its key.
//
// It does not help once somebody who has the former key has read the key file:
// copy the sessions into a new store then.
func Rekey(path string, from, to []byte) (err error) {
	if len(to) != KeySize {
		return fmt.Errorf("store/bolt: rekey %s: %w: the new one has %d bytes, want %d", path, ErrKey, len(to), KeySize)
	}
	s, err := Open(path, &Options{Key: from})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if s.vault == nil {
		return fmt.Errorf("store/bolt: rekey %s: %w: it is not encrypted", path, ErrKey)
	}
	id, secret, _, err := readHeaders(s.vault.file.f, from)
	if err == nil {
		err = s.vault.file.writeHeaders(sealHeader(id, secret, to))
	}
	if err != nil {
		return fmt.Errorf("store/bolt: rekey %s: %w", path, err)
	}
	return nil
}
