-- The silence is checked on the newest version of each row: a heartbeat that
-- came first keeps its node.
DELETE FROM async_nodes
WHERE heartbeat_at < clock_timestamp() - $1::bigint * interval '1 microsecond'
