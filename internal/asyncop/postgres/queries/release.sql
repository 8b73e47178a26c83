-- RUNNING under that claim token → CANCELLED where that was requested, else
-- QUEUED as it was: the log's last attempt tells when the one before started.
WITH unsent AS (
    SELECT *
    FROM unnest($1::uuid[], $2::uuid[])
        AS unsent (id, token)
), held AS (
    SELECT o.id
    FROM async_operations o
    JOIN unsent ON unsent.id = o.id
    WHERE o.state = 'RUNNING' AND o.claim_token = unsent.token
    ORDER BY o.id
    FOR UPDATE OF o
)
UPDATE async_operations o
SET state = CASE WHEN o.cancellation_requested THEN 'CANCELLED' ELSE 'QUEUED' END,
    finished_at = CASE WHEN o.cancellation_requested THEN greatest(now(), o.started_at) END,
    revision = o.revision + 1,
    attempts = o.attempts - 1,
    failure_code = CASE WHEN o.cancellation_requested THEN 'CANCELLED' ELSE o.failure_code END,
    failure_message = CASE WHEN o.cancellation_requested THEN $3 ELSE o.failure_message END,
    started_at = (o.attempt_log -> -1 ->> 'started_at')::timestamptz,
    claim_token = NULL,
    node = NULL
FROM unsent JOIN held ON held.id = unsent.id
WHERE o.id = unsent.id AND o.claim_token = unsent.token
RETURNING o.id, unsent.token, o.state, o.tenant, o.issuer, o.subject, o.lane,
    (extract(epoch FROM o.not_before - now()) * 1000000)::bigint
