SELECT count(*) FROM (SELECT 1 FROM async_nodes LIMIT 1);
