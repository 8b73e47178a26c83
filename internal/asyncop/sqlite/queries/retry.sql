-- RUNNING under this claim token → QUEUED; CANCELLED where that was requested
-- meanwhile; FAILED where no attempt is left.
WITH next (id, state) AS (
    SELECT id,
           CASE WHEN cancellation_requested THEN 'CANCELLED'
                WHEN attempts - @uncounted >= max_attempts THEN 'FAILED'
                ELSE 'QUEUED' END
    FROM async_operations
    WHERE id = @id AND state = 'RUNNING' AND claim_token = @token)
UPDATE async_operations
SET state           = next.state,
    revision        = revision + 1,
    attempts        = attempts - @uncounted,
    execution       = max(execution, @execution),
    failure_code    = CASE next.state WHEN 'CANCELLED' THEN @cancelled_code ELSE @failure_code END,
    failure_message = CASE next.state WHEN 'CANCELLED' THEN @cancelled_message ELSE @failure_message END,
    due             = @after <= 0,
    not_before      = CASE next.state WHEN 'QUEUED' THEN @now + @after ELSE not_before END,
    finished_at     = CASE next.state WHEN 'QUEUED' THEN NULL ELSE max(@now, started_at) END,
    claim_token     = NULL,
    node            = NULL,
    attempt_log     = json_set(attempt_log,
        '$[#-1].finished_at', max(@now, started_at),
        '$[#-1].code', @failure_code,
        '$[#-1].execution', @execution)
FROM next
WHERE async_operations.id = next.id
RETURNING state, tenant, issuer, subject, lane, not_before;
