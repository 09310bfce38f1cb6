package postgres

// Every statement of the store but those of the migrations.
//
// Statements that need the time take $1, the injected time or NULL, and $2, a
// time that the store has shown already: see clock.

// now is the store's time.
const now = `coalesce($1::timestamptz, greatest($2::timestamptz, clock_timestamp()))`

// head are the columns of a session but scores and features, in the order of
// row.head.
const head = `id, account, user_id, metadata, status, created_at, updated_at, product, submitted_at, audio,
	channel, fixed_gain, baseline, due, owner, token, attempts, failure, labels, notify, notices, key, sealed, duration, analysed, speech`

// Sessions.
const (
	sqlCreate = `
		INSERT INTO voicescreen.sessions (` + head + `, analysis)
		SELECT $3::text, $4::text, $5::text, $6::jsonb, $7::text, coalesce($8::timestamptz, clock.now), coalesce($9::timestamptz, $8, clock.now),
			$10::text, $11::timestamptz, $12::text, $13::integer, $14::boolean, $15::boolean, $16::timestamptz, $17::text, $18::bigint,
			$19::integer, $20::json, $21::jsonb, $22::timestamptz, $23::integer, $24::bytea, $25::bytea, $26::double precision, $27::double precision, $28::text, $29::bytea
		FROM (SELECT ` + now + ` AS now) clock
		ON CONFLICT (id) DO NOTHING RETURNING created_at`

	sqlGet  = `SELECT ` + head + `, analysis FROM voicescreen.sessions WHERE id = $1 AND account = $2`
	sqlHead = `SELECT ` + head + ` FROM voicescreen.sessions WHERE id = $1 AND account = $2`

	// sqlList begins behind a cursor: $3 is NULL where there is none.
	sqlList = `
		SELECT ` + head + `, analysis FROM voicescreen.sessions
		WHERE account = $1 AND user_id = $2 AND created_at <= coalesce($3::timestamptz, 'infinity')
			AND ($3 IS NULL OR created_at < $3 OR id > $4)
		ORDER BY created_at DESC, id LIMIT $5`

	sqlScan = `SELECT ` + head + `, analysis FROM voicescreen.sessions WHERE id > $1 ORDER BY id LIMIT $2`

	sqlDue = `SELECT count(*) FROM voicescreen.sessions WHERE due IS NOT NULL`

	sqlNotices = `SELECT account, count(*) FROM voicescreen.sessions WHERE notify IS NOT NULL GROUP BY account`
)

// Changes: one of the first three locks a row, and one of the others replaces it
// in the same transaction. The time is read when the row is locked: the WITH
// query is computed before the list behind it.
const (
	sqlLock = `
		WITH s AS MATERIALIZED (
			SELECT ` + head + ` FROM voicescreen.sessions WHERE id = $3 AND account = $4 FOR UPDATE)
		SELECT ` + head + `, ` + now + ` FROM s`

	// sqlLockDue begins at a time, $3, below which nothing is due, so that the
	// index entries of rows that are gone are not read: see since.
	sqlLockDue = `
		WITH s AS MATERIALIZED (
			SELECT ` + head + ` FROM voicescreen.sessions
			WHERE due <= (SELECT ` + now + `) AND due >= $3 AND id <> ALL ($4::text[])
			ORDER BY due LIMIT 1 FOR UPDATE SKIP LOCKED)
		SELECT ` + head + `, ` + now + ` FROM s`

	// sqlLockDueHere leaves out the sessions whose recordings are elsewhere.
	sqlLockDueHere = `
		WITH s AS MATERIALIZED (
			SELECT ` + head + ` FROM voicescreen.sessions
			WHERE due <= (SELECT ` + now + `) AND due >= $3 AND id <> ALL ($4::text[])
				AND NOT EXISTS (SELECT FROM voicescreen.audio WHERE audio.ref = sessions.audio AND elsewhere)
			ORDER BY due LIMIT 1 FOR UPDATE OF sessions SKIP LOCKED)
		SELECT ` + head + `, ` + now + ` FROM s`

	sqlLockNotice = `
		WITH s AS MATERIALIZED (
			SELECT ` + head + ` FROM voicescreen.sessions
			WHERE notify <= (SELECT ` + now + `) AND notify >= $3 AND id <> ALL ($4::text[]) AND account <> ALL ($5::text[])
			ORDER BY notify LIMIT 1 FOR UPDATE SKIP LOCKED)
		SELECT ` + head + `, ` + now + ` FROM s`

	replace = `
		UPDATE voicescreen.sessions SET metadata = $2, status = $3, updated_at = $4, product = $5, submitted_at = $6, audio = $7,
			channel = $8, fixed_gain = $9, baseline = $10, due = $11, owner = $12, token = $13, attempts = $14, failure = $15,
			labels = $16, notify = $17, notices = $18, sealed = $19, duration = $20, analysed = $21, speech = $22`
	sqlReplace         = replace + ` WHERE id = $1`
	sqlReplaceAnalyzed = replace + `, analysis = $23 WHERE id = $1`
)

