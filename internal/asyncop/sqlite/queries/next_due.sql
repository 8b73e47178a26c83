-- The first moment at which a QUEUED row is due or expires; null without any.
SELECT min(at)
FROM (
    SELECT (SELECT not_before
            FROM async_operations
            WHERE state = 'QUEUED' AND priority = level.column1
            ORDER BY not_before
            LIMIT 1) AS at
    FROM (VALUES (9), (8), (7), (6), (5), (4), (3), (2), (1), (0)) AS level
    UNION ALL
    SELECT min(start_before) FROM async_operations WHERE state = 'QUEUED');
