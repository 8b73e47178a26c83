-- The rows that hold the places which submissions wanted: their own id, where
-- an earlier try was committed unheard, or their idempotency key.
SELECT
    o.id, o.state, o.revision, o.tenant, o.issuer, o.subject, o.mutations, o.operation_name,
    o.document, o.variables, o.label, o.idempotent, o.idempotency_key, o.retry_of, o.priority,
    o.attempts, o.max_attempts, o.execution, o.cancellation_requested, o.result, o.failure_code,
    o.failure_message, o.attempt_log, o.purged, o.created_at, o.not_before, o.start_before,
    o.started_at, o.finished_at, o.node,
    wanted.place, o.fingerprint
FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[])
    WITH ORDINALITY AS wanted (id, tenant, issuer, subject, key, place)
CROSS JOIN LATERAL (
    SELECT w.id FROM async_operations w
    WHERE w.id = wanted.id
      AND w.tenant = wanted.tenant AND w.issuer = wanted.issuer AND w.subject = wanted.subject
    UNION ALL
    SELECT w.id FROM async_operations w
    WHERE w.tenant = wanted.tenant AND w.issuer = wanted.issuer AND w.subject = wanted.subject
      AND w.idempotency_key = wanted.key
    LIMIT 1
) AS winner
JOIN async_operations o ON o.id = winner.id
