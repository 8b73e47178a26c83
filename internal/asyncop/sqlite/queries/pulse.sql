-- A claim that is still held. It answers no row for one that is lost.
SELECT cancellation_requested
FROM async_operations
WHERE id = @id AND state = 'RUNNING' AND claim_token = @token AND node = @node;
