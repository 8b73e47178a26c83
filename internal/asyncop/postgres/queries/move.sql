-- Rows that candidates.sql has locked, to the lane that they belong in now.
UPDATE async_operations o
SET lane = moved.lane
FROM unnest($1::uuid[], $2::text[]) AS moved (id, lane)
WHERE o.id = moved.id AND o.id = ANY ($1::uuid[])
