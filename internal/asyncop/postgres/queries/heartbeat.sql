INSERT INTO async_nodes (id, heartbeat_at)
VALUES ($1, clock_timestamp())
ON CONFLICT (id) DO UPDATE SET heartbeat_at = excluded.heartbeat_at
