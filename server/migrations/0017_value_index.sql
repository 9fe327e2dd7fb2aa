-- Up Migration

-- The values of the fields that an account has declared, so that filters find and count records by an index. Not written with the
-- records, but behind them, in the order of their versions: a filter evaluates the records that have changed since by themselves.
-- * number: decimals and integers; booleans as 0 and 1; timestamps as milliseconds since 1970.
-- * A negative field with the number 0 marks a record that has no value of the field: only for fields that nearly all records have.
create table product_value (
  account_id bigint not null,
  id         bigint not null,
  field      bigint not null,
  number     numeric,
  text       text collate "C",
  primary key (account_id, id, field),
  check ((number is null) <> (text is null))
);
create index product_value_number on product_value (account_id, field, number, id) where number is not null;
create index product_value_text   on product_value (account_id, field, text, id) where text is not null;
create index product_value_words  on product_value using gin (account_id, field, text collate "default" gin_trgm_ops) with (fastupdate = on, gin_pending_list_limit = 1024) where text is not null;
create table partner_value (
  account_id bigint not null,
  id         bigint not null,
  field      bigint not null,
  number     numeric,
  text       text collate "C",
  primary key (account_id, id, field),
  check ((number is null) <> (text is null))
);
create index partner_value_number on partner_value (account_id, field, number, id) where number is not null;
create index partner_value_text   on partner_value (account_id, field, text, id) where text is not null;
create index partner_value_words  on partner_value using gin (account_id, field, text collate "default" gin_trgm_ops) with (fastupdate = on, gin_pending_list_limit = 1024) where text is not null;
create table company_value (
  account_id bigint not null,
  id         bigint not null,
  field      bigint not null,
  number     numeric,
  text       text collate "C",
  primary key (account_id, id, field),
  check ((number is null) <> (text is null))
);
create index company_value_number on company_value (account_id, field, number, id) where number is not null;
create index company_value_text   on company_value (account_id, field, text, id) where text is not null;
create index company_value_words  on company_value using gin (account_id, field, text collate "default" gin_trgm_ops) with (fastupdate = on, gin_pending_list_limit = 1024) where text is not null;

-- How far these values are written: of all records up to this position in the order of (version, id).
-- * started: the version of the resource when the first value was written. Deletions up to it concern no value.
-- * dense: the fields that nearly all records have.
create table value_index (
  account_id bigint not null references account,
  resource   text collate "C" not null check (resource in ('product', 'partner', 'company')),
  version    bigint not null,
  id         bigint not null,
  started    bigint not null,
  dense      bigint[] not null,
  created_at timestamptz(3) not null default now(),
  primary key (account_id, resource)
);

grant select on product_value, partner_value, company_value, value_index to quartermaster_server;
grant select, insert, delete on product_value, partner_value, company_value, value_index to quartermaster_writer;
grant update (version, id) on value_index to quartermaster_writer;
