// Package bolt is the default store: one bbolt file for the sessions, and a
// directory beside it for the audio that waits to be analysed. It belongs to
// one process at a time and needs nothing but a file system.
//
// # Files
//
// The store at clinic.db consists of the file clinic.db and the directory
// clinic.db.audio. Both belong to their owner alone (0600, 0700), and to each
// other: audio that no session of the file refers to is removed when the store
// is opened. While audio comes in its name ends in .part; a new database is
// made under a name that ends in .new- and random letters. What a crash left
// of either is swept at Open. Audio names are random.
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
// A commit ends with the sync of one page. If the disk refuses that very sync,
// the call returns the error, but what it did may be seen, and becomes durable
// with the next commit that succeeds.
//
// # Erasure
//
// Audio files are removed from the directory. A removed record can no longer be
// reached, but its bytes stay in free pages of the file until bbolt writes over
// them, and a disk may keep what was written over: where that matters the disk,
// or the records, must be encrypted.
//
// # Layout
//
// All multi-byte numbers in keys are big-endian, so that keys sort as what they
// stand for. Strings of the caller enter keys as SHA-256 or, an ID, behind its
// length, so that no two of them can be confused.
//
//	meta      application, format           who may open the file
//	sessions  primary → record              primary = length, ID, SHA-256 of the account
//	users     user, ^created, ID → primary  in the order of a listing
//	due       due, primary → nothing        in the order of the queue; its sequence counts it
//	audio     reference → primary           which audio is referred to
//
// The primary key names the account: the session of another account is not
// refused but cannot be reached. A record is a version byte, a CRC-32C of key
// and body, and the body, every field of the session in order. So a record that
// was damaged, or stands under another key, is an error and never an answer.
package bolt
