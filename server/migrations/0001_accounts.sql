-- Up Migration

create extension if not exists pg_trgm;
create extension if not exists btree_gin;

-- Has only the privileges that requests need. Serving connections switch to this role.
do $$
begin
  if not exists (select from pg_roles where rolname = 'quartermaster_server') then
    create role quartermaster_server nologin;
  end if;
  if not pg_has_role(current_user, 'quartermaster_server', 'member') then
    execute format('grant quartermaster_server to %I', current_user);
  end if;
  execute format('grant connect on database %I to quartermaster_server', current_database());
  execute format('grant usage on schema %I to quartermaster_server', current_schema());
end $$;

-- The directory of accounts: the only table without data of one account. On Citus it is a reference table.
-- A name is the first label of a host. It never changes and is never reused for another account.
create table account (
  account_id bigint generated always as identity primary key,
  name       text collate "C" not null unique check (name ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
  status     text collate "C" not null default 'active' check (status in ('active', 'suspended')),
  created_at timestamptz not null default now()
);

create table api_key (
  account_id bigint not null references account,
  key_id     text collate "C" not null,
  -- SHA-256 of the complete key. The key has 178 random bits, so a slow hash would not add protection.
  hash       bytea not null check (octet_length(hash) = 32),
  name       text not null check (char_length(name) between 1 and 100),
  scopes     text[] collate "C" not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  primary key (account_id, key_id),
  unique (account_id, hash)
);

-- One row per account and resource, updated in the transaction of every write: see ARCHITECTURE.md.
-- The fill factor leaves space for HOT updates: every write changes the row, none changes its key.
create table tally (
  account_id bigint not null references account,
  resource   text collate "C" not null check (resource in ('product', 'partner', 'company')),
  version    bigint not null default 0,
  total      bigint not null default 0 check (total >= 0),
  last_id    bigint not null default 0 check (last_id between 0 and 9007199254740991),
  primary key (account_id, resource)
) with (fillfactor = 50);

-- Results of creates with an Idempotency-Key, written in the transaction of the create.
create table idempotency (
  account_id   bigint not null references account,
  key          text collate "C" not null check (char_length(key) between 1 and 255),
  request_hash bytea not null,
  record_id    bigint not null,
  created_at   timestamptz not null default now(),
  primary key (account_id, key)
);
create index idempotency_by_age on idempotency (account_id, created_at);

grant select on account, api_key, tally to quartermaster_server;
grant update (version, total, last_id) on tally to quartermaster_server;
grant select, insert, update, delete on idempotency to quartermaster_server;
