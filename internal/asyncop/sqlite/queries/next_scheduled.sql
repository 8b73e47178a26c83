-- When the next row comes due; null without any.
SELECT min(not_before) FROM async_operations WHERE state = 'QUEUED' AND due = 0;
