-- What a node may claim now. The list of priorities lets the index step over
-- rows that are due later. No heartbeat of the node, no row.
SELECT id
FROM async_operations
WHERE state = 'QUEUED'
  AND priority IN (9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
  AND not_before <= @now AND start_before > @now
  AND EXISTS (SELECT 1 FROM async_nodes WHERE async_nodes.id = @node)
ORDER BY priority DESC, not_before, id
LIMIT @limit;
