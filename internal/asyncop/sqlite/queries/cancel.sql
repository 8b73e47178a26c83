-- QUEUED → CANCELLED; RUNNING and not asked yet → asked. The scope is as in
-- get.sql.
UPDATE async_operations
SET state                  = CASE state WHEN 'QUEUED' THEN 'CANCELLED' ELSE state END,
    revision               = revision + 1,
    cancellation_requested = 1,
    failure_code           = CASE state WHEN 'QUEUED' THEN @cancelled_code ELSE failure_code END,
    failure_message        = CASE state WHEN 'QUEUED' THEN @cancelled_message ELSE failure_message END,
    finished_at            = CASE state WHEN 'QUEUED' THEN max(@now, coalesce(started_at, created_at)) END
WHERE id = @id
  AND (state = 'QUEUED' OR (state = 'RUNNING' AND cancellation_requested = 0))
  AND (@tenants IS NULL OR tenant IN (SELECT value FROM json_each(@tenants)))
  AND (@subject IS NULL OR (issuer = @issuer AND subject = @subject))
RETURNING state;
