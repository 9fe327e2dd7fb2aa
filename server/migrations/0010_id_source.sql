-- Up Migration

-- Who assigns the ids of an account's resource. If `own_last_id` is set, another system does, and this service assigns ids from 2^32 on.
-- Otherwise this service does, from the first id on; until then the first write decides.
-- * sender_ids_from: the lowest id that the other system may assign. This service has assigned those below it.
-- * service_ids: an administrator has decided that this service assigns the ids, although it has not assigned any yet.
alter table tally add column sender_ids_from bigint not null default 1;
alter table tally add column service_ids boolean not null default false;
-- Not valid: the rows that exist have the default, so they need not be read.
alter table tally add constraint tally_sender_ids_from_check check (sender_ids_from between 1 and 4294967296) not valid;
