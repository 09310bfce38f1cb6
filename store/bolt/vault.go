package bolt

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/internal/durable"
)

// KeySize is the length of [Options].Key, in bytes.
const KeySize = 32

// ErrKey says that a store is encrypted and no key or another one was given, or
// that a key was given for one that is not encrypted.
var ErrKey = errors.New("the key does not fit the store")

// vault holds the keys of an encrypted store. It is nil for a plain one. It is safe
// for concurrent use, except for the fields that say otherwise.
type vault struct {
	id    []byte      // of the store
	slots cipher.AEAD // seals the data keys of sessions in the key file
	audio cipher.AEAD // seals the data keys of audio in its files
	texts cipher.AEAD // seals documents
	index []byte      // key of appendSum
	mac   []byte      // key of what says which slot is whose

	file slotFile
	gate sync.RWMutex // read-locked by read transactions, locked to overwrite a slot

	// These are used in write transactions alone.
	prepared uint64    // slots below it have a key that is durable
	tx       *bbolt.Tx // the last that was assigned a slot
	handed   []uint64  // slots that tx was assigned, until it is stored

	overwriteMu sync.Mutex // held while slots of pending are overwritten
	mu          sync.Mutex // protects pending and ready
	pending     []uint64   // retired by what is stored, and still to be overwritten
	ready       []uint64   // overwritten, and in the database still retired
}

// slotFile is the key file. Tests make its calls fail.
type slotFile struct {
	f       *os.File
	writeAt func(p []byte, off int64) (int, error)
	sync    func() error
}

// The key file begins with two copies of the header, each on a page of its own,
// so that the master key can be replaced in place; the slots follow.
const (
	suffixSlots  = ".keyslots"
	headerPage   = 4096 // chosen: no disk tears less
	headerMagic  = "voicescreen key\n"
	headerFormat = 1

	idLen    = 16
	checkLen = 16
	// sealOverhead is what cipher.NewGCMWithRandomNonce adds: nonce and tag.
	sealOverhead = 12 + 16
	headerSize   = len(headerMagic) + 1 + idLen + checkLen + KeySize + sealOverhead + crc32.Size
)

// newAEAD returns AES-256-GCM that makes a random nonce at each Seal. One key
// takes 2^32 of them (NIST SP 800-38D, section 8.3): that many sessions a
// store, and changes of a session.
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

// derive returns a key for one purpose, HKDF-SHA-256 of RFC 5869 with the
// store's id as salt.
func derive(secret, id []byte, purpose string) []byte {
	key, err := hkdf.Key(sha256.New, secret, id, "voicescreen store/bolt "+purpose, KeySize)
	if err != nil {
		panic(err) // only for more than 255 hashes
	}
	return key
}

// newVault returns the keys that are derived from the store's secret.
func newVault(id, secret []byte) *vault {
	return &vault{
		id:    id,
		slots: newAEAD(derive(secret, id, "slots")),
		audio: newAEAD(derive(secret, id, "audio")),
		texts: newAEAD(derive(secret, id, "documents")),
		index: derive(secret, id, "index"),
		mac:   derive(secret, id, "mac"),
	}
}

// sealHeader returns a header that holds the store's secret under a master key.
func sealHeader(id, secret, master []byte) []byte {
	h := append([]byte(headerMagic), headerFormat)
	h = append(h, id...)
	h = append(h, derive(master, id, "check")[:checkLen]...)
	h = newAEAD(derive(master, id, "secret")).Seal(h, nil, secret, h)
	return binary.BigEndian.AppendUint32(h, crc32.Checksum(h, castagnoli))
}

// openHeader returns what a header holds. The error is ErrKey for one that is
// whole and of another key.
func openHeader(h, master []byte) (id, secret []byte, err error) {
	body := h[:headerSize-crc32.Size]
	if crc32.Checksum(body, castagnoli) != binary.BigEndian.Uint32(h[len(body):]) {
		return nil, nil, fmt.Errorf("%w: the header of the key file is damaged", ErrCorrupt)
	}
	if !bytes.HasPrefix(body, append([]byte(headerMagic), headerFormat)) {
		return nil, nil, fmt.Errorf("%w: the key file is of another kind or version", ErrFormat)
	}
	sealed := body[len(headerMagic)+1+idLen+checkLen:]
	additional := body[:len(body)-len(sealed)]
	id = additional[len(headerMagic)+1:][:idLen]
	if !bytes.Equal(derive(master, id, "check")[:checkLen], additional[len(additional)-checkLen:]) {
		return nil, nil, fmt.Errorf("%w: it is encrypted with another one", ErrKey)
	}
	secret, err = newAEAD(derive(master, id, "secret")).Open(nil, nil, sealed, additional)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: the header of the key file is not authentic", ErrCorrupt)
	}
	return id, secret, nil
}

