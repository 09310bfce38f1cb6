package bolt

import (
	"bytes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"go.etcd.io/bbolt"
)

const (
	// slotSize is the length of a slot: a sealed data key and zeros. It divides the
	// sector of a disk, so that no slot stands in two.
	slotSize = 64
	slotBody = KeySize + sealOverhead
	// slotsAt is the offset of slot 0 in the key file.
	slotsAt = 2 * headerPage
	// prepareSlots is how many slots get their keys at once, for later sessions.
	// Chosen: one more sync is negligible beside those of so many new sessions.
	prepareSlots = 1024
)

// The first byte of a key of bucketSlots. A slot below the count that is neither
// retired nor free is a session's.
const (
	slotRetired = 'c' // a slot whose key is to be destroyed
	slotFree    = 'f' // a slot with a new key, with which nothing was sealed
	slotCount   = 'n' // a single entry: how many slots were ever assigned
)

const (
	slotTagLen = 16 // bytes of an HMAC-SHA-256; chosen: as long as the tag of GCM
	slotLen    = 8  // bytes of a slot's number
)

// tag authenticates parts. Without it a flipped bit in the database could make the
// store destroy the key of another session.
func (v *vault) tag(parts ...[]byte) []byte {
	h := hmac.New(sha256.New, v.mac)
	for _, part := range parts {
		h.Write(part)
	}
	return h.Sum(nil)[:slotTagLen]
}

// slotEntry returns the key of a slot in bucketSlots.
func slotEntry(state byte, slot uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{state}, slot)
}

// entries returns at most limit slots in a state. It skips damaged entries.
func (v *vault) entries(tx *bbolt.Tx, state byte, limit int) (slots []uint64) {
	c := tx.Bucket(bucketSlots).Cursor()
	for k, tag := c.Seek([]byte{state}); len(k) > 0 && k[0] == state && len(slots) < limit; k, tag = c.Next() {
		if len(k) == 1+slotLen && hmac.Equal(tag, v.tag(k)) {
			slots = append(slots, binary.BigEndian.Uint64(k[1:]))
		}
	}
	return slots
}

// spare returns the free and the retired slots.
func (v *vault) spare(tx *bbolt.Tx) map[uint64]bool {
	slots := map[uint64]bool{}
	for _, state := range []byte{slotFree, slotRetired} {
		for _, slot := range v.entries(tx, state, math.MaxInt) {
			slots[slot] = true
		}
	}
	return slots
}

// put stores the state of a slot.
func (v *vault) put(tx *bbolt.Tx, state byte, slot uint64) error {
	k := slotEntry(state, slot)
	return tx.Bucket(bucketSlots).Put(k, v.tag(k))
}

// count returns how many slots were ever assigned.
func (v *vault) count(tx *bbolt.Tx) (uint64, error) {
	b := tx.Bucket(bucketSlots).Get([]byte{slotCount})
	if b == nil { // an empty store has no count
		if k, _ := tx.Bucket(bucketSessions).Cursor().First(); k == nil {
			return 0, nil
		}
	}
	if len(b) != slotLen+slotTagLen || !hmac.Equal(b[slotLen:], v.tag([]byte{slotCount}, b[:slotLen])) {
		return 0, fmt.Errorf("%w: the count of the key slots is not authentic", ErrCorrupt)
	}
	return binary.BigEndian.Uint64(b), nil
}

// setCount stores how many slots were ever assigned.
func (v *vault) setCount(tx *bbolt.Tx, n uint64) error {
	b := binary.BigEndian.AppendUint64(nil, n)
	return tx.Bucket(bucketSlots).Put([]byte{slotCount}, append(b, v.tag([]byte{slotCount}, b)...))
}

// newSlot returns the content of a slot, slotSize bytes, with a new data key.
func (v *vault) newSlot(slot uint64) []byte {
	key := make([]byte, KeySize)
	_, _ = rand.Read(key) // never fails
	b := v.slots.Seal(make([]byte, 0, slotSize), nil, key, v.slotData(slot))
	return b[:slotSize]
}

// slotData is the additional data of a sealed slot: the store and the slot's number.
func (v *vault) slotData(slot uint64) []byte {
	return binary.BigEndian.AppendUint64(bytes.Clone(v.id), slot)
}

// overwrite gives slots new keys. When it returns nil the former keys are
// overwritten on the disk.
func (v *vault) overwrite(slots []uint64) error {
	if len(slots) == 0 {
		return nil
	}
	for _, slot := range slots {
		b := v.newSlot(slot)
		v.slotMu.Lock()
		_, err := v.file.writeAt(b, slotsAt+int64(slot)*slotSize)
		v.slotMu.Unlock()
		if err != nil {
			return err
		}
	}
	return v.file.sync()
}

