-- One probe of the index a tenant, whatever lies between. The whole order of the
-- index is asked for, so that no other index of tenants will do.
WITH RECURSIVE found (tenant) AS (
    (SELECT first.tenant
     FROM (
        (SELECT o.tenant
         FROM async_operations o
         WHERE o.state = 'QUEUED' AND o.due AND $1::text = '' AND o.tenant = ''
         LIMIT 1)
        UNION ALL
        (SELECT o.tenant
         FROM async_operations o
         WHERE o.state = 'QUEUED' AND o.due AND o.tenant > $1
         ORDER BY o.tenant, o.issuer, o.subject, o.lane
         LIMIT 1)
     ) AS first
     LIMIT 1)
    UNION ALL
    SELECT next.tenant
    FROM found
    CROSS JOIN LATERAL (
        SELECT o.tenant
        FROM async_operations o
        WHERE o.state = 'QUEUED' AND o.due AND o.tenant > found.tenant
        ORDER BY o.tenant, o.issuer, o.subject, o.lane
        LIMIT 1
    ) AS next
)
SELECT tenant FROM found LIMIT $2
