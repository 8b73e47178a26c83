SELECT count(*)
FROM async_operations
WHERE node IS NOT NULL AND tenant = @tenant
  AND EXISTS (SELECT 1 FROM json_each(mutations) AS mutation WHERE mutation.value = @mutation);
