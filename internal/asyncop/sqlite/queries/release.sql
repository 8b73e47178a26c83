-- RUNNING under this claim token → QUEUED as before the claim; CANCELLED where
-- that was requested meanwhile.
WITH next (id, state) AS (
    SELECT id, CASE WHEN cancellation_requested THEN 'CANCELLED' ELSE 'QUEUED' END
    FROM async_operations
    WHERE id = @id AND state = 'RUNNING' AND claim_token = @token)
UPDATE async_operations
SET state           = next.state,
    revision        = revision + 1,
    attempts        = attempts - 1,
    failure_code    = CASE next.state WHEN 'CANCELLED' THEN @cancelled_code ELSE failure_code END,
    failure_message = CASE next.state WHEN 'CANCELLED' THEN @cancelled_message ELSE failure_message END,
    started_at      = json_extract(attempt_log, '$[#-2].started_at'),
    finished_at     = CASE next.state WHEN 'QUEUED' THEN NULL ELSE max(@now, started_at) END,
    claim_token     = NULL,
    node            = NULL,
    attempt_log     = json_remove(attempt_log, '$[#-1]')
FROM next
WHERE async_operations.id = next.id
RETURNING state, tenant, issuer, subject, lane, not_before;
