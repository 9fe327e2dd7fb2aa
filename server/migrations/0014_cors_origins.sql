-- Up Migration

-- The origins whose pages may use the API of an account in a browser. An account without a row allows none.
create table cors_origins (
  account_id bigint primary key,
  origins    text[] collate "C" not null
);

grant select on cors_origins to quartermaster_server;
grant select, insert, update on cors_origins to quartermaster_writer;
