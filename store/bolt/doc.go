// Package bolt is the default store: one bbolt file for the sessions, and a
// directory beside it for the audio that waits to be analysed. It belongs to
// one process at a time and needs nothing but a file system.
//
// # Files
//
// The store at clinic.db consists of the file clinic.db and the directory
// clinic.db.audio, and if it is encrypted of the file clinic.db.keyslots too.
// Only their owner may read them (0600, 0700). They belong together: Open, which no
// other process can be beside, removes audio that no session of the file refers
// to. The name of audio that is being written ends in .part; a new database, or
// key file, is made under a name that ends in .new- and random letters. Open
// removes what a crash left of either. Audio names are random.
//
// # Clock
//
// All times are the store's ([store.NewClock]). No lease outlives the process: Open
// makes due what an earlier process leased or put off, as [store.MaxDelay] says.
// So neither a dead process nor a clock that was set back holds up the queue.
//
// # Durability
//
// A call that changes something returns nil only after the disk has it: bbolt
// syncs the file at each commit, and audio is written to a temporary name,
// synced, renamed, and the directory synced. A new database gets its name only
// when it is complete and synced, so a power cut leaves a whole one or none.
// Calls that come while a commit is under way share the next one: many clients
// together wait for few syncs, and a single client for no one else.
//
// A commit ends with the write and the sync of one page. If the disk refuses
// these, what the call did is seen and may not be on the disk. The page is then
// written and synced again, at once and before any other change: once that
// succeeds all is as if nothing had happened. If it does not succeed at once,
// the call returns the error, though what it did becomes durable with the next
// change; until then no change is stored. A sync alone is not tried again: the
// system takes what it could not write for written.
//
// What the disk refuses before that leaves all as it was. No fault needs a
// restart.
//
// # Erasure
//
// Audio files are removed from the directory. A removed record can no longer be
// reached, but its bytes stay in free pages of the file until bbolt writes over
// them, and a disk may keep what was written over: where that matters the
// store must be encrypted.
//
// # Encryption
//
// With Options.Key a new store is encrypted, and opened again with that key: 32
// random bytes, of which "openssl rand -hex 32" makes the 64 digits. Every
// session has a random key of its own (AES-256-GCM), and so has each audio file;
// removing it destroys that key.
//
//	encrypted and authenticated          visible to who reads the files
//	-------------------------------------------------------------------------------
//	records: every field of a session    that it is a store, its format, a random id
//	audio: the content                   IDs of sessions and audio, which are random
//	data keys, under the store's         when sessions were created, are due, are
//	secret; that, under Options.Key      notified, and since when they are kept
//	documents: the content               names, revisions and sizes of documents
//	account and user: HMAC-SHA-256       which sessions are of one account or user
//	in keys, in place of plain hashes    which have scores
//	                                     sizes of records and audio, how many there are
//
// The data keys of sessions stand in slots of 64 bytes in the file
// clinic.db.keyslots and nowhere else: bbolt keeps what was removed in free
// pages, and a key that stood in the record would live on there. A record names
// its slot. When the session goes, the slot is overwritten in place with the key
// of a session to come, and synced, before the call returns. Slots get their
// keys a thousand at once, synced before any session is assigned one: a new
// session waits for no sync but that of its record. Which slots are free, and
// which are retired and still to be overwritten, stands in bucket slots, in
// the transaction that removes the session: Open does what a crash left. Audio
// is a stream of chunks of 64 KiB, each authenticated with its number and
// whether it is the last (package internal/stream); its key stands sealed at its
// beginning, and is overwritten with zeros, and synced, before the file is
// removed.
//
// What was changed is an error, ErrCorrupt, and never an answer: a bit anywhere
// in a record, a slot or audio; a record, slot or audio in the place of another,
// of this store or of another one; audio that was cut, continued or reordered.
// Not found is what only a memory of before could show: who can write to the
// files can put back the whole store as it was, or the former record of a
// session that is still there, or take entries out of the indexes so that a
// session is not found. A bit that turns over in the structure of a page can
// hide a session too: bbolt has no checksums. Who has Options.Key and the files,
// or reads the memory of the process, has all. A process that is killed leaves
// audio behind whose session is not stored; Open wipes its key.
//
// Destroyed means overwritten in the file. A disk that levels wear, a file
// system that copies on write, a snapshot and a backup may keep what was there:
// a removed session is then lost for good only when those are, or when
// Options.Key is, of which they hold nothing. Keep the key on another disk.
//
// Backup copies all three parts while the store is written to. They belong
// together: a database without its key file is refused, and beside a key file of
// another time some sessions cannot be read. Rekey replaces the key, and Copy
// makes an encrypted store of a plain one. What the plain one held stays on its
// disk.
//
// # Layout
//
// All multi-byte numbers in keys are big-endian, so that keys sort as what they
// stand for. Strings of the caller enter keys as SHA-256 or, an ID, behind its
// length, so that no two of them can be confused.
//
//	meta      application, format           who may open the file
//	sessions  primary → record              primary = length, ID, SHA-256 of the account
//	analyses  primary → record              scores and features of the sessions that have some
//	users     user, ^created, ID → primary  in the order of a listing
//	due       due, primary → nothing        in the order of the queue; its sequence counts it
//	audio     reference → primary           which audio is referred to
//	notices   SHA-256 of the account, notify, primary → nothing
//	kept      kept since, primary → nothing  what may expire, longest kept first
//	documents name → revision, content
//	slots     state, slot → tag             of encrypted stores: what is not a session's
//
// The primary key names the account: the session of another account is not
// refused but cannot be reached. A record is a version byte, a CRC-32C of key,
// version and body, and the body. That of a session begins with the checksum of the
// record of its scores and features, if it has some. So a record that
// was damaged, stands under another key, or beside one of another time, is an
// error and never an answer.
//
// Scores and features have a record of their own since they are a dozen times as
// long as all else and are written once: feedback, leases and notices neither
// read nor write them.
//
// Documents begin with a byte for their kind and their revision; a CRC-32C of
// name, revision and content, and the content follow, or the content sealed under
// a key that is derived from the store's secret.
//
// # Versions
//
// This is format 1. Open refuses every other one and names it. A record has a
// version of its own; the fields in it are CBOR with the keys of [store.Marshal],
// so that a new field changes neither. A sealed record is a version byte, the
// slot, a tag of these and the record, sealed; one of scores and features is a
// version byte and the record, sealed with the session's key.
package bolt
