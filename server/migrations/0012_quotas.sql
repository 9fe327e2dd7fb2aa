-- Up Migration

-- Quotas of an account. Null: the default of the service.
-- * records_max: records of each resource. idempotency_results_max: results that are stored for retries of writes.
-- * audit_rows_max: entries of the audit log.
alter table account add column records_max bigint;
alter table account add constraint account_records_max_check check (records_max between 0 and 1000000000);
alter table account add column idempotency_results_max bigint;
alter table account add constraint account_idempotency_results_max_check check (idempotency_results_max between 0 and 1000000000);
alter table account add column audit_rows_max bigint;
alter table account add constraint account_audit_rows_max_check check (audit_rows_max between 0 and 1000000000);

-- Which master key the secrets of a webhook are derived from, by its fingerprint: the current one, and the one before the last rotation.
-- Null: unknown, because a process of an earlier version wrote it.
alter table webhook add column master_key text collate "C";
alter table webhook add column master_key_before text collate "C";
