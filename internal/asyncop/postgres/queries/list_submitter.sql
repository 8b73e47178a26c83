SELECT
    o.id, o.state, o.revision, o.tenant, o.issuer, o.subject, o.mutations, o.operation_name,
    o.document, o.variables, o.label, o.idempotent, o.idempotency_key, o.retry_of, o.priority,
    o.attempts, o.max_attempts, o.execution, o.cancellation_requested, o.result, o.failure_code,
    o.failure_message, o.attempt_log, o.purged, o.created_at, o.not_before, o.start_before,
    o.started_at, o.finished_at, o.node
FROM async_operations o
WHERE o.tenant = $9 AND o.issuer = $10 AND o.subject = $11
  AND (o.created_at, o.id) < ($1::timestamptz, $2::uuid)
  AND ($4::text[] IS NULL OR o.state = ANY ($4))
  AND ($5::text = '' OR $5 = ANY (o.mutations))
  AND ($6::text = '' OR o.label = $6)
  AND ($7::text = '' OR o.idempotency_key = $7)
  AND ($8::text = '' OR o.subject = $8)
ORDER BY o.created_at DESC, o.id DESC
LIMIT $3
