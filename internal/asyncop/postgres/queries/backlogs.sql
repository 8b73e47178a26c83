-- One probe of the index a backlog, from where each tenant's last page ended.
SELECT page.tenant, backlog.issuer, backlog.subject, backlog.lane
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS page (tenant, issuer, subject, lane)
CROSS JOIN LATERAL (
    WITH RECURSIVE found (issuer, subject, lane) AS (
        (SELECT o.issuer, o.subject, o.lane
         FROM async_operations o
         WHERE o.state = 'QUEUED' AND o.due AND o.tenant = page.tenant
           AND (o.issuer, o.subject, o.lane) > (page.issuer, page.subject, page.lane)
         ORDER BY o.issuer, o.subject, o.lane, o.priority DESC
         LIMIT 1)
        UNION ALL
        SELECT next.issuer, next.subject, next.lane
        FROM found
        CROSS JOIN LATERAL (
            SELECT o.issuer, o.subject, o.lane
            FROM async_operations o
            WHERE o.state = 'QUEUED' AND o.due AND o.tenant = page.tenant
              AND (o.issuer, o.subject, o.lane) > (found.issuer, found.subject, found.lane)
            ORDER BY o.issuer, o.subject, o.lane, o.priority DESC
            LIMIT 1
        ) AS next
    )
    SELECT found.issuer, found.subject, found.lane FROM found LIMIT $5
) AS backlog
