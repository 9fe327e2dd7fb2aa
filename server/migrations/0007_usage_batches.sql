-- Up Migration

-- The last batch that each process has added to the row, newest first. If the result of a write is unknown, the process
-- sends the batch again, and rows that already contain it are not changed.
alter table usage add column batches text[] collate "C" not null default '{}';
