SELECT EXISTS (SELECT 1 FROM async_nodes WHERE id = @node);
