-- Runs in one transaction after forget.sql, whose locks keep the silent nodes
-- from claiming or returning until this has ended.
WITH orphans AS (
    SELECT o.id
    FROM async_operations o
    WHERE o.state = 'RUNNING' AND NOT EXISTS (SELECT FROM async_nodes n WHERE n.id = o.node)
    ORDER BY o.id
    FOR UPDATE OF o
)
UPDATE async_operations o
SET state = CASE
        WHEN o.cancellation_requested THEN 'CANCELLED'
        WHEN o.idempotent AND o.attempts < o.max_attempts THEN 'QUEUED'
        ELSE 'FAILED' END,
    finished_at = CASE
        WHEN o.cancellation_requested OR NOT o.idempotent OR o.attempts >= o.max_attempts
        THEN greatest(now(), o.started_at) END,
    revision = o.revision + 1,
    execution = greatest(o.execution, 1),
    failure_code = CASE WHEN o.cancellation_requested THEN 'CANCELLED' ELSE 'OUTCOME_UNKNOWN' END,
    failure_message = CASE WHEN o.cancellation_requested THEN $1 ELSE $2 END,
    attempt_log = async_logged(o.attempt_log, o.started_at, greatest(now(), o.started_at), o.node,
        'OUTCOME_UNKNOWN', 1::smallint),
    claim_token = NULL,
    node = NULL
WHERE o.id = ANY (ARRAY(SELECT id FROM orphans))
RETURNING o.id, o.state, o.tenant, o.issuer, o.subject, o.lane
