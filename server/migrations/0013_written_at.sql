-- Up Migration

-- The date of the last write. The next write takes the later one of this and the clock, so that dates never decrease from one
-- version to the next, even after a failover to a server whose clock is behind. Null until the first write.
alter table tally add column written_at timestamptz(3);
grant update (written_at) on tally to quartermaster_writer;
