/** Statements of the request log and usage: writing after responses, and deleting what exceeds the limits. `$` is escaped below. */
export const activityShapes: readonly string[] = [
  'insert into request (account_id, id, at, request_id, key_id, method, path, query, filter, status, error_code, ' +
    'error_detail, duration_ms, records, bytes, cached) select * from unnest($::bigint[], $::text[], $::timestamptz[], ' +
    '$::text[], $::text[], $::text[], $::text[], $::text[], $::text[], $::int[], $::text[], $::text[], $::numeric[], ' +
    '$::int[], $::bigint[], $::boolean[]) on conflict (account_id, at, id) do nothing',
  'insert into usage as u (account_id, per, at, key_id, route, requests, errors, unlogged, classes, counts, ' +
    'batches) select account_id, per, at, key_id, route, requests, errors, unlogged, classes::smallint[], counts::bigint[], ' +
    'array[$::text] ' +
    'from unnest($::bigint[], $::text[], $::timestamptz[], $::text[], $::text[], $::bigint[], $::bigint[], $::bigint[], ' +
    '$::text[], $::text[]) s(account_id, per, at, key_id, route, requests, errors, unlogged, classes, counts) ' +
    'on conflict (account_id, per, at, key_id, route) do update set requests = u.requests + excluded.requests, ' +
    'errors = u.errors + excluded.errors, unlogged = u.unlogged + excluded.unlogged, (classes, counts) = ( ' +
    'select coalesce(array_agg(m.class order by m.class), $), coalesce(array_agg(m.count order by m.class), $) from ( ' +
    'select b.class, sum(b.count)::bigint as count from ( select * from unnest(u.classes, u.counts) ' +
    'union all select * from unnest(excluded.classes, excluded.counts) ) b(class, count) group by b.class ) m ), ' +
    'batches = excluded.batches || array( select o.batch from unnest(u.batches) with ordinality o(batch, n) ' +
    'where split_part(o.batch, $, $) <> split_part(excluded.batches[$], $, $) ' +
    'order by o.n limit $ ) where not u.batches && excluded.batches',
  'with due as ( select k.account_id, k.key_id, q.day from unnest($::bigint[], $::text[], $::date[]) ' +
    'q(account_id, key_id, day) join api_key k on k.account_id = q.account_id and k.key_id = q.key_id ' +
    'where k.account_id = any($::bigint[]) and (k.last_used_on is null or k.last_used_on < q.day) ' +
    'order by k.account_id, k.key_id for no key update of k ) update api_key k set last_used_on = due.day from due ' +
    'where k.account_id = due.account_id and k.key_id = due.key_id and k.account_id = any($::bigint[])',
  'delete from request where account_id = $::bigint and (at, id) <= ( select at, id from request ' +
    'where account_id = $::bigint order by at desc, id desc offset $::int limit $)',
  'delete from usage where account_id = $::bigint and per = $::text and (at, key_id, route) <= ( ' +
    'select at, key_id, route from usage where account_id = $::bigint and per = $::text ' +
    'order by at desc, key_id desc, route desc offset $::int limit $)',
  'delete from request where account_id = any($::bigint[]) and at < now() - make_interval(days => $::int)',
  'delete from delivery where account_id = any($::bigint[]) and at < now() - make_interval(days => $::int)',
  'delete from usage where account_id = any($::bigint[]) and per = $ and at < now() - make_interval(days => $::int)',
  'delete from idempotency where account_id = any($::bigint[]) and created_at <= now() - make_interval(hours => $::int)',
  ...['product', 'partner', 'company'].map(
    (name) =>
      `with recursive a as ( (select account_id from ${name}_before where account_id > $::bigint order by account_id limit $) union all ` +
      `select (select b.account_id from ${name}_before b where b.account_id > a.account_id order by b.account_id limit $) from a ` +
      'where a.account_id is not null ) select a.account_id, (select b.at < now() - make_interval(mins => $::int) ' +
      `from ${name}_before b where b.account_id = a.account_id order by b.version limit $) as expired ` +
      'from a where a.account_id is not null limit $::int',
  ),
  'select t.account_id, (select b.at < now() - make_interval(days => $::int) from tombstone b ' +
    'where b.account_id = t.account_id and b.resource = $::text order by b.version limit $) as expired ' +
    'from tally t where t.account_id > $::bigint and t.resource = $::text order by t.account_id limit $::int',
  'select account_id as id from account order by account_id desc limit $',
  'select account_id as id from account where account_id > $::bigint order by account_id limit $::int',
].map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
