-- Up Migration

-- The last batch of each process that was added to the row, newest first. A process that does not know whether its batch
-- was written sends it again; a row that has it already leaves it out.
alter table usage add column batches text[] collate "C" not null default '{}';
