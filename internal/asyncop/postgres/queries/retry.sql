-- RUNNING under that claim token → CANCELLED where that was requested, FAILED
-- where a counted attempt was the last, else QUEUED after the backoff.
WITH failed AS (
    SELECT *
    FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::smallint[], $6::bigint[], $7::boolean[])
        AS failed (id, token, code, message, execution, backoff, uncounted)
), held AS (
    SELECT o.id
    FROM async_operations o
    JOIN failed ON failed.id = o.id
    WHERE o.state = 'RUNNING' AND o.claim_token = failed.token
    ORDER BY o.id
    FOR UPDATE OF o
)
UPDATE async_operations o
SET state = CASE
        WHEN o.cancellation_requested THEN 'CANCELLED'
        WHEN o.attempts >= o.max_attempts AND NOT failed.uncounted THEN 'FAILED'
        ELSE 'QUEUED' END,
    finished_at = CASE
        WHEN o.cancellation_requested OR (o.attempts >= o.max_attempts AND NOT failed.uncounted)
        THEN greatest(now(), o.started_at) END,
    revision = o.revision + 1,
    attempts = o.attempts - failed.uncounted::integer,
    execution = greatest(o.execution, failed.execution),
    failure_code = CASE WHEN o.cancellation_requested THEN 'CANCELLED' ELSE failed.code END,
    failure_message = CASE WHEN o.cancellation_requested THEN $8 ELSE failed.message END,
    attempt_log = async_logged(o.attempt_log, o.started_at, greatest(now(), o.started_at), o.node,
        failed.code, failed.execution),
    due = failed.backoff <= 0,
    not_before = CASE
        WHEN o.cancellation_requested OR (o.attempts >= o.max_attempts AND NOT failed.uncounted) THEN o.not_before
        ELSE now() + failed.backoff * interval '1 microsecond' END,
    claim_token = NULL,
    node = NULL
FROM failed JOIN held ON held.id = failed.id
WHERE o.id = failed.id AND o.claim_token = failed.token
RETURNING o.id, failed.token, o.state, o.tenant, o.issuer, o.subject, o.lane,
    (extract(epoch FROM o.not_before - now()) * 1000000)::bigint
