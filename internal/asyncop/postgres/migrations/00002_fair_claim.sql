-- +goose Up

-- A row is due once its not_before has come: rows of the future stand apart, so
-- that no claim ever meets them. A lane keeps what has a bound of its own out of
-- the way of the rest: see asyncop.Backlog.
ALTER TABLE async_operations
    ADD COLUMN due boolean NOT NULL DEFAULT true,
    ADD COLUMN lane text NOT NULL DEFAULT '';
UPDATE async_operations SET due = false WHERE state = 'QUEUED' AND not_before > now();

DROP INDEX async_operations_due;
DROP INDEX async_operations_running;

-- The due rows of one submitter lie next to each other, in the order in which
-- they are claimed, and those of one tenant too.
CREATE INDEX async_operations_backlog
    ON async_operations (tenant, issuer, subject, lane, priority DESC, not_before, id)
    WHERE state = 'QUEUED' AND due;
CREATE INDEX async_operations_scheduled ON async_operations (not_before) WHERE state = 'QUEUED' AND NOT due;
CREATE INDEX async_operations_running ON async_operations (tenant, node) WHERE state = 'RUNNING';

-- +goose Down
DROP INDEX async_operations_backlog;
DROP INDEX async_operations_scheduled;
DROP INDEX async_operations_running;
ALTER TABLE async_operations DROP COLUMN due, DROP COLUMN lane;
CREATE INDEX async_operations_due ON async_operations (priority, not_before, id) WHERE state = 'QUEUED';
CREATE INDEX async_operations_running ON async_operations (node) WHERE state = 'RUNNING';
