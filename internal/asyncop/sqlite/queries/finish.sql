-- RUNNING under this claim token → the outcome's state.
UPDATE async_operations
SET state           = @state,
    revision        = revision + 1,
    execution       = max(execution, @execution),
    result          = @result,
    failure_code    = @failure_code,
    failure_message = @failure_message,
    finished_at     = max(@now, started_at),
    claim_token     = NULL,
    node            = NULL,
    attempt_log     = json_set(attempt_log,
        '$[#-1].finished_at', max(@now, started_at),
        '$[#-1].code', coalesce(@failure_code, ''),
        '$[#-1].execution', @execution)
WHERE id = @id AND state = 'RUNNING' AND claim_token = @token
RETURNING state, tenant, issuer, subject, lane, not_before;