// Removal, of the audio too.
const (
	// sqlReleased lets the audio of what is gone go. Of audio elsewhere the key goes, and
	// the row when it is removed there.
	sqlReleased = `
		released AS (
			DELETE FROM voicescreen.audio USING gone WHERE ref = gone.audio AND NOT elsewhere),
		erased AS (
			UPDATE voicescreen.audio SET erased = true, key = NULL FROM gone WHERE ref = gone.audio AND elsewhere)`

	sqlDelete = `
		WITH gone AS (
			DELETE FROM voicescreen.sessions WHERE id = $1 AND account = $2 RETURNING account, id, audio),
		` + sqlReleased + `
		SELECT account, id, audio FROM gone`

	sqlForget = `
		WITH gone AS (
			DELETE FROM voicescreen.sessions WHERE account = $1 AND user_id = $2 RETURNING account, id, audio),
		` + sqlReleased + `
		SELECT account, id, audio FROM gone`

	// sqlExpire waits for rows that others hold: fewer than the limit mean that
	// none is left. All calls lock in one order. The list is an array, since the
	// planner takes a limit that it does not know for a tenth of the table, and
	// would read all of that for a join.
	sqlExpire = `
		WITH old AS MATERIALIZED (
			SELECT id FROM voicescreen.sessions
			WHERE updated_at <= (SELECT ` + now + ` - $3::interval) AND status <> 'processing'
			ORDER BY updated_at, id LIMIT $4 FOR UPDATE),
		gone AS (
			DELETE FROM voicescreen.sessions WHERE id = ANY (ARRAY (SELECT id FROM old)) RETURNING account, id, audio),
		` + sqlReleased + `
		SELECT account, id, audio FROM gone`
)

