-- The node's row is share-locked, so that a recovery of this node comes wholly
-- before (nothing is claimed) or wholly after (it sees what was claimed). This
-- runs after lock_tenants.sql, and sees all that was claimed before.
WITH alive AS (
    SELECT id FROM async_nodes WHERE id = $1 FOR KEY SHARE
)
SELECT asked.tenant, asked.mutation, (
    SELECT count(*)
    FROM async_operations o
    WHERE o.state = 'RUNNING' AND o.tenant = asked.tenant
      AND (asked.mutation = '' OR asked.mutation = ANY (o.mutations)))
FROM alive
CROSS JOIN unnest($2::text[], $3::text[]) AS asked (tenant, mutation)
