-- Up Migration

-- The fields that accounts have declared for their records.
-- * number: the version of the account's fields that declared it, so no number is used twice.
-- * state: 'dropping' hides the field. Its values are removed in steps, then the row. Its name is free at once; writers of
--   definitions hold the lock of the tally, so no other field in use has the same name.
create table field (
  account_id bigint not null references account,
  resource   text collate "C" not null check (resource in ('product', 'partner', 'company')),
  number     bigint not null check (number > 0),
  name       text collate "C" not null check (name ~ '^x_[a-z][a-z0-9_]{0,58}$'),
  type       text collate "C" not null check (type in ('text', 'integer', 'decimal', 'boolean', 'timestamp')),
  label      text collate "C" not null,
  state      text collate "C" not null default 'stored' check (state in ('stored', 'dropping')),
  created_at timestamptz(3) not null default now(),
  dropped_at timestamptz(3),
  primary key (account_id, resource, number)
);

-- The version of the account's own fields of the resource: 0 if it never declared one. Every declaration, change and deletion
-- increments it together with the version of the resource.
alter table tally add column schema bigint not null default 0;

-- The values of these fields: {"<number>": value}, without null; null if there are none. Before-images have {} instead. A
-- before-image without it was written by a process that did not know of the fields.
alter table product add column custom jsonb;
alter table partner add column custom jsonb;
alter table company add column custom jsonb;
alter table product_before add column custom jsonb;
alter table partner_before add column custom jsonb;
alter table company_before add column custom jsonb;

grant select on field to quartermaster_server;
grant select, insert, delete on field to quartermaster_writer;
grant update (label, state, dropped_at) on field to quartermaster_writer;
grant update (schema) on tally to quartermaster_writer;
