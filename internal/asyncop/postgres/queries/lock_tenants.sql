-- Until the transaction ends no other claims of these tenants, so that what runs
-- of them only becomes less. Locks are taken in one order everywhere.
SELECT pg_advisory_xact_lock($2::integer, held.key)
FROM (SELECT DISTINCT hashtext(tenant) AS key FROM unnest($1::text[]) AS tenant ORDER BY key) AS held
