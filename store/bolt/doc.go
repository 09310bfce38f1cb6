// Package bolt is the default store: one bbolt file for the sessions, and a
// directory beside it for the audio that waits to be analysed. One process at a
// time can open it. It needs nothing but a file system.
//
// # Files
//
// The store at clinic.db consists of the file clinic.db, the directory
// clinic.db.audio and, if the store is encrypted, the file clinic.db.keyslots. Only
// their owner may read them (modes 0600 and 0700). They belong together: Open
// removes audio that no session of the database refers to. Audio names are random.
// The name of an unfinished audio file ends in .part. The name of an unfinished
// database or key file ends in .new- and random letters. Open removes unfinished
// files that a crash left.
//
// # Clock
//
// All times are the store's ([store.NewClock]). Open makes due what an earlier
// process leased or put off, as [store.MaxDelay] describes. So the queue waits
// neither for the lease of a dead process nor for a clock that was set back.
//
// # Durability
//
// A call that changes something returns nil only after the change is on the disk.
// Bbolt syncs the file at each commit. Audio is written under a temporary name,
// synced and renamed, and the directory is synced. A new database gets its name
// only when it is complete and synced: a power failure leaves a complete one or
// none. Calls that arrive during a commit share the next commit (group commit), so
// many clients wait for few syncs. A single client waits for no other.
//
// A commit ends with the write and the sync of one meta page. If one of these
// fails, later calls see the change, but it may not be on the disk. The store then
// writes and syncs the meta pages again at once. If this succeeds, the call
// succeeds. Otherwise the call returns the error, and no other change is stored
// until a retry succeeds, which makes the failed change durable too. A retry always
// writes again, since operating systems mark pages that a sync could not write as
// clean. A failure before the meta page rolls the change back. No fault needs a
// restart.
//
// # Erasure
//
// Audio files are removed from the directory. A removed record cannot be read
// through the store, but its bytes stay in free pages of the file until bbolt
// overwrites them, and a disk may keep overwritten data. Where this matters, encrypt
// the store.
//
// # Encryption
//
// With Options.Key a new store is encrypted, and opens only with that key: 32 random
// bytes, for example the 64 hexadecimal digits of "openssl rand -hex 32", decoded.
// Every session and every audio file has a random key of its own (AES-256-GCM),
// which is destroyed when the session or file is removed.
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
//	                                     sizes and numbers of records and audio
//
// The data keys of sessions stand only in slots of 64 bytes in the file
// clinic.db.keyslots. They do not stand in the database, since bbolt keeps removed
// data in free pages. A record names its slot. When a session is removed, its slot
// is overwritten in place with a new key for a later session, and synced, before
// the call returns. Slots get their keys 1024 at a time, synced before a session is
// assigned one: a new session waits only for the sync of its record. Bucket slots
// lists the free slots and the retired ones, whose keys are still to be
// overwritten. A slot is retired in the transaction that removes its session; Open
// completes what a crash interrupted.
//
// Audio is a stream of authenticated chunks (package internal/stream). Its sealed
// key stands at the beginning of the file. The key is overwritten with zeros, and
// synced, before the file is removed.
//
// Tampering and damage are reported as ErrCorrupt: a changed bit in a record, slot
// or audio file; a record, slot or audio file that was exchanged with another, of
// this store or another; audio that was cut, extended or reordered.
//
// Not detected is a return to an earlier state, since the store has nothing to
// compare with. Who can write to the files can put back an earlier copy of the
// whole store, or of the record of a session that is still stored, or remove index
// entries so that a session is not found. A changed bit in the structure of a page
// can hide a session too: bbolt has no checksums. Who has Options.Key and the
// files, or can read the memory of the process, can read everything. A killed
// process may leave audio of which no session was stored; Open destroys its key.
//
// Destroyed means overwritten in the file. The old content can survive on a disk
// with wear levelling, in a file system that copies on write, in a snapshot and in
// a backup. A removed session is then lost for good only when these are destroyed,
// or Options.Key is, which none of them holds. Keep the key on another disk.
//
// Backup copies database, audio and keys while the store is written to. The three
// belong together: a database without its key file is refused, and with a key file
// of another time some sessions cannot be read. Rekey replaces the key. Copy makes
// an encrypted store of a plain one; the content of the plain one stays on its
// disk.
//
// # Layout
//
// All multi-byte numbers in keys are big-endian, so that keys sort as the numbers
// do. Strings of the caller enter keys as SHA-256, except session IDs, which follow
// their length: no two different strings give the same key.
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
//	slots     state, slot → tag             of encrypted stores: free and retired slots
//
// The primary key includes the account, so no call can reach the session of another
// account. A record is a version byte, a CRC-32C of key, version and body, and the
// body. The body of a session's record begins with the checksum of the record of
// its scores and features, if it has one. So a damaged record, a record under
// another key, and scores of another time than their session are all detected.
//
// Scores and features have a record of their own: they are a dozen times as long
// as the rest of a session and are written once. Feedback, leases and notices
// neither read nor write them.
//
// A document begins with a byte for its kind and its revision. In a plain store, a
// CRC-32C of name, revision and content and the content follow; in an encrypted
// store, the content, sealed under a key derived from the store's secret.
//
// # Versions
//
// This is format 1. Open refuses every other format and names it. A record has a
// version of its own; its fields are CBOR with the keys of [store.Marshal], so a new
// field changes neither version. A sealed record is a version byte, the slot, a tag
// of these, and the sealed record. A sealed record of scores and features is a
// version byte and the record, sealed with the session's key.
package bolt
