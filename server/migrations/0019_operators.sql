-- Deletions of accounts, scheduled, running and ended (ADR 0081). A row stays when the account is gone, so that its name is never
-- used again. Not `account_id`: the table has no data of accounts, and on Citus it stays on the coordinator.
create table account_deletion (
  name         text collate "C" primary key,
  former_id    bigint not null,
  state        text collate "C" not null default 'scheduled' check (state in ('scheduled', 'deleting', 'deleted')),
  requested_at timestamptz(3) not null default now(),
  requested_by text collate "C" not null,
  due_at       timestamptz(3) not null,
  started_at   timestamptz(3),
  ended_at     timestamptz(3),
  -- Records when the deletion began, for its progress.
  records      bigint,
  -- Deleted rows by table.
  counts       jsonb not null default '{}'
);

-- Tokens of the operator API (ADR 0080): only the hash is stored.
create table operator_token (
  id         text collate "C" primary key,
  name       text collate "C" not null check (char_length(name) between 1 and 100),
  hash       bytea not null unique check (octet_length(hash) = 32),
  scopes     text[] collate "C" not null,
  created_at timestamptz(3) not null default now(),
  created_by text collate "C" not null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3)
);

-- Every call of the operator API. Without a status: the process ended before the response.
create table operator_audit (
  at          timestamptz(3) not null default now(),
  id          text collate "C" not null,
  token_id    text collate "C" not null,
  token_name  text collate "C" not null,
  address     text collate "C",
  application text collate "C",
  method      text collate "C" not null,
  path        text collate "C" not null,
  request_id  text collate "C" not null,
  status      integer,
  error_code  text collate "C",
  primary key (at, id)
);
