-- A row that waits, to the lane that it belongs in now.
UPDATE async_operations SET lane = @lane WHERE id = @id AND state = 'QUEUED';
