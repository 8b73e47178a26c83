-- QUEUED → CANCELLED; RUNNING is asked, and asking again changes nothing.
UPDATE async_operations o
SET state = CASE o.state WHEN 'QUEUED' THEN 'CANCELLED' ELSE o.state END,
    finished_at = CASE o.state WHEN 'QUEUED' THEN greatest(now(), o.created_at, o.started_at) END,
    failure_code = CASE o.state WHEN 'QUEUED' THEN 'CANCELLED' ELSE o.failure_code END,
    failure_message = CASE o.state WHEN 'QUEUED' THEN $5 ELSE o.failure_message END,
    revision = o.revision + (NOT o.cancellation_requested)::integer,
    cancellation_requested = true
WHERE o.id = $1
  AND ($2::text[] IS NULL OR o.tenant = ANY ($2))
  AND ($3::text IS NULL OR (o.issuer = $3 AND o.subject = $4))
  AND o.state IN ('QUEUED', 'RUNNING')
RETURNING
    o.id, o.state, o.revision, o.tenant, o.issuer, o.subject, o.mutations, o.operation_name,
    o.document, o.variables, o.label, o.idempotent, o.idempotency_key, o.retry_of, o.priority,
    o.attempts, o.max_attempts, o.execution, o.cancellation_requested, o.result, o.failure_code,
    o.failure_message, o.attempt_log, o.purged, o.created_at, o.not_before, o.start_before,
    o.started_at, o.finished_at, o.node
