-- Up Migration

-- Fields of which no two records of an account have the same value. Besides fields that the account has declared, those of the
-- catalog that identify records in other systems can be unique.
alter table field drop constraint field_name_check;
alter table field add constraint field_name_known check (
  name ~ '^x_[a-z][a-z0-9_]{0,58}$'
  or (resource, name) in (('product', 'default_code'), ('partner', 'email'), ('company', 'company_code')));

-- * unique_state: null if the field is not unique. 'waiting': nothing has been done until `build_after`, because requests may still
--   write that began before the account had any definitions. 'building': every write maintains the values in the table of keys,
--   but those of records that have not been written since are not complete. 'duplicates': two records have one value.
-- * built_to: the highest id whose value is in the table of keys.
alter table field add column unique_state text collate "C";
alter table field add constraint field_unique_state_check check (unique_state in ('ready', 'waiting', 'building', 'duplicates'));
alter table field add column build_after timestamptz(3);
alter table field add column built_to bigint;

-- The values of unique fields, as text. `field` is the number of the field. Written in the transaction that writes the record, under
-- the lock of the tally.
create table product_key (
  account_id bigint not null,
  field      bigint not null,
  value      text collate "C" not null,
  id         bigint not null,
  primary key (account_id, field, value)
);
create table partner_key (
  account_id bigint not null,
  field      bigint not null,
  value      text collate "C" not null,
  id         bigint not null,
  primary key (account_id, field, value)
);
create table company_key (
  account_id bigint not null,
  field      bigint not null,
  value      text collate "C" not null,
  id         bigint not null,
  primary key (account_id, field, value)
);

grant select on product_key, partner_key, company_key to quartermaster_server;
grant select, insert, delete on product_key, partner_key, company_key to quartermaster_writer;
grant update (unique_state, build_after, built_to) on field to quartermaster_writer;