// prepare gives the next prepareSlots slots their keys.
func (v *vault) prepare() error {
	b := make([]byte, 0, prepareSlots*slotSize)
	for i := range uint64(prepareSlots) {
		b = append(b, v.newSlot(v.prepared+i)...)
	}
	if _, err := v.file.writeAt(b, slotsAt+int64(v.prepared)*slotSize); err != nil {
		return err
	}
	if err := v.file.sync(); err != nil {
		return err
	}
	v.prepared += prepareSlots
	return nil
}

// dataKey returns the key in a slot.
func (v *vault) dataKey(slot uint64) (cipher.AEAD, error) {
	if slot > 1<<48 { // chosen: larger than any disk, and its offset does not overflow
		return nil, fmt.Errorf("%w: a record names an impossible key slot", ErrCorrupt)
	}
	var b [slotSize]byte
	_, err := v.file.f.ReadAt(b[:], slotsAt+int64(slot)*slotSize)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("store/bolt: read a key slot: %w", err)
	}
	key, openErr := v.slots.Open(nil, nil, b[:slotBody], v.slotData(slot))
	if err != nil || openErr != nil || [slotSize - slotBody]byte(b[slotBody:]) != [slotSize - slotBody]byte{} {
		return nil, fmt.Errorf("%w: a key slot is not authentic", ErrCorrupt)
	}
	defer clear(key)
	return newAEAD(key), nil
}

// assign assigns a slot to a new session in a transaction. The key in the slot is
// durable already.
func (v *vault) assign(tx *bbolt.Tx) (uint64, error) {
	if err := v.begin(tx); err != nil {
		return 0, err
	}
	if free := v.entries(tx, slotFree, 1); len(free) > 0 {
		v.assigned = append(v.assigned, free[0])
		return free[0], tx.Bucket(bucketSlots).Delete(slotEntry(slotFree, free[0]))
	}
	n, err := v.count(tx)
	if err != nil {
		return 0, err
	}
	if n >= v.prepared {
		if err := v.prepare(); err != nil {
			return 0, fmt.Errorf("store/bolt: prepare key slots: %w", err)
		}
	}
	v.assigned = append(v.assigned, n)
	return n, v.setCount(tx, n+1)
}

// begin must be called before a transaction changes bucketSlots. Slots that were
// assigned in an earlier transaction that was not stored get new keys, since records
// sealed with the present ones may be on the disk.
func (v *vault) begin(tx *bbolt.Tx) error {
	if v.tx == tx {
		return nil
	}
	var again []uint64
	if len(v.assigned) > 0 {
		n, err := v.count(tx)
		if err != nil {
			return err
		}
		for _, slot := range v.assigned { // a commit whose last sync failed may be stored
			b := tx.Bucket(bucketSlots)
			if slot >= n || b.Get(slotEntry(slotFree, slot)) != nil || b.Get(slotEntry(slotRetired, slot)) != nil {
				again = append(again, slot)
			}
		}
	}
	if err := v.overwrite(again); err != nil {
		return fmt.Errorf("store/bolt: renew key slots: %w", err)
	}
	v.tx, v.assigned = tx, nil
	tx.OnCommit(func() { v.assigned = nil })
	return v.freeOverwritten(tx)
}

// freeOverwritten moves the retired slots whose keys are overwritten to the free
// ones in the database. It drops slots from v.ready that are not retired any more: a
// commit that reported an error has moved them, and they may be assigned again.
func (v *vault) freeOverwritten(tx *bbolt.Tx) error {
	v.mu.Lock()
	former := v.ready
	v.mu.Unlock()
	var ready []uint64
	for _, slot := range former {
		if tx.Bucket(bucketSlots).Get(slotEntry(slotRetired, slot)) != nil {
			ready = append(ready, slot)
		}
	}
	v.mu.Lock()
	v.ready = append(ready, v.ready[len(former):]...) // destroy may have appended others
	v.mu.Unlock()
	for _, slot := range ready {
		if err := tx.Bucket(bucketSlots).Delete(slotEntry(slotRetired, slot)); err != nil {
			return err
		}
		if err := v.put(tx, slotFree, slot); err != nil {
			return err
		}
	}
	if len(ready) > 0 {
		tx.OnCommit(func() {
			v.mu.Lock()
			defer v.mu.Unlock()
			v.ready = v.ready[len(ready):]
		})
	}
	return nil
}

