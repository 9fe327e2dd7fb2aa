-- Up Migration

-- Who wrote a record: the id of an API key, 'import' or 'restore'. Null if a process of the previous version wrote it. Before-images have
-- what the record had, and a tombstone names who deleted it. No index has them: a filter on them reads the account's records.
alter table product add column created_by text collate "C";
alter table product add column changed_by text collate "C";
alter table partner add column created_by text collate "C";
alter table partner add column changed_by text collate "C";
alter table company add column created_by text collate "C";
alter table company add column changed_by text collate "C";
alter table product_before add column created_by text collate "C";
alter table product_before add column changed_by text collate "C";
alter table partner_before add column created_by text collate "C";
alter table partner_before add column changed_by text collate "C";
alter table company_before add column created_by text collate "C";
alter table company_before add column changed_by text collate "C";
alter table tombstone add column deleted_by text collate "C";
