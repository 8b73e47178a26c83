-- Which of the claims the node still holds.
SELECT claim.place, o.cancellation_requested
FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS claim (id, token, place)
JOIN async_operations o ON o.id = claim.id
WHERE o.state = 'RUNNING' AND o.claim_token = claim.token AND o.node = $1
