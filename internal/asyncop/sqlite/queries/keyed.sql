-- The operation that an idempotency key of a submitter stands for.
SELECT id, fingerprint
FROM async_operations
WHERE tenant = @tenant AND issuer = @issuer AND subject = @subject
  AND idempotency_key = @idempotency_key;
