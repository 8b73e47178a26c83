INSERT INTO async_nodes (id, heartbeat_at)
VALUES (@node, @now)
ON CONFLICT (id) DO UPDATE SET heartbeat_at = excluded.heartbeat_at;
