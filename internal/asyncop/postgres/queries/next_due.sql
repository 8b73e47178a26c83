-- One look at the head of each priority's due rows, and one at the expiries.
SELECT (extract(epoch FROM min(next.at) - now()) * 1000000)::bigint
FROM (
    SELECT head.at
    FROM generate_series(0, 9) AS level (priority)
    CROSS JOIN LATERAL (
        SELECT not_before AS at
        FROM async_operations
        WHERE state = 'QUEUED' AND priority = level.priority
        ORDER BY not_before
        LIMIT 1
    ) AS head
    UNION ALL
    SELECT min(start_before) FROM async_operations WHERE state = 'QUEUED'
) AS next (at)
