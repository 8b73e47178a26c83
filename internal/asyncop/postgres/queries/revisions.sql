SELECT id, revision FROM async_operations WHERE id = ANY ($1::uuid[])
