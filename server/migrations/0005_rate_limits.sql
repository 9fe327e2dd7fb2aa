-- Up Migration

-- Requests per minute of an account and of each of its keys. Null: the default of the deployment.
alter table account
  add column requests_per_minute     integer check (requests_per_minute between 1 and 1000000000),
  add column key_requests_per_minute integer check (key_requests_per_minute between 1 and 1000000000);
