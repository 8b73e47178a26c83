-- One look at the head of the scheduled rows, and one at the expiries.
SELECT (extract(epoch FROM min(next.at) - now()) * 1000000)::bigint
FROM (
    SELECT min(not_before) FROM async_operations WHERE state = 'QUEUED' AND NOT due
    UNION ALL
    SELECT min(start_before) FROM async_operations WHERE state = 'QUEUED'
) AS next (at)
