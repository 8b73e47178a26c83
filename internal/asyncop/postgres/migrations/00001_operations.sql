-- +goose Up

-- A node lives while its row is fresh. Recover deletes the rows of silent ones.
CREATE TABLE async_nodes (
    id           text PRIMARY KEY,
    heartbeat_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- Documents, variables and results are text: jsonb would reorder keys, drop
-- duplicate ones and refuse \u0000.
CREATE TABLE async_operations (
    id                     uuid PRIMARY KEY,
    state                  text NOT NULL DEFAULT 'QUEUED',
    revision               bigint NOT NULL DEFAULT 1,
    tenant                 text NOT NULL DEFAULT '',
    issuer                 text NOT NULL,
    subject                text NOT NULL,
    authority              text NOT NULL,
    mutations              text[] NOT NULL,
    operation_name         text NOT NULL DEFAULT '',
    document               text NOT NULL,
    variables              text,
    label                  text NOT NULL DEFAULT '',
    idempotent             boolean NOT NULL,
    idempotency_key        text,
    fingerprint            bytea NOT NULL,
    retry_of               uuid,
    priority               smallint NOT NULL,
    attempts               integer NOT NULL DEFAULT 0,
    max_attempts           integer NOT NULL,
    execution              smallint NOT NULL DEFAULT 0,
    cancellation_requested boolean NOT NULL DEFAULT false,
    result                 text,
    failure_code           text,
    failure_message        text,
    attempt_log            jsonb NOT NULL DEFAULT '[]',
    purged                 boolean NOT NULL DEFAULT false,
    trace_context          text NOT NULL DEFAULT '',
    created_at             timestamptz NOT NULL,
    not_before             timestamptz NOT NULL,
    start_before           timestamptz NOT NULL,
    started_at             timestamptz,
    finished_at            timestamptz,
    claim_token            uuid,
    node                   text,

    CONSTRAINT state_is_known CHECK (state IN ('QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED')),
    CONSTRAINT claim_token_iff_running CHECK ((state = 'RUNNING') = (claim_token IS NOT NULL)),
    CONSTRAINT node_iff_running CHECK ((state = 'RUNNING') = (node IS NOT NULL)),
    CONSTRAINT running_has_started CHECK (state <> 'RUNNING' OR (started_at IS NOT NULL AND attempts > 0)),
    CONSTRAINT finished_iff_terminal CHECK ((state IN ('SUCCEEDED', 'FAILED', 'CANCELLED')) = (finished_at IS NOT NULL)),
    CONSTRAINT finished_after_start CHECK (finished_at >= created_at AND (started_at IS NULL OR finished_at >= started_at)),
    -- QUEUED and RUNNING rows keep the failure of the last attempt, if any.
    CONSTRAINT failure_fits_state CHECK (CASE state
        WHEN 'SUCCEEDED' THEN failure_code IS NULL
        WHEN 'FAILED' THEN failure_code IS NOT NULL
        WHEN 'CANCELLED' THEN failure_code IS NOT DISTINCT FROM 'CANCELLED'
        ELSE true END),
    CONSTRAINT failure_is_whole CHECK ((failure_code IS NULL) = (failure_message IS NULL)),
    CONSTRAINT result_only_when_finished CHECK (result IS NULL OR finished_at IS NOT NULL),
    CONSTRAINT purged_has_no_result CHECK (NOT purged OR (result IS NULL AND finished_at IS NOT NULL)),
    CONSTRAINT attempts_in_range CHECK (attempts BETWEEN 0 AND max_attempts AND max_attempts > 0),
    CONSTRAINT execution_in_range CHECK (execution BETWEEN 0 AND 2),
    CONSTRAINT priority_in_range CHECK (priority BETWEEN 0 AND 9),
    CONSTRAINT log_is_bounded CHECK (jsonb_array_length(attempt_log) <= 23),
    CONSTRAINT fingerprint_is_sha256 CHECK (length(fingerprint) = 32)
) WITH (
    fillfactor = 75,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_analyze_scale_factor = 0.02,
    autovacuum_analyze_threshold = 1000
);

-- Due rows of one priority lie next to each other, oldest first.
CREATE INDEX async_operations_due ON async_operations (priority, not_before, id) WHERE state = 'QUEUED';
CREATE INDEX async_operations_expiry ON async_operations (start_before) WHERE state = 'QUEUED';
CREATE INDEX async_operations_running ON async_operations (node) WHERE state = 'RUNNING';
CREATE INDEX async_operations_finished ON async_operations (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX async_operations_result ON async_operations (finished_at) WHERE result IS NOT NULL;
CREATE INDEX async_operations_submitter ON async_operations (tenant, issuer, subject, created_at DESC, id DESC);
CREATE INDEX async_operations_tenant ON async_operations (tenant, created_at DESC, id DESC);
CREATE UNIQUE INDEX async_operations_key ON async_operations (tenant, issuer, subject, idempotency_key)
    WHERE idempotency_key IS NOT NULL;

-- An expression of its own keeps this index out of the lists of one tenant,
-- which would walk everyone's rows.
CREATE INDEX async_operations_newest ON async_operations ((created_at AT TIME ZONE 'UTC') DESC, id DESC);

-- The attempt log with one more attempt: the first 3 and the last 20 stay.
CREATE FUNCTION async_logged(log jsonb, started_at timestamptz, finished_at timestamptz, node text, code text, execution smallint)
    RETURNS jsonb LANGUAGE sql STABLE
    RETURN CASE WHEN jsonb_array_length(log) < 23 THEN log ELSE log - 3 END || jsonb_build_object(
        'started_at', started_at, 'finished_at', finished_at, 'node', node, 'code', code, 'execution', execution);

-- A claim token is as fresh as the seed, which the claiming node draws for each
-- statement: so it can find the claims of one whose answer it never got.
CREATE FUNCTION async_claim_token(seed uuid, id uuid)
    RETURNS uuid LANGUAGE sql IMMUTABLE
    RETURN encode(substr(sha256(uuid_send(seed) || uuid_send(id)), 1, 16), 'hex')::uuid;

-- +goose Down
DROP TABLE async_operations;
DROP TABLE async_nodes;
DROP FUNCTION async_logged;
DROP FUNCTION async_claim_token;
