-- QUEUED → RUNNING, in the transaction that locked these rows as due and QUEUED
-- (candidates.sql). Their state is not asked for again: with old statistics that
-- made the planner search the index of due rows for each id.
UPDATE async_operations o
SET state = 'RUNNING',
    revision = o.revision + 1,
    attempts = o.attempts + 1,
    started_at = greatest(now(), o.created_at),
    claim_token = async_claim_token($2, o.id),
    node = $1
WHERE o.id = ANY ($3::uuid[])
RETURNING
    o.id, o.state, o.revision, o.tenant, o.issuer, o.subject, o.mutations, o.operation_name,
    o.document, o.variables, o.label, o.idempotent, o.idempotency_key, o.retry_of, o.priority,
    o.attempts, o.max_attempts, o.execution, o.cancellation_requested, o.result, o.failure_code,
    o.failure_message, o.attempt_log, o.purged, o.created_at, o.not_before, o.start_before,
    o.started_at, o.finished_at, o.node,
    o.claim_token, o.authority, o.trace_context
