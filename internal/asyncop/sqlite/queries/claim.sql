-- QUEUED → RUNNING. The stored attempt log may hold one entry too many, which
-- readers leave out: so Release takes the newest back and has lost no other.
UPDATE async_operations
SET state       = 'RUNNING',
    revision    = revision + 1,
    attempts    = attempts + 1,
    started_at  = max(@now, created_at),
    claim_token = @token,
    node        = @node,
    attempt_log = json_insert(
        CASE WHEN json_array_length(attempt_log) <= @log_head + @log_tail THEN attempt_log
             ELSE json_remove(attempt_log, '$[' || @log_head || ']') END,
        '$[#]', json_object('started_at', max(@now, created_at), 'node', @node))
WHERE id = @id AND state = 'QUEUED'
RETURNING authority, trace_context;
