-- Up Migration

-- An account's requests and their results, with a limit on rows per account and on days. The only index is the primary
-- key: rows are written often and read rarely, and the limit on rows makes a scan of an account's key range fast enough.
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

-- Number and latency of requests by key and route, per minute and per day. The latencies are a sparse histogram: the
-- indexes of its non-empty classes and the count of each. The fill factor leaves space for HOT updates: a row is updated
-- until its minute or day has ended.
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
