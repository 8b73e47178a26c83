-- The head of each backlog, by one probe of the index: neither rows of the
-- future nor the depth of a backlog are ever looked at. Rows are locked as they
-- are found, so that what claim.sql then does to them needs no second look. The
-- transaction may have waited for its locks: its now() is too old.
SELECT head.id, turn.place, head.mutations, head.priority, head.not_before
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])
    WITH ORDINALITY AS turn (tenant, issuer, subject, lane, most, place)
CROSS JOIN LATERAL (
    SELECT q.id, q.mutations, q.priority, q.not_before
    FROM async_operations q
    WHERE q.state = 'QUEUED' AND q.due
      AND q.tenant = turn.tenant AND q.issuer = turn.issuer AND q.subject = turn.subject AND q.lane = turn.lane
      AND q.not_before <= statement_timestamp() AND q.start_before > statement_timestamp() AND q.attempts < q.max_attempts
    ORDER BY q.priority DESC, q.not_before, q.id
    LIMIT turn.most
    FOR UPDATE SKIP LOCKED
) AS head
