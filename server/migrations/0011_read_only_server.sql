-- Up Migration

-- Since migration 0008 every write uses the role quartermaster_writer, so the role of reads needs nothing but `select`. Until now
-- it could insert an API key for any account, delete keys and the request log, and move a tally. Processes from before migration
-- 0008 still write with it: stop them first.
revoke insert, update, delete on api_key, audit, request, usage, idempotency, partner from quartermaster_server;
revoke update (expires_at, revoked_at, rotated_to, last_used_on) on api_key from quartermaster_server;
revoke update (version, total, last_id) on tally from quartermaster_server;
-- Results of writes contain records, and only writes read them.
revoke select on idempotency from quartermaster_server;
