/** The parts of other statements that those of the change feed contain, as regular expressions. */
export interface SharedParts {
  readonly state: string
  readonly server: string
  readonly lineages: string
  readonly json: string
  readonly table: string
  readonly field: string
}

/** Statements of the change feed. In the texts, `«…»` are parts, and everything else is literal. */
export function changesShapes({ state, server, lineages, json, table, field }: SharedParts): string[] {
  const parts: Record<string, string> = {
    state,
    server,
    lineages,
    json,
    table,
    C: '(?:C|\\$)',
    columns: `(?:, ${field})*`,
    // pg_stat_statements replaces null, too.
    null: '(?:null|\\$)',
    nulls: '(?:, (?:null|\\$))*',
  }
  return [page('', '', '', '', '', '', '«null», «null»'), filteredPage, changedTallies, validKeys].map(
    (text) =>
      text
        .replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
        .replaceAll(/«(\w+)»/g, (_, name: string) => parts[name] ?? ''),
  )
}

const after = '($::bigint, $::bigint)'
const idAndVersion = 'r.id || $ || r.version'

function page(
  head: string,
  removed: string,
  scanStart: string,
  scanEnd: string,
  sent: string,
  examined: string,
  bound: string,
): string {
  const isFiltered = head !== ''
  return (
    `${head}select «state», «lineages», p.count, p.changes, p.last_version, p.last_id, p.count = $::int and ( ` +
    'exists (select from «table» n where n.account_id = $::bigint and (n.version, n.id) > (p.last_version, p.last_id)) ' +
    'or exists (select from tombstone n where n.account_id = $::bigint and n.resource = $::text ' +
    `and (n.version, n.id) > (p.last_version, p.last_id) and (n.version, n.id) > ${after})) as more, b.bound_version, b.bound_id ` +
    'from tally t cross join ( select count(*) as count, coalesce(string_agg(' +
    `case when r.deleted then $ || ${idAndVersion} || $${removed} ` +
    `else case when r.version <= $::bigint or (r.created_version, r.id) > ${after} then $ else $ end ` +
    `|| ${idAndVersion} || $ || «json» || $ end, $::text), $) as changes, ` +
    'max(r.version) as last_version, (array_agg(r.id))[count(*)::int] as last_id from ( select * from ( ' +
    `(${scanStart}select version, id, created_version«columns», $ as deleted${isFiltered ? ', «C» is $ as matches' : ''} ` +
    `from «table» where account_id = $::bigint and (version, id) > ${after} order by version, id limit $::int${scanEnd}) union all ` +
    `(select d.version, d.id, $«nulls», $${isFiltered ? ', $' : ''} from tombstone d where d.account_id = $::bigint ` +
    `and d.resource = $::text and (d.version, d.id) > ${after} and not exists (select from «table» n ` +
    `where n.account_id = $::bigint and n.id = d.id and n.version = d.version${sent})${examined} ` +
    'order by d.version, d.id limit $::int) ) c order by version, id limit $::int ) r ) p ' +
    `cross join (select ${bound}) b (bound_version, bound_id) where t.account_id = $::bigint and t.resource = $::text`
  )
}

const filteredPage = page(
  `with bound as materialized ( select version, id from «table» where account_id = $::bigint and (version, id) > ${after} ` +
    'order by version, id offset $::int - $ limit $ ) ',
  ` when not r.matches then $ || ${idAndVersion} || $`,
  'select * from ( ',
  `) s where matches or (version > $::bigint and (created_version, id) <= ${after}) order by version, id limit $::int`,
  ` and («C» is $ or (n.created_version, n.id) <= ${after})`,
  ' and not exists (select from bound b where (d.version, d.id) > (b.version, b.id))',
  '(select b.version from bound b), (select b.id from bound b)',
)

const changedTallies =
  'select «server» as epoch, string_agg(concat_ws($, q.n, t.version, t.xmin, «server»), $) as found ' +
  'from unnest($::bigint[], $::text[], $::bigint[], $::text[]) with ordinality q(account_id, resource, version, xid, n) ' +
  'join tally t on t.account_id = q.account_id and t.resource = q.resource ' +
  'where t.account_id = any($::bigint[]) and (t.version <> q.version or t.xmin::text <> q.xid)'

const validKeys =
  'select «server» as epoch, string_agg(q.n::text, $) as found from unnest($::bigint[], $::text[]) with ordinality ' +
  'q(account_id, key_id, n) join api_key k on k.account_id = q.account_id and k.key_id = q.key_id ' +
  'join account a on a.account_id = k.account_id where k.account_id = any($::bigint[]) and a.status = $ ' +
  'and not (revoked_at is not null or (expires_at is not null and expires_at <= now()))'
