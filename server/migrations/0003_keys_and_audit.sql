-- Up Migration

-- The key that replaced this one, the day of its last use, and the request that created it.
alter table api_key
  add column rotated_to      text collate "C",
  add column last_used_on    date,
  add column idempotency_key text collate "C" check (char_length(idempotency_key) between 1 and 255),
  add column request_hash    bytea;
-- The fill factor leaves space for HOT updates: the day of the last use changes once a day, indexed columns never.
alter table api_key set (fillfactor = 80);

-- Who changed what in an account, written in the transaction of the change. The serving role can insert and read rows;
-- only the owner of the table can change or delete them.
create table audit (
  account_id  bigint not null references account,
  at          timestamptz(3) not null default date_trunc('milliseconds', now()),
  id          text collate "C" not null,
  action      text collate "C" not null,
  subject     text collate "C" not null,
  details     text collate "C",
  actor       text collate "C" not null check (actor in ('key', 'operator')),
  actor_id    text collate "C" not null,
  application text collate "C",
  address     text collate "C",
  primary key (account_id, at, id)
);

grant insert, delete on api_key to quartermaster_server;
grant update (expires_at, revoked_at, rotated_to, last_used_on) on api_key to quartermaster_server;
grant select, insert on audit to quartermaster_server;