// readHeaders opens the header of a key file: one of the copies is enough. Other
// is the number of that which is not the same, -1 if both are.
func readHeaders(f io.ReaderAt, master []byte) (id, secret []byte, other int64, err error) {
	var copies [2][]byte
	var errs [2]error
	for i := range copies {
		copies[i] = make([]byte, headerSize)
		if _, err := f.ReadAt(copies[i], int64(i)*headerPage); err != nil && err != io.EOF {
			return nil, nil, -1, err
		}
		var foundID, found []byte
		if foundID, found, errs[i] = openHeader(copies[i], master); errs[i] == nil && secret == nil {
			id, secret, other = foundID, found, int64(1-i)
		}
	}
	switch {
	case secret != nil && bytes.Equal(copies[0], copies[1]):
		return id, secret, -1, nil
	case secret != nil:
		return id, secret, other, nil
	case errors.Is(errs[0], ErrCorrupt): // what a whole one says is worth more
		return nil, nil, -1, errs[1]
	}
	return nil, nil, -1, errs[0]
}

// writeHeaders writes both copies, one after the other: if both are whole before,
// one of them is at any time.
func (f *slotFile) writeHeaders(h []byte) error {
	for i := range int64(2) {
		if _, err := f.writeAt(h, i*headerPage); err != nil {
			return err
		}
		if err := f.sync(); err != nil {
			return err
		}
	}
	return nil
}

// repairHeader makes a copy of the header as the other one is, which may be the
// only whole one and is not written to.
func (f *slotFile) repairHeader(damaged int64) error {
	h := make([]byte, headerSize)
	if _, err := f.f.ReadAt(h, (1-damaged)*headerPage); err != nil {
		return err
	}
	if err := f.sync(); err != nil { // who wrote it may have been killed before it did
		return err
	}
	if _, err := f.writeAt(h, damaged*headerPage); err != nil {
		return err
	}
	return f.sync()
}

// open opens the key file of the store at path.
func (f *slotFile) open(path string) error {
	file, err := os.OpenFile(path+suffixSlots, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: the key file %s is missing", ErrCorrupt, path+suffixSlots)
	}
	if err != nil {
		return err
	}
	*f = slotFile{f: file, writeAt: file.WriteAt, sync: file.Sync}
	return nil
}

// createSlots makes the key file of a new store under another name and links it
// to its own, unless there is one: then that is used. It returns the id in it.
func createSlots(path string, master []byte) (id []byte, err error) {
	name := path + suffixSlots
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		if err := writeSlots(path, master); err != nil {
			return nil, err
		}
	} else if err := durable.SyncDir(filepath.Dir(path)); err != nil { // before the database has a name: who made the key file was interrupted
		return nil, err
	}
	var file slotFile
	if err := file.open(path); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.f.Close()) }()
	info, err := file.f.Stat()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && info.Size() > headerPage+int64(headerSize) {
		return nil, fmt.Errorf("the key file %s is that of a store whose database is not there: bring it back, or move the key file away", name)
	}
	id, _, _, err = readHeaders(file.f, master)
	return id, err
}

// writeSlots makes a key file without slots and publishes it, unless there is one.
func writeSlots(path string, master []byte) (err error) {
	tmp := path + creationInfix + rand.Text()
	defer func() { _ = os.Remove(tmp) }()
	f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	fresh := make([]byte, idLen+KeySize)
	_, _ = rand.Read(fresh) // never fails
	file := slotFile{f: f, writeAt: f.WriteAt, sync: f.Sync}
	err = file.writeHeaders(sealHeader(fresh[:idLen], fresh[idLen:], master))
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := publish(tmp, path+suffixSlots); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return durable.SyncDir(filepath.Dir(path))
}

// openVault opens the keys of the store of that id. It repairs a copy of the
// header that is damaged, or that an interrupted change of the key left.
func openVault(path string, id, master []byte) (v *vault, err error) {
	var file slotFile
	if err := file.open(path); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = file.f.Close()
		}
	}()
	found, secret, other, err := readHeaders(file.f, master)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(found, id) {
		return nil, fmt.Errorf("%w: the key file %s is that of another store", ErrKey, path+suffixSlots)
	}
	if other >= 0 {
		if err := file.repairHeader(other); err != nil {
			return nil, err
		}
	}
	v = newVault(id, secret)
	v.file = file
	return v, nil
}

// close closes the key file.
func (v *vault) close() error {
	if v == nil {
		return nil
	}
	return v.file.f.Close()
}

// reading lets no slot be overwritten until the function that it returns is
// called: a transaction that reads finds the keys of the sessions it sees.
func (v *vault) reading() (end func()) {
	if v == nil {
		return func() {}
	}
	v.gate.RLock()
	return v.gate.RUnlock
}
