// Package audit keeps an append-only log of calls, and verifies that it was not
// changed afterwards.
//
// # The file
//
// A log is a file of JSON lines, one record each. A record has a sequence
// number, the time in UTC, an [Event], the hash of the record before it, and
// its own hash, which is the SHA-256 of the part of the line before it. With a key
// ([Options.Key]) it is the HMAC-SHA-256, which nobody can make without the key.
// Records are only appended: the file may be on a write-once medium or have the
// attribute append-only ("chattr +a").
//
// The first record of a file is [ActionBegin]; each time that the log is opened
// again, [ActionResume] follows.
//
// The head is a second file with the suffix ".head": one line with the number and
// the hash of the last record, under its own hash or HMAC. It is overwritten after
// the records are durable. It is synced only when the log is opened: after a power
// failure it may name an earlier record since then.
//
// # What Verify detects
//
// [Verify] finds every record that was changed, inserted, moved or deleted, and
// returns the line; the head shows that records were deleted from the end. Without
// a key the hashes detect accidents only: anyone who can write both files can
// compute all hashes again. With a key two attacks remain: to restore an old copy
// of both files, or to restore an old head and to damage the later records as a
// crash would. A [Head] that is kept elsewhere detects both, and replacement
// without a key too: [Log.Head] and [Log.Close] return it, and
// [VerifyOptions.Heads] takes it.
//
// # Durability
//
// [Log.Append] returns when the record is durable. Concurrent records share one
// write and one fsync. After an error of the disk the log accepts no records until
// it is opened again: after a failed fsync the content of the disk is unknown.
//
// # After a crash
//
// A crash can leave a torn end after the last whole record. No Append returned for
// it. It stays in the file: [ActionResume] records its length and hash, and Verify
// accepts exactly these bytes. A power failure can lose any part of the last
// write, so that whole records of that write after a damaged one are torn too. A
// last record without its line end is kept. Open refuses a file in these cases, and
// the operator must examine it and begin a new one: a record is missing that the
// head names as durable; a record does not fit its chain; records are damaged and
// the head is missing; or more than one write follows the damage.
//
// An empty head file counts as a missing one: a crash can leave it while the log
// is created.
//
// One sequence of failures is found only by Verify: an fsync fails, the process
// ends, a second process opens the log, and then the power fails. The second
// process read records from the page cache that the disk never had; they may be
// missing before its own. No Append returned for them.
//
// # Rotation
//
// To begin a new file, open one with the name of the old file in [Options.After]:
// its first record follows the last record of the old file, and Verify takes both
// files in order. A file of expired records may then be deleted: the next file
// holds the number and the hash of the record before its first.
package audit
