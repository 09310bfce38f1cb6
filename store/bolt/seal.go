package bolt

import (
	"bytes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/internal/stream"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/audio"
)

// sealedVersion is the first byte of the sealed record of a session. The number of
// its slot, the tag of version and slot, and the sealed record follow. No plain
// record begins with this byte.
const sealedVersion = 0x81

// sealedPrefix is the length of a sealed record before the nonce.
const sealedPrefix = 1 + slotLen + slotTagLen

// slotOf returns the slot that a sealed record names. Ok reports whether its tag is
// authentic.
func (v *vault) slotOf(primary, record []byte) (slot uint64, ok bool) {
	if len(record) < sealedPrefix || record[0] != sealedVersion ||
		!hmac.Equal(record[1+slotLen:sealedPrefix], v.tag(record[:1+slotLen], primary)) {
		return 0, false
	}
	return binary.BigEndian.Uint64(record[1:]), true
}

// recordData is the additional data of a sealed record: the store, the slot and the
// session.
func (v *vault) recordData(primary, prefix []byte) []byte {
	b := make([]byte, 0, len(v.id)+len(prefix)+len(primary))
	b = append(b, v.id...)
	b = append(b, prefix...)
	return append(b, primary...)
}

// sessionKey is the key that seals the records of a session; zero in a plain store.
type sessionKey struct {
	aead cipher.AEAD
	slot uint64
}

// seal encrypts the record of a session under the session's key, and returns the
// key. A new session is assigned one.
func (v *vault) seal(tx *bbolt.Tx, primary, record []byte) (_ []byte, key sessionKey, err error) {
	if v == nil {
		return record, key, nil
	}
	if former := tx.Bucket(bucketSessions).Get(primary); former == nil {
		key.slot, err = v.assign(tx)
	} else if s, ok := v.slotOf(primary, former); ok {
		key.slot = s
	} else {
		err = fmt.Errorf("%w: the key slot of a record is not authentic", ErrCorrupt)
	}
	if err != nil {
		return nil, key, err
	}
	if key.aead, err = v.dataKey(key.slot); err != nil {
		return nil, key, err
	}
	b := make([]byte, 0, sealedPrefix+len(record)+sealOverhead)
	b = append(b, sealedVersion)
	b = binary.BigEndian.AppendUint64(b, key.slot)
	b = append(b, v.tag(b, primary)...)
	return key.aead.Seal(b, nil, record, v.recordData(primary, b)), key, nil
}

// open decrypts the record of a session, and returns the session's key.
func (v *vault) open(primary, record []byte) (_ []byte, key sessionKey, err error) {
	if v == nil {
		return record, key, nil
	}
	if len(record) < sealedPrefix || record[0] != sealedVersion {
		return nil, key, fmt.Errorf("%w: a record is not encrypted", ErrCorrupt)
	}
	key.slot = binary.BigEndian.Uint64(record[1:])
	if key.aead, err = v.dataKey(key.slot); err != nil {
		return nil, key, err
	}
	prefix := record[:sealedPrefix]
	plain, err := key.aead.Open(nil, nil, record[sealedPrefix:], v.recordData(primary, prefix))
	if err != nil {
		return nil, key, fmt.Errorf("%w: a record is not authentic", ErrCorrupt)
	}
	return plain, key, nil
}

// analysisSealed is the first byte of a sealed record of scores and features. The
// sealed record follows.
const analysisSealed = 0x82

// analysisData is the additional data of a sealed record of scores and features: the
// store, the slot and the session.
func (v *vault) analysisData(key sessionKey, primary []byte) []byte {
	return v.recordData(primary, binary.BigEndian.AppendUint64([]byte{analysisSealed}, key.slot))
}

// sealAnalysis encrypts a record of scores and features under the session's key.
func (v *vault) sealAnalysis(key sessionKey, primary, record []byte) []byte {
	if v == nil {
		return record
	}
	b := append(make([]byte, 0, 1+len(record)+sealOverhead), analysisSealed)
	return key.aead.Seal(b, nil, record, v.analysisData(key, primary))
}

// openAnalysis decrypts a record of scores and features.
func (v *vault) openAnalysis(key sessionKey, primary, record []byte) ([]byte, error) {
	if v == nil {
		return record, nil
	}
	if len(record) == 0 || record[0] != analysisSealed {
		return nil, fmt.Errorf("%w: a record of scores is not encrypted", ErrCorrupt)
	}
	plain, err := key.aead.Open(nil, nil, record[1:], v.analysisData(key, primary))
	if err != nil {
		return nil, fmt.Errorf("%w: a record of scores is not authentic", ErrCorrupt)
	}
	return plain, nil
}

// An audio file of an encrypted store begins with audioMagic and its data key,
// sealed; a stream of package internal/stream follows. The key is overwritten
// with zeros before the file is removed.
const (
	audioMagic  = "vsa\x01"
	audioHeader = len(audioMagic) + stream.KeySize + sealOverhead
)

// audioData is the additional data of the sealed key of an audio file: the store and
// the reference.
func (v *vault) audioData(ref string) []byte { return append(bytes.Clone(v.id), ref...) }

// sealAudio is audio.Cipher.Seal. It makes a new key for each file.
func (v *vault) sealAudio(ref string, w io.Writer) (io.WriteCloser, error) {
	key := make([]byte, stream.KeySize)
	_, _ = rand.Read(key) // never fails
	defer clear(key)
	_, err := w.Write(v.audio.Seal([]byte(audioMagic), nil, key, v.audioData(ref)))
	return stream.NewWriter(w, key), err
}

// audioCipher returns the cipher of audio files, nil in a plain store.
func (v *vault) audioCipher() *audio.Cipher {
	if v == nil {
		return nil
	}
	return &audio.Cipher{Seal: v.sealAudio, Open: v.openAudio, HeaderLen: audioHeader}
}

// openAudio is audio.Cipher.Open.
func (v *vault) openAudio(ref string, f io.ReadCloser) (_ io.ReadCloser, err error) {
	defer func() {
		if err != nil {
			_ = f.Close()
		}
	}()
	var header [audioHeader]byte
	_, err = io.ReadFull(f, header[:])
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return nil, fmt.Errorf("%w: audio is cut short", ErrCorrupt)
	case err != nil:
		return nil, fmt.Errorf("store/bolt: open audio: %w", err)
	case header == [audioHeader]byte{}: // the file is being removed
		return nil, store.ErrNotFound
	case string(header[:len(audioMagic)]) != audioMagic:
		return nil, fmt.Errorf("%w: audio is not encrypted", ErrCorrupt)
	}
	key, err := v.audio.Open(nil, nil, header[len(audioMagic):], v.audioData(ref))
	if err != nil {
		return nil, fmt.Errorf("%w: audio is not authentic", ErrCorrupt)
	}
	defer clear(key)
	return &sealedAudio{f: f, r: stream.NewReader(f, key)}, nil
}

// sealedAudio reads an encrypted audio file.
type sealedAudio struct {
	f io.Closer
	r *stream.Reader
}

func (a *sealedAudio) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	if errors.Is(err, stream.ErrCorrupt) {
		err = fmt.Errorf("%w: audio is not authentic", ErrCorrupt)
	}
	return n, err
}

func (a *sealedAudio) Close() error { return a.f.Close() }
