-- Up Migration

-- Erasures of persons (ADR 0087). `terms`: the values of the record, to be found in logs; null when the erasure has finished.
-- `version`: exports of an earlier one may contain the record.
create table erasure (
  account_id   bigint not null references account,
  resource     text collate "C" not null check (resource in ('product', 'partner', 'company')),
  id           bigint not null,
  version      bigint not null,
  requested_at timestamptz(3) not null default now(),
  requested_by jsonb not null,
  finished_at  timestamptz(3),
  terms        text[] collate "C",
  -- What was found besides the record, by kind.
  counts       jsonb not null default '{}',
  primary key (account_id, resource, id)
);
create index erasure_open on erasure (account_id) where terms is not null;

-- The feed tells its readers which deletions are erasures.
alter table tombstone add column erased boolean not null default false;

-- Of the record. Null in rows of the previous version, which expire after a day.
alter table idempotency add column resource text collate "C";

grant select on erasure to quartermaster_server;
grant select, insert, update on erasure to quartermaster_writer;
grant update (path, query, filter, error_detail) on request to quartermaster_writer;
