-- RUNNING under a node that has been silent since @silent_since → CANCELLED where
-- that was requested; QUEUED where another attempt is allowed; FAILED otherwise.
WITH next (id, state) AS (
    SELECT id,
           CASE WHEN cancellation_requested THEN 'CANCELLED'
                WHEN idempotent AND attempts < max_attempts THEN 'QUEUED'
                ELSE 'FAILED' END
    FROM async_operations
    WHERE state = 'RUNNING'
      AND node IN (SELECT async_nodes.id FROM async_nodes WHERE heartbeat_at <= @silent_since))
UPDATE async_operations
SET state           = next.state,
    revision        = revision + 1,
    execution       = max(execution, @execution),
    failure_code    = CASE next.state WHEN 'CANCELLED' THEN @cancelled_code ELSE @lost_code END,
    failure_message = CASE next.state WHEN 'CANCELLED' THEN @cancelled_message ELSE @lost_message END,
    finished_at     = CASE next.state WHEN 'QUEUED' THEN NULL ELSE max(@now, started_at) END,
    claim_token     = NULL,
    node            = NULL,
    attempt_log     = json_set(attempt_log,
        '$[#-1].finished_at', max(@now, started_at),
        '$[#-1].code', @lost_code,
        '$[#-1].execution', @execution)
FROM next
WHERE async_operations.id = next.id
RETURNING id, state, tenant, issuer, subject, lane, not_before;
