SELECT
    o.id, o.state, o.revision, o.tenant, o.issuer, o.subject, o.mutations, o.operation_name,
    o.document, o.variables, o.label, o.idempotent, o.idempotency_key, o.retry_of, o.priority,
    o.attempts, o.max_attempts, o.execution, o.cancellation_requested, o.result, o.failure_code,
    o.failure_message, o.attempt_log, o.purged, o.created_at, o.not_before, o.start_before,
    o.started_at, o.finished_at, o.node
FROM async_operations o
WHERE o.id = $1
  AND ($2::text[] IS NULL OR o.tenant = ANY ($2))
  AND ($3::text IS NULL OR (o.issuer = $3 AND o.subject = $4))
