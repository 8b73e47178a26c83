DELETE FROM async_nodes
WHERE heartbeat_at <= @silent_since;
