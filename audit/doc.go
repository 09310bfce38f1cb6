// Package audit keeps an append-only log of who did what, and shows whether it
// was changed afterwards.
//
// # The file
//
// A log is a file of JSON lines, one record each. A record has a sequence
// number, the time in UTC, an [Event], the hash of the record before it, and
// its own hash, which is the SHA-256 of all that stands before it in its line.
// With a key ([Options.Key]) it is the HMAC-SHA-256: whoever can write the file
// and has no key cannot make a hash that fits. Nothing is ever taken out of a
// file or written over: it may be on a medium, or have an attribute
// ("chattr +a"), that allows appending only.
//
// The first record of a file is [ActionBegin]; each time that the log is opened
// again, [ActionResume] follows.
//
// Beside the log stands its head, a file of one line with the suffix ".head"
// that names the last record, under a hash or HMAC of its own. It is written
// over after the records are durable, and is itself made durable when the log
// is opened: after a power failure it may be an older one of that time.
//
// # What a chain can show, and what not
//
// [Verify] finds every record that was changed, inserted, moved or deleted, and
// says in which line; the head shows that records were deleted from the end.
// But a chain without a key protects against accidents and against those who do
// not know how it is made: anyone who can write both files can compute all
// hashes anew. With a key they cannot, and what remains is to put back an old
// copy of both files, or of the head and then to destroy records as if a crash
// had left them torn. Against that, and where there is no key, helps a [Head]
// that is kept elsewhere: Open and Close return or log it, and Verify takes it.
//
// # Durability
//
// [Log.Append] returns when the record is on the disk. Records that wait at
// the same time share one write and one fsync. After an error of the disk the
// log takes no more records until it is opened again: what an fsync that failed
// has written nobody knows.
//
// # After a crash
//
// What a crash left behind the last whole record was acknowledged to nobody. It
// is called torn, and stays: [ActionResume] says how long it is and what its
// hash is, and Verify accepts exactly that. Of a write that a power failure
// broke off any part may be missing: whole records of the same write, behind
// one that is not, are torn too. A last record that is whole and lacks only its
// line end is kept as a record. If records are missing that the head says were
// durable, or if a record does not fit its chain, Open refuses: such a file
// must be looked at, and a new one be begun. It also refuses where records are
// damaged and there is no head, or more than one write stands behind them.
//
// A head without content is none: a crash while a log is made leaves that.
//
// Where an fsync fails, the process ends, another opens the log, and then the
// power fails, records that nobody was told of may be missing in the midst of
// others, which Verify finds: systems give the other process what is not on the
// disk.
//
// # Rotation
//
// To begin a new file, open one with [Options.After] naming the old: its first
// record has the number and the hash that follow those of the last, and Verify
// takes both files in order. A file whose records are all too old may then be
// deleted: what is left still shows which number and hash it begins after.
package audit
