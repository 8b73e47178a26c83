-- +goose Up

-- A row is due once its not_before has come: rows of the future stand apart, so
-- that no claim ever meets them. A lane keeps what has a bound of its own out of
-- the way of the rest: see asyncop.Backlog.
ALTER TABLE async_operations ADD COLUMN due INTEGER NOT NULL DEFAULT 1 CHECK (due IN (0, 1));
ALTER TABLE async_operations ADD COLUMN lane TEXT NOT NULL DEFAULT '';
UPDATE async_operations SET due = 0 WHERE state = 'QUEUED' AND not_before > CAST(unixepoch('subsec') * 1000000 AS INTEGER);

DROP INDEX async_operations_due;

-- The due rows of one submitter lie next to each other, in the order in which
-- they are claimed, and those of one tenant too.
CREATE INDEX async_operations_backlog
    ON async_operations (tenant, issuer, subject, lane, priority DESC, not_before, id, start_before)
    WHERE state = 'QUEUED' AND due = 1;
CREATE INDEX async_operations_scheduled ON async_operations (not_before) WHERE state = 'QUEUED' AND due = 0;
CREATE INDEX async_operations_busy ON async_operations (tenant) WHERE node IS NOT NULL;

-- +goose Down
DROP INDEX async_operations_backlog;
DROP INDEX async_operations_scheduled;
DROP INDEX async_operations_busy;
ALTER TABLE async_operations DROP COLUMN lane;
ALTER TABLE async_operations DROP COLUMN due;
CREATE INDEX async_operations_due ON async_operations (priority DESC, not_before, id, start_before)
    WHERE state = 'QUEUED';
