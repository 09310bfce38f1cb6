package bolt

import (
	"errors"
	"fmt"
)

// Rekey replaces the key of the encrypted store at path: from is the present
// Options.Key, to the new one, of KeySize bytes. The store must not be open. Rekey
// encrypts only the store's secret again, so its time does not depend on the size of
// the store. After an interrupted Rekey both keys open the store, and the next Open
// makes the key that it was given the only one.
//
// Rekey does not help if the former key and a copy of the key file are known to
// somebody else. In this case copy the sessions into a new store with Copy.
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
