-- The first moment at which a QUEUED row comes due or expires; null without any.
SELECT min(at)
FROM (
    SELECT min(not_before) AS at FROM async_operations WHERE state = 'QUEUED' AND due = 0
    UNION ALL
    SELECT min(start_before) FROM async_operations WHERE state = 'QUEUED');
