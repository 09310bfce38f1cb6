-- Everything stands in the schema voicescreen, so that no search path decides.
-- It is there already, with the table of migrations.

-- Names are compared by their bytes (COLLATE "C"), as in Go, whatever the
-- locale of the database. A text that is not given is '', and a time is NULL.
CREATE TABLE voicescreen.sessions (
    id           text        COLLATE "C" PRIMARY KEY, -- unique in all accounts
    account      text        COLLATE "C" NOT NULL,
    user_id      text        COLLATE "C" NOT NULL,
    metadata     jsonb,
    status       text        NOT NULL,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz,
    product      text        NOT NULL,
    submitted_at timestamptz,
    audio        text        COLLATE "C" NOT NULL, -- refers to audio.ref, or to nothing
    channel      integer     NOT NULL,
    speech       text        NOT NULL, -- the way of speaking; '' if it is not known
    duration     double precision NOT NULL, -- of the recording, in s
    fixed_gain   boolean     NOT NULL,
    baseline     boolean     NOT NULL,
    due          timestamptz,
    owner        text        NOT NULL,
    token        bigint      NOT NULL,
    attempts     integer     NOT NULL,
    failure      json,                  -- not jsonb, which makes 0 of −0
    labels       jsonb,
    notify       timestamptz,
    notices      integer     NOT NULL,
    analysis     bytea,                 -- scores and features in CBOR: store.AppendAnalysis
    analysed     double precision NOT NULL, -- how much of the recording was read, in s
    key          bytea,                 -- of an encrypted store: the session's key, sealed
    sealed       bytea                  -- of an encrypted store: what metadata, labels and failure hold otherwise
) WITH (
    fillfactor = 80, -- room for the new version of a row on its page: an update that moves no index entry stays there (HOT)
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000 -- the queue's dead rows go before they are many
);

-- The listing of a user; Forget.
CREATE INDEX sessions_of_user ON voicescreen.sessions (account, user_id, created_at DESC, id);
-- Queues, which finished sessions leave: they are as long as the work that waits, not as the table.
CREATE INDEX sessions_due ON voicescreen.sessions (due) WHERE due IS NOT NULL;
CREATE INDEX sessions_notify ON voicescreen.sessions (notify) WHERE notify IS NOT NULL;
-- Which audio is referred to.
CREATE INDEX sessions_audio ON voicescreen.sessions (audio) WHERE audio <> '';
-- Retention: what was kept longest.
CREATE INDEX sessions_kept ON voicescreen.sessions (updated_at, id) WHERE status <> 'processing' AND updated_at IS NOT NULL;

CREATE TABLE voicescreen.audio (
    ref       text        COLLATE "C" PRIMARY KEY,
    put_at    timestamptz NOT NULL, -- when the upload began; of a recording elsewhere, when it ended
    chunks    integer,              -- how many there are; NULL while the upload is under way
    key       bytea,                -- of an encrypted store: the recording's key, sealed
    elsewhere boolean     NOT NULL DEFAULT false, -- it is in a directory or in S3, and not in audio_chunks
    erased    boolean     NOT NULL DEFAULT false  -- it may be there still, and nobody may read it: the row goes when it is removed there
);

-- What is to be removed elsewhere.
CREATE INDEX audio_erased ON voicescreen.audio (ref) WHERE erased;

CREATE TABLE voicescreen.audio_chunks (
    ref    text    COLLATE "C" REFERENCES voicescreen.audio ON DELETE CASCADE,
    number integer NOT NULL, -- from 0
    data   bytea   NOT NULL,
    PRIMARY KEY (ref, number)
);
ALTER TABLE voicescreen.audio_chunks ALTER COLUMN data SET STORAGE EXTERNAL; -- recordings do not compress

CREATE TABLE voicescreen.documents (
    name     text   COLLATE "C" PRIMARY KEY,
    revision bigint NOT NULL,
    data     bytea  NOT NULL
);

-- One row, which the first one to open the store makes.
CREATE TABLE voicescreen.encryption (
    one    boolean PRIMARY KEY CHECK (one),
    secret bytea -- what all keys are sealed with, sealed with the operator's key; NULL: not encrypted
);

-- One row, which Ping writes.
CREATE TABLE voicescreen.ping (
    one  boolean PRIMARY KEY CHECK (one),
    at   timestamptz NOT NULL
) WITH (fillfactor = 50);
INSERT INTO voicescreen.ping VALUES (true, clock_timestamp());

-- Which accounts a role sees in the tables with row-level security, where the operator
-- has asked for that. It does not apply to superusers and to the owner of the tables. A
-- role sees its own rows here.
CREATE TABLE voicescreen.tenants (
    role    name NOT NULL,
    account text COLLATE "C" -- NULL: all accounts, and the tables that belong to none
);
ALTER TABLE voicescreen.tenants ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON voicescreen.tenants FOR SELECT USING (role = current_user);
GRANT SELECT ON voicescreen.tenants TO PUBLIC; -- who reads the others needs it for their policies

CREATE POLICY of_tenant ON voicescreen.sessions
    USING (account IN (SELECT t.account FROM voicescreen.tenants t WHERE t.role = current_user));
CREATE POLICY of_service ON voicescreen.sessions
    USING ((SELECT EXISTS (SELECT FROM voicescreen.tenants t WHERE t.role = current_user AND t.account IS NULL)));
CREATE POLICY of_service ON voicescreen.audio
    USING ((SELECT EXISTS (SELECT FROM voicescreen.tenants t WHERE t.role = current_user AND t.account IS NULL)));
CREATE POLICY of_service ON voicescreen.audio_chunks
    USING ((SELECT EXISTS (SELECT FROM voicescreen.tenants t WHERE t.role = current_user AND t.account IS NULL)));
CREATE POLICY of_service ON voicescreen.documents
    USING ((SELECT EXISTS (SELECT FROM voicescreen.tenants t WHERE t.role = current_user AND t.account IS NULL)));
CREATE POLICY of_service ON voicescreen.encryption
    USING ((SELECT EXISTS (SELECT FROM voicescreen.tenants t WHERE t.role = current_user AND t.account IS NULL)));
