-- Up Migration

-- Requests that an account, and each of its keys, may send in a minute. Null: what the deployment gives every account.
alter table account
  add column requests_per_minute     integer check (requests_per_minute between 1 and 1000000000),
  add column key_requests_per_minute integer check (key_requests_per_minute between 1 and 1000000000);
