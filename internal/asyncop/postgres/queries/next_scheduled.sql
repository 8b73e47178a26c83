SELECT (extract(epoch FROM min(not_before) - now()) * 1000000)::bigint
FROM async_operations
WHERE state = 'QUEUED' AND NOT due
