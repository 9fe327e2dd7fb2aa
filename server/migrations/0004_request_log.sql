-- Up Migration

-- What became of an account's requests, newest at the end: so many rows per account, for so many days. No index but the
-- key: rows are written all the time and looked at seldom, and one account has few enough of them to be read through.
create table request (
  account_id   bigint not null,
  at           timestamptz(3) not null,
  id           text collate "C" not null,
  request_id   text collate "C" not null,
  key_id       text collate "C" not null,
  method       text collate "C" not null,
  path         text collate "C" not null,
  query        text collate "C",
  filter       text collate "C",
  status       integer not null,
  error_code   text collate "C",
  error_detail text collate "C",
  duration_ms  numeric not null,
  records      integer not null,
  bytes        bigint not null,
  cached       boolean not null,
  primary key (account_id, at, id)
);

-- How many requests there were and how long they took, by key and route, in a minute or a day. The latencies are a
-- histogram: the numbers of its classes that are not empty, and how many fell into each. Room for HOT updates: a row is
-- added to until its time is over.
create table usage (
  account_id bigint not null,
  per        text collate "C" not null check (per in ('minute', 'day')),
  at         timestamptz(3) not null,
  key_id     text collate "C" not null,
  route      text collate "C" not null,
  requests   bigint not null,
  errors     bigint not null,
  unlogged   bigint not null,
  classes    smallint[] not null,
  counts     bigint[] not null,
  primary key (account_id, per, at, key_id, route)
) with (fillfactor = 70);

grant select, insert, delete on request to quartermaster_server;
grant select, insert, update, delete on usage to quartermaster_server;
