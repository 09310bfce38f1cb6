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

// ErrKey is returned if Options.Key is missing, wrong or of the wrong length for an
// encrypted store, or is given for a plain one.
var ErrKey = errors.New("the key does not fit the store")

// vault holds the keys of an encrypted store. It is nil for a plain one. It is safe
// for concurrent use, except for the fields that say otherwise.
type vault struct {
	id        []byte      // of the store
	slots     cipher.AEAD // seals the data keys of sessions in the key file
	audio     cipher.AEAD // seals the data keys of audio in its files
	documents cipher.AEAD // seals documents
	index     []byte      // key of sum
	mac       []byte      // key of tag

	file   slotFile
	slotMu sync.RWMutex // read-locked by read transactions, locked to overwrite a slot

	// These are used only in write transactions.
	prepared uint64    // slots below it have a durable key
	tx       *bbolt.Tx // the last transaction that changed bucketSlots
	assigned []uint64  // slots assigned in tx, until it is stored

	overwriteMu sync.Mutex // held while slots of pending are overwritten
	mu          sync.Mutex // protects pending and ready
	pending     []uint64   // retired durably, and still to be overwritten
	ready       []uint64   // overwritten, and still retired in the database
}

// slotFile is the key file. Tests make its calls fail.
type slotFile struct {
	f       *os.File
	writeAt func(p []byte, off int64) (int, error)
	sync    func() error
}

// The key file begins with two copies of the header, each on a page of its own, so
// that the master key can be replaced in place. The slots follow.
const (
	suffixSlots  = ".keyslots"
	headerPage   = 4096 // bytes; chosen: the largest sector of common disks
	headerMagic  = "voicescreen key\n"
	headerFormat = 1

	idLen    = 16
	checkLen = 16
	// sealOverhead is what cipher.NewGCMWithRandomNonce adds: nonce and tag.
	sealOverhead = 12 + 16
	headerSize   = len(headerMagic) + 1 + idLen + checkLen + KeySize + sealOverhead + crc32.Size
)

// newAEAD returns AES-256-GCM with a random nonce for each Seal. One key allows 2^32
// of them (NIST SP 800-38D, section 8.3): so many sessions of a store, and so many
// changes of a session.
func newAEAD(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // impossible: the length of key is one of AES
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // impossible: the block is one of AES
	}
	return aead
}

// derive derives a key for one purpose from secret, with HKDF-SHA-256 (RFC 5869) and
// the store's id as salt.
func derive(secret, id []byte, purpose string) []byte {
	key, err := hkdf.Key(sha256.New, secret, id, "voicescreen store/bolt "+purpose, KeySize)
	if err != nil {
		panic(err) // impossible: KeySize is below 255 hashes
	}
	return key
}

// newVault returns the keys that are derived from the store's secret.
func newVault(id, secret []byte) *vault {
	return &vault{
		id:        id,
		slots:     newAEAD(derive(secret, id, "slots")),
		audio:     newAEAD(derive(secret, id, "audio")),
		documents: newAEAD(derive(secret, id, "documents")),
		index:     derive(secret, id, "index"),
		mac:       derive(secret, id, "mac"),
	}
}

// sealHeader returns a header with the store's secret, encrypted under a master key.
func sealHeader(id, secret, master []byte) []byte {
	h := append([]byte(headerMagic), headerFormat)
	h = append(h, id...)
	h = append(h, derive(master, id, "check")[:checkLen]...)
	h = newAEAD(derive(master, id, "secret")).Seal(h, nil, secret, h)
	return binary.BigEndian.AppendUint32(h, crc32.Checksum(h, castagnoli))
}

// openHeader returns the id and secret in a header. The error is ErrKey for an intact
// header that is encrypted with another key.
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

// readHeaders opens the header of a key file; one valid copy is enough. Other is the
// number of the copy that differs from the valid one, -1 if both are equal.
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
	case errors.Is(errs[0], ErrCorrupt): // the error of an intact copy says more
		return nil, nil, -1, errs[1]
	}
	return nil, nil, -1, errs[0]
}

// writeHeaders writes both copies of the header, one after the other, so that one of
// them is intact at any time.
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

// repairHeader overwrites the damaged copy of the header with the other one. It does
// not write to the other one, which may be the only intact copy.
func (f *slotFile) repairHeader(damaged int64) error {
	h := make([]byte, headerSize)
	if _, err := f.f.ReadAt(h, (1-damaged)*headerPage); err != nil {
		return err
	}
	if err := f.sync(); err != nil { // the process that wrote the copy may have been killed before its sync
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

// createSlots creates the key file of a new store, unless there is one already, and
// returns the id in it.
func createSlots(path string, master []byte) (id []byte, err error) {
	name := path + suffixSlots
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		if err := writeSlots(path, master); err != nil {
			return nil, err
		}
	} else if err := durable.SyncDir(filepath.Dir(path)); err != nil { // the name of the key file must be durable before that of the database
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
		return nil, fmt.Errorf("the key file %s belongs to a database that is missing: restore the database, or move the key file away", name)
	}
	id, _, _, err = readHeaders(file.f, master)
	return id, err
}

// writeSlots creates a key file without slots under a temporary name and publishes
// it. If there is a key file already, that one stays.
func writeSlots(path string, master []byte) (err error) {
	tmp := path + creationInfix + rand.Text()
	defer func() { _ = os.Remove(tmp) }()
	f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	random := make([]byte, idLen+KeySize)
	_, _ = rand.Read(random) // never fails
	file := slotFile{f: f, writeAt: f.WriteAt, sync: f.Sync}
	err = file.writeHeaders(sealHeader(random[:idLen], random[idLen:], master))
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := publish(tmp, path+suffixSlots); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return durable.SyncDir(filepath.Dir(path))
}

// openVault opens the keys of the store with that id. It repairs a copy of the header
// that is damaged, or that an interrupted Rekey left.
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
		return nil, fmt.Errorf("%w: the key file %s belongs to another store", ErrKey, path+suffixSlots)
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

// reading keeps all slots from being overwritten until end is called. So a read
// transaction finds the keys of the sessions that it sees.
func (v *vault) reading() (end func()) {
	if v == nil {
		return func() {}
	}
	v.slotMu.RLock()
	return v.slotMu.RUnlock
}
