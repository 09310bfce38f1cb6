// Package postgres is a store in a PostgreSQL database, which any number of
// processes may use at the same time: replicas of a service need nothing else to
// agree. It needs PostgreSQL 14 or later and a role that may create a schema; a
// role that may only read and write the tables is enough when they exist.
//
// # Tables
//
// All stand in the schema voicescreen:
//
//	sessions      one row a session, a column for each field
//	audio         recordings that wait to be analysed
//	audio_chunks  their bytes, in rows of 256 KiB, unless they are elsewhere
//	documents     name, revision, content
//	encryption    the secret of an encrypted store, sealed
//	ping          what Ping writes
//	migrations    which steps were taken, and when
//	tenants       which accounts a role sees, with row-level security
//
// Columns can be read in psql: texts, times, states and products by name,
// metadata, labels and failures as JSON. Scores and features are one value in
// CBOR (store.AppendAnalysis), which lists, leases and feedback do not read. The
// texts are compared by their bytes. File sql.go has all statements, directory
// migrations the tables.
//
// # Transactions
//
// Create, Delete, Forget, Expire and PutDocument are one statement each, the
// removal of the audio included. Update, Next and NextNotice are a transaction
// of two round trips: BEGIN and SELECT … FOR UPDATE in the first; the change is
// made in this process; UPDATE and COMMIT in the second. Next passes over rows
// that others hold (SKIP LOCKED).
//
// The time is that of the server's clock, read when the row is locked. The clocks
// of the replicas have no part in it. If the server's clock is set back, the time
// stands in each process until that clock is there again.
//
// Serialization failures, deadlocks and lost connections are tried again, up to
// five times, as long as no commit was sent. An error that follows a commit says
// that the change may have been made. Nothing is acknowledged that the server has
// not synced: Open refuses a server with fsync or synchronous_commit off.
//
// # The queue
//
// The indexes of Next and NextNotice hold only rows that wait; finished rows leave
// them. An old transaction on the server, such as a backup, keeps the entries of
// rows that have left: a search from the beginning of the queue then becomes
// slower with each session that is finished. So a process begins its searches five
// seconds before the last session that it took, and once a second from the
// beginning. What this process makes due earlier counts at once; what another
// process puts further into the past is found a second later at most.
//
// # Recordings elsewhere
//
// With Options.Audio recordings are in a directory or a bucket, and the database has a
// row for each, with its key in an encrypted store. The row is made when the recording
// is durable, before a session refers to it. The transaction that lets a recording go
// marks its row and removes its key; then the recording is removed, and then the row,
// by the process that let it go or, where that could not, by any other within some ten
// seconds of its server answering. What has no row, after a crash during an upload, is
// removed by age (Audio.Sweep): a directory, or a bucket and prefix, belongs to one
// database.
//
// # Notifications
//
// Watch listens on a connection of its own (LISTEN). The keys of changed sessions
// are sent after the commit, collected over 10 ms, since a NOTIFY in each
// transaction makes all commits of the server wait for one another. They are a
// hint and may be lost. With row-level security they name no session, and whoever waits
// for one looks again at each.
//
// # Poolers
//
// Through pgbouncer in transaction mode, add default_query_exec_mode=cache_describe
// to the connection string: there are no prepared statements then, and the limits
// are set in each transaction. Options.ListenURL may lead past the pooler for
// notifications.
//
// # Encryption
//
// With Options.Key a new store is encrypted, and opened again with that key alone.
// Each session and each recording has a random key of its own (AES-256-GCM), which
// stands in its row, sealed with a secret of the store; that is sealed with
// Options.Key, which Rekey replaces. A value that was changed, or put in the place
// of another, is an error (store.ErrDamaged) and never an answer.
//
//	sealed                               visible to who reads the database
//	-------------------------------------------------------------------------------
//	metadata, labels, failures           accounts, user IDs, session IDs
//	scores, features                     states, products, all times, counts, who works
//	audio                                how long recordings are
//	the content of documents             names and revisions of documents
//
// Not found is what only a memory of before could show: who can write to the
// database can put back a former row, or remove one. User IDs are visible, because
// lists and Forget look for them: give names to nobody in a user ID.
//
// PostgreSQL does not overwrite what is deleted. Deleted rows, with their keys,
// stay in the table until VACUUM and later writes, in the write-ahead log until
// that is removed, and in backups and archives as long as these are kept: who has
// one of them and Options.Key can read them. Without Options.Key nobody can: keep
// it apart from the backups. The server's log has statements with their values
// only if it is set up so (log_parameter_max_length); values are sealed before they
// are sent, but for the visible ones.
//
// # Row-level security
//
// Options.RowSecurity turns it on for good. It is for roles that people use beside the
// service, for reports of one tenant: they see the sessions of their accounts, and no
// document, recording or key. As the owner of the tables:
//
//	GRANT USAGE ON SCHEMA voicescreen TO clinic_a;
//	GRANT SELECT ON voicescreen.sessions TO clinic_a;
//	INSERT INTO voicescreen.tenants VALUES ('clinic_a', 'clinic-a');
//
// Every role of a database may listen to what is notified: with row-level security it hears
// that something changed, and not of whom. Processes that were started before it was turned
// on still say it; start them again.
//
// The service keeps accounts apart by itself: each call names its account. Its role owns
// the tables, which no policy applies to, or has a row with the account NULL; Open
// refuses another one. The policies are made by the migrations, also where they are off.
//
// # Versions
//
// Migrations go forward only. Open takes all missing ones in one transaction,
// under an advisory lock: of replicas that start together one does it, and a step
// that fails changes nothing. A database of a later version is refused.
package postgres