// Audio. A session that comes to refer to audio locks it (sqlHoldAudio) until its
// commit, and whoever removes audio locks it before it looks for sessions that
// refer to it (sqlLockAudio): so no hand-over is missed that is under way.
const (
	sqlBeginAudio = `INSERT INTO voicescreen.audio (ref, put_at, key) VALUES ($3, ` + now + `, $4)`
	sqlPutChunk   = `INSERT INTO voicescreen.audio_chunks (ref, number, data) VALUES ($1, $2, $3)`
	// sqlEndAudio counts the chunks: those that were not synced are lost if the
	// server crashes during the upload.
	sqlEndAudio = `
		UPDATE voicescreen.audio SET chunks = $2
		WHERE ref = $1 AND (SELECT count(*) FROM voicescreen.audio_chunks WHERE ref = $1) = $2`

	sqlPutElsewhere = `INSERT INTO voicescreen.audio (ref, put_at, chunks, key, elsewhere) VALUES ($3, ` + now + `, 0, $4, true)`

	sqlOpenAudio = `SELECT chunks, key, elsewhere FROM voicescreen.audio WHERE ref = $1 AND chunks IS NOT NULL AND NOT erased`
	sqlGetChunk  = `SELECT data FROM voicescreen.audio_chunks WHERE ref = $1 AND number = $2`

	sqlHoldAudio    = `SELECT FROM voicescreen.audio WHERE ref = $1 FOR KEY SHARE`
	sqlReleaseAudio = `
		WITH gone AS (SELECT $1::text AS audio),
		erased AS (
			UPDATE voicescreen.audio SET erased = true, key = NULL FROM gone WHERE ref = gone.audio AND elsewhere)
		DELETE FROM voicescreen.audio WHERE ref = $1 AND NOT elsewhere`

	sqlLockAudio   = `SELECT FROM voicescreen.audio WHERE ref = ANY ($1) ORDER BY ref FOR UPDATE`
	sqlRemoveAudio = `
		WITH gone AS MATERIALIZED (
			SELECT ref AS audio FROM voicescreen.audio
			WHERE ref = ANY ($1) AND NOT erased
				AND NOT EXISTS (SELECT FROM voicescreen.sessions WHERE sessions.audio = audio.ref AND sessions.audio <> '')),
		` + sqlReleased + `
		SELECT audio FROM gone`

	sqlErased     = `SELECT ref FROM voicescreen.audio WHERE erased AND ref > $1 ORDER BY ref LIMIT $2`
	sqlGone       = `DELETE FROM voicescreen.audio WHERE ref = ANY ($1) AND erased`
	sqlKnownAudio = `SELECT ref FROM voicescreen.audio WHERE ref > $1 AND elsewhere ORDER BY ref LIMIT $2`
	// sqlWaitElsewhere reads no more than the sessions that have a recording.
	sqlWaitElsewhere = `
		SELECT FROM voicescreen.sessions JOIN voicescreen.audio ON audio.ref = sessions.audio
		WHERE sessions.audio <> '' AND elsewhere AND NOT erased LIMIT 1`
	sqlKnowsAudio = `SELECT ref FROM voicescreen.audio WHERE ref = $1`

	sqlOldAudio = `
		SELECT ref FROM voicescreen.audio
		WHERE put_at <= (SELECT ` + now + ` - $3::interval) AND ref > $4 AND NOT erased
			AND NOT EXISTS (SELECT FROM voicescreen.sessions WHERE sessions.audio = audio.ref AND sessions.audio <> '')
		ORDER BY ref LIMIT $5`
)

// Documents: the one who replaces a revision is the one whose statement finds it.
const (
	sqlDocuments      = `SELECT name FROM voicescreen.documents ORDER BY name`
	sqlDocument       = `SELECT data, revision FROM voicescreen.documents WHERE name = $1`
	sqlCreateDocument = `INSERT INTO voicescreen.documents (name, revision, data) VALUES ($1, 1, $2) ON CONFLICT (name) DO NOTHING`
	sqlPutDocument    = `UPDATE voicescreen.documents SET revision = revision + 1, data = $3 WHERE name = $1 AND revision = $2`
)

// Encryption: the first process to open the store decides.
const (
	sqlMakeSecret = `INSERT INTO voicescreen.encryption (one, secret) VALUES (true, $1) ON CONFLICT DO NOTHING`
	sqlSecret     = `SELECT secret FROM voicescreen.encryption`
	sqlRekey      = `UPDATE voicescreen.encryption SET secret = $2 WHERE secret = $1`
)

// Transactions, notices to other processes, the state of the server.
const (
	sqlBegin    = `BEGIN ISOLATION LEVEL READ COMMITTED`
	sqlLimits   = `SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', $2, true), set_config('idle_in_transaction_session_timeout', $3, true)`
	sqlAsync    = `SELECT set_config('synchronous_commit', 'off', true)`
	sqlCommit   = `COMMIT`
	sqlRollback = `ROLLBACK`

	sqlNotify = `SELECT pg_notify('voicescreen', payload) FROM unnest($1::text[]) payload`
	sqlListen = `LISTEN voicescreen`

	sqlPing   = `UPDATE voicescreen.ping SET at = clock_timestamp()`
	sqlServer = `SELECT current_setting('server_version_num')::integer, current_setting('server_encoding'), current_setting('fsync'), current_setting('synchronous_commit')`
)
