package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/store"
)

// The first byte of the record of a document; doc.go has the layout.
const (
	documentPlain  = 1
	documentSealed = 0x83

	documentHead = 1 + 8
)

// Documents returns the names of the documents that were put, in order.
func (s *Store) Documents(ctx context.Context) (names []string, err error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	err = s.view(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketDocuments).ForEach(func(name, _ []byte) error {
			names = append(names, string(name))
			return nil
		})
	})
	return names, err
}

// Document is described at [store.Store].
func (s *Store) Document(ctx context.Context, name string) (data []byte, revision uint64, err error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, 0, err
	}
	defer s.calls.End()
	if err := store.CheckDocument(name, 0); err != nil {
		return nil, 0, err
	}
	err = s.view(func(tx *bbolt.Tx) (err error) {
		data, revision, err = s.vault.document(name, tx.Bucket(bucketDocuments).Get([]byte(name)))
		return err
	})
	return data, revision, err
}

// PutDocument is described at [store.Store]. It replaces a damaged document too if
// the caller gives the revision that its record begins with; a record that is too
// short for one counts as revision 0.
func (s *Store) PutDocument(ctx context.Context, name string, revision uint64, data []byte) (uint64, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return 0, err
	}
	defer s.calls.End()
	if err := store.CheckDocument(name, len(data)); err != nil {
		return 0, err
	}
	record := s.vault.documentRecord(name, revision+1, data)
	err := s.group.do(func(b *batch) error {
		var stored uint64
		err := guard(func() error {
			if r := b.tx.Bucket(bucketDocuments).Get([]byte(name)); len(r) >= documentHead {
				stored = binary.BigEndian.Uint64(r[1:])
			}
			return nil
		})
		if err != nil {
			return err
		}
		if stored != revision {
			return store.ErrConflict
		}
		return b.write(func(tx *bbolt.Tx) error { return tx.Bucket(bucketDocuments).Put([]byte(name), record) })
	})
	if err != nil {
		return 0, err
	}
	return revision + 1, nil
}

// documentRecord returns the record of a document.
func (v *vault) documentRecord(name string, revision uint64, data []byte) []byte {
	if v == nil {
		b := make([]byte, 0, documentHead+crc32.Size+len(data))
		b = binary.BigEndian.AppendUint64(append(b, documentPlain), revision)
		b = binary.BigEndian.AppendUint32(b, documentSum(name, b[1:], data))
		return append(b, data...)
	}
	b := make([]byte, 0, documentHead+len(data)+sealOverhead)
	b = binary.BigEndian.AppendUint64(append(b, documentSealed), revision)
	return v.documents.Seal(b, nil, data, v.documentData(name, b))
}

// documentSum is the checksum of a plain document.
func documentSum(name string, revision, data []byte) uint32 {
	sum := crc32.Checksum([]byte(name), castagnoli)
	sum = crc32.Update(sum, castagnoli, revision)
	return crc32.Update(sum, castagnoli, data)
}

// documentData is the additional data of a sealed document: the store, the name and
// the revision.
func (v *vault) documentData(name string, head []byte) []byte {
	return append(append(bytes.Clone(v.id), head...), name...)
}

// document returns the content and revision in a record, nil and 0 for a nil
// record: a document that was never put.
func (v *vault) document(name string, record []byte) (data []byte, revision uint64, err error) {
	if record == nil {
		return nil, 0, nil
	}
	kind := byte(documentPlain)
	if v != nil {
		kind = documentSealed
	}
	if len(record) < documentHead+crc32.Size || record[0] != kind {
		return nil, 0, fmt.Errorf("%w: a document is cut short or of another kind", ErrCorrupt)
	}
	head, body := record[:documentHead], record[documentHead:]
	revision = binary.BigEndian.Uint64(head[1:])
	if v != nil {
		if data, err = v.documents.Open(nil, nil, body, v.documentData(name, head)); err != nil {
			return nil, 0, fmt.Errorf("%w: a document is not authentic", ErrCorrupt)
		}
		return data, revision, nil
	}
	data = bytes.Clone(body[crc32.Size:])
	if binary.BigEndian.Uint32(body) != documentSum(name, head[1:], data) {
		return nil, 0, fmt.Errorf("%w: a document does not match its checksum", ErrCorrupt)
	}
	return data, revision, nil
}