// retire marks the key slot of a session as retired and adds it to todo. Store.erase
// destroys the key after the commit; if the process ends before that, Open does. If
// the record is damaged and does not name its slot, retire does so with all orphans.
func (v *vault) retire(tx *bbolt.Tx, primary []byte, todo *erasure) error {
	if v == nil {
		return nil
	}
	if err := v.begin(tx); err != nil {
		return err
	}
	var slots []uint64
	if slot, ok := v.slotOf(primary, tx.Bucket(bucketSessions).Get(primary)); ok {
		slots = []uint64{slot}
	} else {
		var err error
		if slots, err = v.orphans(tx); err != nil && !errors.Is(err, ErrCorrupt) {
			return err
		}
	}
	for _, slot := range slots {
		if err := v.put(tx, slotRetired, slot); err != nil {
			return err
		}
	}
	todo.slots = append(todo.slots, slots...)
	return nil
}

// orphans returns the assigned slots that no record names.
func (v *vault) orphans(tx *bbolt.Tx) (slots []uint64, err error) {
	n, err := v.count(tx)
	if err != nil {
		return nil, err
	}
	used := v.spare(tx)
	err = tx.Bucket(bucketSessions).ForEach(func(primary, record []byte) error {
		if slot, ok := v.slotOf(primary, record); ok {
			used[slot] = true
		}
		return nil
	})
	for slot := range n {
		if !used[slot] {
			slots = append(slots, slot)
		}
	}
	return slots, err
}

// destroy overwrites the keys of retired slots, and of those that an earlier call
// failed to overwrite. Concurrent calls share a sync.
func (v *vault) destroy(slots []uint64) error {
	if v == nil {
		return nil
	}
	v.mu.Lock()
	v.pending = append(v.pending, slots...)
	v.mu.Unlock()
	v.overwriteMu.Lock()
	defer v.overwriteMu.Unlock()
	v.mu.Lock()
	pending := v.pending
	v.pending = nil
	v.mu.Unlock()
	err := v.overwrite(pending)
	v.mu.Lock()
	defer v.mu.Unlock()
	if err != nil {
		v.pending = append(v.pending, pending...)
		return err
	}
	v.ready = append(v.ready, pending...)
	return nil
}

// restore completes the work of an interrupted process: it destroys the keys of
// retired slots, and renews the keys of free slots that may have been assigned in a
// transaction that was not stored.
func (v *vault) restore(tx *bbolt.Tx) error {
	n, err := v.count(tx)
	if err != nil {
		return nil // no new slot can be assigned; all other calls work
	}
	info, err := v.file.f.Stat()
	if err != nil {
		return err
	}
	if uint64(max(info.Size()-slotsAt, 0))/slotSize < n {
		return fmt.Errorf("%w: the key file is cut short", ErrCorrupt)
	}
	v.prepared = n
	if err := v.prepare(); err != nil {
		return err
	}
	if err := v.destroy(v.entries(tx, slotRetired, int(min(n, 1<<31)))); err != nil {
		return err
	}
	return v.overwrite(v.entries(tx, slotFree, maxBatch))
}

// keyFile returns the content of a key file for a backup of the store as tx sees it.
// It ends after the last slot that was assigned. Free and retired slots get other
// keys than in the store, whose keys are for later sessions.
func (v *vault) keyFile(tx *bbolt.Tx) io.Reader {
	end := int64(math.MaxInt64) // all slots if the count is damaged: no further slot is assigned then
	if n, err := v.count(tx); err == nil {
		end = slotsAt + int64(n)*slotSize
	}
	slots := &slotReader{vault: v, r: io.NewSectionReader(v.file.f, slotsAt, end-slotsAt), spare: v.spare(tx)}
	return io.MultiReader(io.NewSectionReader(v.file.f, 0, slotsAt), slots)
}

// slotReader reads slots and replaces the content of spare ones.
type slotReader struct {
	vault *vault
	r     io.Reader // from slot 0 on
	spare map[uint64]bool
	next  uint64 // number of the next slot
}

// Read reads whole slots. P must have room for one at least.
func (r *slotReader) Read(p []byte) (int, error) {
	n, err := io.ReadFull(r.r, p[:len(p)/slotSize*slotSize])
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	for at := 0; at+slotSize <= n; at += slotSize {
		if r.spare[r.next] {
			copy(p[at:], r.vault.newSlot(r.next))
		}
		r.next++
	}
	return n, err
}
