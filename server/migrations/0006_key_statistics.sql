-- An account may have 10,000 keys, most accounts have a few. By the average PostgreSQL takes all keys of an account to be
-- as cheap to read as the one with a given hash, and may read all of them for every request that is checked. Told that
-- there are ten accounts, it expects many keys in each, and always uses the index on the hash.
-- Citus refuses this on a table that is distributed already, where each shard is planned by its own statistics.
do $$
begin
  alter table api_key alter column account_id set (n_distinct = 10);
exception
  when feature_not_supported then raise notice 'api_key is distributed: its statistics are left as they are';
end
$$;
