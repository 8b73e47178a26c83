-- A fresh operation. It answers no row where the idempotency key is taken.
INSERT INTO async_operations (
    id, state, tenant, issuer, subject, priority, max_attempts, idempotent,
    lane, created_at, not_before, due, start_before,
    idempotency_key, fingerprint, retry_of, label, operation_name, mutations,
    trace_context, authority, document, variables)
VALUES (
    @id, 'QUEUED', @tenant, @issuer, @subject, @priority, @max_attempts, @idempotent,
    @lane, @now, @not_before, @not_before <= @now, @start_before,
    @idempotency_key, @fingerprint, @retry_of, @label, @operation_name, @mutations,
    @trace_context, @authority, @document, @variables)
ON CONFLICT (tenant, issuer, subject, idempotency_key) WHERE idempotency_key IS NOT NULL
DO NOTHING
RETURNING id;
