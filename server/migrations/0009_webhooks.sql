-- Up Migration

-- An endpoint that receives the changes of a resource. It is a consumer of the change feed whose position is stored here.
-- * position_*: everything up to here was delivered, as in a cursor of the feed. sending_*: the end of the range that is being sent;
--   retries send the same range under the same message id.
-- * series: incremented by whatever makes a range be sent anew, such as a replay, so that it gets another message id.
-- * due_at: not before this time; failures, failing_since: since the last delivery.
-- * lease_until, fence: the process that incremented the fence may send until then. Results are stored only under the same fence.
create table webhook (
  account_id       bigint not null references account,
  id               text collate "C" not null,
  resource         text collate "C" not null check (resource in ('product', 'partner', 'company')),
  url              text collate "C" not null,
  filter           text collate "C",
  fields           text collate "C",
  status           text collate "C" not null default 'pending' check (status in ('pending', 'active', 'paused', 'disabled')),
  reason           text collate "C",
  created_at       timestamptz(3) not null default now(),
  generation       integer not null default 1,
  rotated_at       timestamptz(3),
  position_lineage bigint not null,
  position_version bigint not null,
  position_id      bigint not null,
  position_base    bigint not null,
  sending_lineage  bigint,
  sending_version  bigint,
  sending_id       bigint,
  series           integer not null default 0,
  due_at           timestamptz(3) not null default now(),
  failures         integer not null default 0,
  failing_since    timestamptz(3),
  lease_until      timestamptz(3) not null default '-infinity',
  fence            bigint not null default 0,
  primary key (account_id, id)
);

-- What was sent to the endpoints, without contents.
create table delivery (
  account_id   bigint not null,
  at           timestamptz(3) not null default now(),
  id           text collate "C" not null,
  webhook_id   text collate "C" not null,
  message_id   text collate "C" not null,
  kind         text collate "C" not null check (kind in ('changes', 'challenge', 'test')),
  changes      integer not null,
  from_version bigint not null,
  to_version   bigint not null,
  status       integer,
  error        text collate "C",
  duration_ms  numeric not null,
  primary key (account_id, at, id)
);

grant select on webhook, delivery to quartermaster_server;
grant select, insert, update, delete on webhook to quartermaster_writer;
grant select, insert, delete on delivery to quartermaster_writer;
