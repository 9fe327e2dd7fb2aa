-- Up Migration

-- Connections that write records switch to this role; those that read keep the serving role, which cannot. Everybody who can
-- switch to the serving role can switch to this one. Creating it may need more privileges than the owner of the tables has.
do $$
declare
  members text := (
    select string_agg(distinct quote_ident(member), ', ') from (
      select r.rolname as member from pg_auth_members m
      join pg_roles r on r.oid = m.member join pg_roles s on s.oid = m.roleid
      where s.rolname = 'quartermaster_server'
      union select current_user) who);
  lacking boolean;
begin
  if not exists (select from pg_roles where rolname = 'quartermaster_writer') then
    create role quartermaster_writer nologin;
  end if;
  select bool_or(not pg_has_role(trim(both '"' from member), 'quartermaster_writer', 'member')) into lacking
  from string_to_table(members, ', ') member;
  if lacking then
    execute format('grant quartermaster_writer to %s', members);
  end if;
  execute format('grant usage on schema %I to quartermaster_writer', current_schema());
  if not has_database_privilege('quartermaster_writer', current_database(), 'connect') then
    execute format('grant connect on database %I to quartermaster_writer', current_database());
  end if;
exception
  when insufficient_privilege then
    raise exception using errcode = 'insufficient_privilege',
      message = 'This migration needs the role quartermaster_writer, which ' || current_user || ' may not create or grant.',
      hint = 'Run as a superuser, then migrate again: create role quartermaster_writer nologin; grant quartermaster_writer to ' || members || ';';
end $$;

-- The change feed reads the records of an account in the order of their versions. `created_version` is the version that
-- created the record; 0 if it was created before this migration, or by a process of the previous version.
-- On tables with records, build these indexes before the upgrade with `create index concurrently`.
alter table product add column created_version bigint not null default 0;
alter table partner add column created_version bigint not null default 0;
alter table company add column created_version bigint not null default 0;
create index if not exists product_version on product (account_id, version, id);
create index if not exists partner_version on partner (account_id, version, id);
create index if not exists company_version on company (account_id, version, id);

-- * lineages: identifies the uninterrupted series of writes of which the current version is part, newest first; a failover, a
--   restart, a restore, and a write by anything else than this service begin a new one. lineage_starts: the version at which
--   each began. A cursor of an earlier lineage is valid up to the version at which the next one began.
-- * writer_epoch, writer_xid: the server and the transaction of the last write, by which the next write detects an interruption.
-- * changes_from: deletions after this version are all in `tombstone`; images_from: changes after it have before-images. The first
--   write sets both.
-- * own_last_id: null if this service assigns all ids. Otherwise ids come from another system, and this is the last id that this
--   service assigned, from 2^32 on.
alter table tally
  add column lineages       bigint[] not null default '{}',
  add column lineage_starts bigint[] not null default '{}',
  add column writer_epoch   bigint not null default 0,
  add column writer_xid     xid not null default '0',
  add column changes_from   bigint not null default 0,
  add column images_from    bigint not null default 0,
  add column own_last_id    bigint check (own_last_id between 4294967295 and 9007199254740991);
-- Deleted records: their ids, for the change feed.
create table tombstone (
  account_id bigint not null,
  resource   text collate "C" not null check (resource in ('product', 'partner', 'company')),
  version    bigint not null,
  id         bigint not null,
  at         timestamptz(3) not null default now(),
  primary key (account_id, resource, version, id)
);

-- Before-images: each record as it was before it was changed or deleted at `version`. Cached totals of filters are carried
-- across writes with them. Deleted after minutes. Their columns are those of the record without its checks, which it has passed.
create table product_before (
  account_id      bigint not null,
  version         bigint not null,
  id              bigint not null,
  created_version bigint not null,
  at              timestamptz(3) not null default now(),
  name            text collate "C",
  default_code    text collate "C",
  list_price      numeric,
  qty_available   numeric,
  active          boolean,
  categ_id        bigint,
  product_tmpl_id bigint,
  is_rsd_product  boolean,
  create_date     timestamptz(3),
  write_date      timestamptz(3),
  primary key (account_id, version, id)
);
create table partner_before (
  account_id      bigint not null,
  version         bigint not null,
  id              bigint not null,
  created_version bigint not null,
  at              timestamptz(3) not null default now(),
  name            text collate "C",
  is_company      boolean,
  is_patient      boolean,
  is_customer     boolean,
  is_vendor       boolean,
  is_employee     boolean,
  email           text collate "C",
  phone           text collate "C",
  active          boolean,
  create_date     timestamptz(3),
  write_date      timestamptz(3),
  primary key (account_id, version, id)
);
create table company_before (
  account_id      bigint not null,
  version         bigint not null,
  id              bigint not null,
  created_version bigint not null,
  at              timestamptz(3) not null default now(),
  name            text collate "C",
  company_code    text collate "C",
  branch_user     text collate "C",
  create_date     timestamptz(3),
  write_date      timestamptz(3),
  primary key (account_id, version, id)
);

-- The response to a PATCH with an Idempotency-Key, for retries.
alter table idempotency
  add column status smallint,
  add column etag   text collate "C",
  add column body   text;

grant select on tombstone, product_before, partner_before, company_before to quartermaster_server;

grant select on account, api_key, tally, audit, product, partner, company to quartermaster_writer;
grant select, insert, update, delete on idempotency, usage to quartermaster_writer;
grant select, insert, delete on request to quartermaster_writer;
grant insert, delete on api_key to quartermaster_writer;
grant update (expires_at, revoked_at, rotated_to, last_used_on) on api_key to quartermaster_writer;
grant insert on audit to quartermaster_writer;
grant update (version, total, last_id, lineages, lineage_starts, writer_epoch, writer_xid, changes_from, images_from, own_last_id) on tally to quartermaster_writer;
grant insert, update, delete on product, partner, company to quartermaster_writer;
grant select, insert, delete on tombstone, product_before, partner_before, company_before to quartermaster_writer;
