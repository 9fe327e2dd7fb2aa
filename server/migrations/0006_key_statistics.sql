-- An account may have 10,000 keys; most accounts have one or two. From that average, the planner estimates that reading all
-- keys of an account costs as much as reading the one with the requested hash, and may read all of them in every key
-- verification. With n_distinct = 10 it expects that an account has a large number of keys, and always uses the index on
-- the hash. Citus rejects the setting on a distributed table; there each shard has its own statistics.
do $$
begin
  alter table api_key alter column account_id set (n_distinct = 10);
exception
  when feature_not_supported then raise notice 'api_key is distributed: its statistics are left as they are';
end
$$;
