-- Up Migration

-- Counts read only an index as long as VACUUM has marked the pages of the table. By PostgreSQL's defaults it waits until a fifth of a
-- table has changed: of ten million records, 5 % that changed made counts up to five times as slow for hours.
alter table product set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table partner set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table company set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
