-- One operation within a scope: @tenants is a JSON list, null for all of them,
-- and @issuer and @subject are null where the scope spans submitters. The
-- columns are those of row.go, in its order.
SELECT
    id, state, revision, tenant, issuer, subject,
    mutations, operation_name, document, variables, label,
    idempotent, idempotency_key, retry_of,
    priority, attempts, max_attempts, execution,
    cancellation_requested, result, failure_code, failure_message, attempt_log, purged,
    created_at, not_before, start_before, started_at, finished_at
FROM async_operations
WHERE id = @id
  AND (@tenants IS NULL OR tenant IN (SELECT value FROM json_each(@tenants)))
  AND (@subject IS NULL OR (issuer = @issuer AND subject = @subject));
