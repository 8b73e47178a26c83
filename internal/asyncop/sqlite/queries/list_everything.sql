-- A page of all operations, newest first: ids only. Filters that
-- are null or empty do not narrow.
SELECT id, created_at
FROM async_operations
WHERE (created_at, id) < (@created_at, @id)
  AND (@states IS NULL OR state IN (SELECT value FROM json_each(@states)))
  AND (@mutation = '' OR EXISTS (SELECT 1 FROM json_each(mutations) WHERE value = @mutation))
  AND (@label = '' OR label = @label)
  AND (@idempotency_key = '' OR idempotency_key = @idempotency_key)
  AND (@submitter = '' OR subject = @submitter)
ORDER BY created_at DESC, id DESC
LIMIT @limit;
