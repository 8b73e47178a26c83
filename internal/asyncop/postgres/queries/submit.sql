-- Rows whose idempotency key, or id, is taken are left out of the answer. Keys
-- are inserted in one order everywhere, so that two batches never wait for each
-- other.
INSERT INTO async_operations AS o (
    id, tenant, issuer, subject, authority, mutations, operation_name, document, variables, label,
    idempotent, idempotency_key, fingerprint, retry_of, priority, max_attempts, trace_context,
    lane, created_at, not_before, due, start_before)
SELECT
    s.id, s.tenant, s.issuer, s.subject, s.authority, string_to_array(s.mutations, ','), s.operation_name,
    s.document, s.variables, s.label, s.idempotent, s.idempotency_key, s.fingerprint, s.retry_of,
    s.priority, s.max_attempts, s.trace_context,
    s.lane,
    now(),
    coalesce(s.not_before, now()),
    coalesce(s.not_before, now()) <= now(),
    coalesce(s.start_before, greatest(s.not_before, now()) + s.start_within * interval '1 microsecond')
FROM unnest(
    $1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
    $9::text[], $10::text[], $11::boolean[], $12::text[], $13::bytea[], $14::uuid[], $15::smallint[],
    $16::integer[], $17::text[], $18::timestamptz[], $19::timestamptz[], $20::bigint[], $21::text[]
) WITH ORDINALITY AS s (
    id, tenant, issuer, subject, authority, mutations, operation_name, document, variables, label,
    idempotent, idempotency_key, fingerprint, retry_of, priority, max_attempts, trace_context,
    not_before, start_before, start_within, lane, place)
ORDER BY s.tenant, s.issuer, s.subject, s.idempotency_key, s.place
ON CONFLICT DO NOTHING
RETURNING
    o.id, o.state, o.revision, o.tenant, o.issuer, o.subject, o.mutations, o.operation_name,
    o.document, o.variables, o.label, o.idempotent, o.idempotency_key, o.retry_of, o.priority,
    o.attempts, o.max_attempts, o.execution, o.cancellation_requested, o.result, o.failure_code,
    o.failure_message, o.attempt_log, o.purged, o.created_at, o.not_before, o.start_before,
    o.started_at, o.finished_at, o.node
