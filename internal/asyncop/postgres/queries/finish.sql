-- RUNNING under that claim token → terminal. Rows are locked in id order, so
-- that two batches never wait for each other.
WITH ended AS (
    SELECT *
    FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::smallint[])
        AS ended (id, token, state, result, code, message, execution)
), held AS (
    SELECT o.id
    FROM async_operations o
    JOIN ended ON ended.id = o.id
    WHERE o.state = 'RUNNING' AND o.claim_token = ended.token
    ORDER BY o.id
    FOR UPDATE OF o
)
UPDATE async_operations o
SET state = ended.state,
    revision = o.revision + 1,
    execution = greatest(o.execution, ended.execution),
    result = ended.result,
    failure_code = ended.code,
    failure_message = ended.message,
    attempt_log = async_logged(o.attempt_log, o.started_at, greatest(now(), o.started_at), o.node,
        coalesce(ended.code, ''), ended.execution),
    finished_at = greatest(now(), o.started_at),
    claim_token = NULL,
    node = NULL
FROM ended JOIN held ON held.id = ended.id
WHERE o.id = ended.id AND o.claim_token = ended.token
RETURNING o.id, ended.token, o.state, o.tenant, o.issuer, o.subject, o.lane,
    (extract(epoch FROM o.not_before - now()) * 1000000)::bigint
