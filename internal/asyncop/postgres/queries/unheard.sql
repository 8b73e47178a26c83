-- The claims that a node made with a seed.
SELECT id, claim_token
FROM async_operations
WHERE state = 'RUNNING' AND node = $1 AND claim_token = async_claim_token($2, id)
