SELECT count(*) FROM async_operations WHERE node IS NOT NULL AND tenant = @tenant;
