-- +goose Up

-- A node is a process that claims. Its claims live while its heartbeat is fresh.
CREATE TABLE async_nodes (
    id           TEXT    NOT NULL PRIMARY KEY,
    heartbeat_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One row an operation. Times are microseconds since 1970, UTC. Documents,
-- variables and results are text, byte for byte. Small columns come first and
-- large ones last: SQLite reads a row from its beginning.
CREATE TABLE async_operations (
    id                     TEXT    NOT NULL PRIMARY KEY,
    state                  TEXT    NOT NULL,
    revision               INTEGER NOT NULL DEFAULT 1,
    tenant                 TEXT    NOT NULL,
    issuer                 TEXT    NOT NULL,
    subject                TEXT    NOT NULL,
    priority               INTEGER NOT NULL,
    attempts               INTEGER NOT NULL DEFAULT 0,
    max_attempts           INTEGER NOT NULL,
    execution              INTEGER NOT NULL DEFAULT 0,
    idempotent             INTEGER NOT NULL,
    cancellation_requested INTEGER NOT NULL DEFAULT 0,
    purged                 INTEGER NOT NULL DEFAULT 0,
    created_at             INTEGER NOT NULL,
    not_before             INTEGER NOT NULL,
    start_before           INTEGER NOT NULL,
    started_at             INTEGER,
    finished_at            INTEGER,
    claim_token            TEXT,
    node                   TEXT REFERENCES async_nodes (id),
    failure_code           TEXT,
    failure_message        TEXT,
    idempotency_key        TEXT,
    fingerprint            BLOB    NOT NULL,
    retry_of               TEXT,
    label                  TEXT    NOT NULL,
    operation_name         TEXT    NOT NULL,
    mutations              TEXT    NOT NULL, -- JSON: root field names
    trace_context          TEXT    NOT NULL,
    attempt_log            TEXT    NOT NULL DEFAULT '[]', -- JSON: see attemptlog.go
    authority              TEXT    NOT NULL,
    document               TEXT    NOT NULL,
    variables              TEXT,
    result                 TEXT,

    CONSTRAINT id_is_a_uuid CHECK (length(id) = 36),
    CONSTRAINT state_is_known CHECK (state IN ('QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED')),
    CONSTRAINT revision_is_positive CHECK (revision > 0),
    CONSTRAINT flags_are_booleans
        CHECK (idempotent IN (0, 1) AND cancellation_requested IN (0, 1) AND purged IN (0, 1)),
    CONSTRAINT claim_token_iff_running CHECK ((state = 'RUNNING') = (claim_token IS NOT NULL)),
    CONSTRAINT node_iff_running CHECK ((state = 'RUNNING') = (node IS NOT NULL)),
    CONSTRAINT running_has_started CHECK (state <> 'RUNNING' OR (started_at IS NOT NULL AND attempts > 0)),
    CONSTRAINT queued_may_run CHECK (state <> 'QUEUED' OR (attempts < max_attempts AND cancellation_requested = 0)),
    CONSTRAINT finished_iff_terminal
        CHECK ((state IN ('SUCCEEDED', 'FAILED', 'CANCELLED')) = (finished_at IS NOT NULL)),
    CONSTRAINT finished_after_start
        CHECK (finished_at >= created_at AND (started_at IS NULL OR finished_at >= started_at)),
    -- QUEUED and RUNNING rows keep the failure of the last attempt, if any.
    CONSTRAINT failure_fits_state CHECK (CASE state
        WHEN 'SUCCEEDED' THEN failure_code IS NULL
        WHEN 'FAILED' THEN failure_code IS NOT NULL
        WHEN 'CANCELLED' THEN failure_code IS 'CANCELLED'
        ELSE 1 END),
    CONSTRAINT failure_is_whole CHECK ((failure_code IS NULL) = (failure_message IS NULL)),
    CONSTRAINT succeeded_has_executed CHECK (state <> 'SUCCEEDED' OR execution = 2),
    CONSTRAINT result_only_when_finished CHECK (result IS NULL OR finished_at IS NOT NULL),
    CONSTRAINT purged_has_no_result CHECK (purged = 0 OR (result IS NULL AND finished_at IS NOT NULL)),
    CONSTRAINT attempts_in_range CHECK (attempts BETWEEN 0 AND max_attempts AND max_attempts > 0),
    CONSTRAINT execution_in_range CHECK (execution BETWEEN 0 AND 2),
    CONSTRAINT priority_in_range CHECK (priority BETWEEN 0 AND 9),
    CONSTRAINT key_is_not_empty CHECK (idempotency_key <> ''),
    CONSTRAINT mutations_are_a_list CHECK (json_valid(mutations) AND json_type(mutations) = 'array'),
    -- The first 3 and the last 20, and one that readers leave out: see claim.sql.
    CONSTRAINT log_is_bounded CHECK (
        json_valid(attempt_log) AND json_type(attempt_log) = 'array' AND json_array_length(attempt_log) <= 24),
    CONSTRAINT fingerprint_is_sha256 CHECK (length(fingerprint) = 32)
) STRICT;

CREATE INDEX async_operations_due ON async_operations (priority DESC, not_before, id, start_before)
    WHERE state = 'QUEUED';
CREATE INDEX async_operations_expiry ON async_operations (start_before) WHERE state = 'QUEUED';
CREATE INDEX async_operations_running ON async_operations (node) WHERE node IS NOT NULL;
CREATE INDEX async_operations_finished ON async_operations (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX async_operations_result ON async_operations (finished_at) WHERE result IS NOT NULL;
CREATE INDEX async_operations_newest ON async_operations (created_at DESC, id DESC);
CREATE INDEX async_operations_tenant ON async_operations (tenant, created_at DESC, id DESC);
CREATE INDEX async_operations_submitter ON async_operations (tenant, issuer, subject, created_at DESC, id DESC);
CREATE UNIQUE INDEX async_operations_key ON async_operations (tenant, issuer, subject, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
