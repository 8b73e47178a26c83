-- The node's row is share-locked, so that a recovery of this node comes wholly
-- before (nothing is claimed) or wholly after (it sees what was claimed).
--
-- Priorities are asked for one by one from the top: within one, the index gives
-- the due rows first, so that no row of the future is ever looked at. The
-- nested loop stops at the limit.
--
-- The ids come as an array, so that no estimate of how many there are makes the
-- planner read the whole table; and the state, which the lock on each row holds
-- still, is not asked for again, since that made it search the index of due rows
-- for each id.
WITH alive AS (
    SELECT id FROM async_nodes WHERE id = $1 FOR KEY SHARE
), due AS (
    SELECT next.id
    FROM alive
    CROSS JOIN generate_series(9, 0, -1) AS level (priority)
    CROSS JOIN LATERAL (
        SELECT q.id
        FROM async_operations q
        WHERE q.state = 'QUEUED' AND q.priority = level.priority
          AND q.not_before <= now() AND q.start_before > now() AND q.attempts < q.max_attempts
        ORDER BY q.not_before, q.id
        LIMIT $2
        FOR UPDATE SKIP LOCKED
    ) AS next
    LIMIT $2
)
UPDATE async_operations o
SET state = 'RUNNING',
    revision = o.revision + 1,
    attempts = o.attempts + 1,
    started_at = greatest(now(), o.created_at),
    claim_token = async_claim_token($3, o.id),
    node = $1
WHERE o.id = ANY (ARRAY(SELECT id FROM due))
RETURNING
    o.id, o.state, o.revision, o.tenant, o.issuer, o.subject, o.mutations, o.operation_name,
    o.document, o.variables, o.label, o.idempotent, o.idempotency_key, o.retry_of, o.priority,
    o.attempts, o.max_attempts, o.execution, o.cancellation_requested, o.result, o.failure_code,
    o.failure_message, o.attempt_log, o.purged, o.created_at, o.not_before, o.start_before,
    o.started_at, o.finished_at, o.node,
    o.claim_token, o.authority, o.trace_context
