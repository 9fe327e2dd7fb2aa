import { activityShapes } from './activity-shapes.ts'
import { resources } from './schema.ts'

/**
 * The statements that serving a request can cause, written down by hand. A text that does not fit was either put
 * together from something else than our own fragments, or is new: then it is added here, on purpose.
 */

const fieldNames = [
  ...new Set(Object.values(resources).flatMap(({ fields }) => fields.map(({ name }) => name))),
]
const field = `(?:${fieldNames.join('|')})`
const table = '(?:product|partner|company)'
const type = '(?:bigint|numeric|text|boolean|timestamptz)'

/** The only constants that our own text holds, and the names of members. */
const literals = new Set([
  ...`'UTC' '\\"YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\\"' ',' '' '}' 'null' 'partner' 'active' '+' 'hex' 'minute' 'day'`.split(
    ' ',
  ),
  "' '",
  // Of usage: the name of a batch, and no latencies.
  "'-'",
  "'{}'",
  // Of exports: characters that JSON cannot have, and what a spreadsheet would take for a formula.
  String.raw`'\x01'`,
  String.raw`'\x02'`,
  "''''",
  String.raw`'^''*[=+@\t\r\n＝＋－＠-]'`,
  String.raw`'[;\t\r\n]'`,
  String.raw`'(?<=[;\t\r\n])(?=[''"]*[=+@＝＋－＠-])'`,
  "'g'",
  `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`,
  ...fieldNames.flatMap((name) => [`'{"${name}":'`, `',"${name}":'`]),
])

// What a filter becomes: conditions, which are C from here on, and groups of them, which are C again.
const condition = new RegExp(
  [
    `(?<![.\\w])${field} (?:=|<>|<|<=|>|>=) \\$::${type}(?!\\[)`,
    `(?<![.\\w])${field} (?:= any|<> all)\\(\\$::${type}\\[\\]\\)`,
    `(?<![.\\w])${field} collate "default" (?:not )?ilike \\$::text`,
    `(?<![.\\w])${field} is (?:not )?null`,
  ].join('|'),
  'g',
)
const group = /\((?:C|\$)(?:(?: and (?:C|\$))+|(?: or (?:C|\$))+)?\)/g

// A record as JSON text: the name of each member is a constant, its value a column as text.
const wire = `(?:r\\.${field}::text|to_json\\(r\\.${field}\\)::text|to_char\\(r\\.${field} at time zone \\$, \\$\\))`
const member = `\\$ \\|\\| (?:${wire}|coalesce\\(${wire}, \\$\\))`
const json = `${member}(?: \\|\\| ${member})* \\|\\| \\$`
const account = 'account_id = \\$::bigint'
const page = 'limit \\$::int offset \\$::bigint'
const select = `select id(?:, ${field})* from ${table} where ${account}`
const size = '\\(select n from size\\)'

// A list: tally, total and page. With a filter, the matches are looked for by what there is of them.
const C = '(?:C|\\$)'
const match = `select id from ${table} where ${account} and ${C}`
const matches = `(?:${match}|select id from \\(${match}(?: union all ${match})*\\) m)`
const few =
  `with few as materialized \\( ${matches} ` +
  'limit \\$::int \\+ \\$ \\), size as materialized \\(select count\\(\\*\\) as n from few\\) '
// In a small account, all of them.
const little = `with few as materialized \\( select id from ${table} where ${account}(?: and ${C}(?: is \\$)?)+ \\) `
const total =
  `case when ${size} <= \\$::int then ${size} ` +
  `else \\(select count\\(\\*\\) from ${table} where ${account} and ${C}\\) end`
// Not out of an index that has all the columns asked for.
const byRecords = '(?: and ctid is not null)?'
const byIds = (ids: string) => `${select} and id = any\\(array\\(${ids} order by id ${page}\\)\\)`
// Along the ids, perhaps from the end of another page on, perhaps with the records looked up in the end.
const walk = (narrowed: string) =>
  `(?:${select}${narrowed} order by id ${page}|${select} and id = any\\(array\\( ` +
  `select id from ${table} where ${account}${narrowed} order by id ${page}\\)\\))`
const someRows =
  `${byIds('select id from few')} and ${size} <= \\$::int ` +
  `union all \\( ${walk(` and ${C} and ${size} > \\$::int`)}\\)`
const knownRows = `(?:${byIds(`select id from \\(${matches}\\) m`)}|${walk(`(?: and ${C}(?: is \\$)?)+${byRecords}`)})`
const allRows = walk(`(?: and C)?${byRecords}`)
const server =
  'encode\\(timestamptz_send\\(pg_postmaster_start_time\\(\\)\\), \\$\\) \\|\\| ' +
  'substr\\(pg_walfile_name\\(pg_current_wal_lsn\\(\\)\\), \\$, \\$\\)'
const epoch = `${server} as epoch`
const state = `${epoch}, t\\.version, t\\.xmin::text as xid`
const list = (head: string, ofTotal: string, rows: string) =>
  `${head}select ${state}, ${ofTotal} as total, p\\.count, p\\.records, p\\.last_id from tally t ` +
  `cross join \\( select count\\(\\*\\) as count, ` +
  `coalesce\\(string_agg\\(${json}, \\$(?: order by r\\.id)?\\), \\$\\) as records, max\\(r\\.id\\) as last_id ` +
  `from \\( ${rows} \\) r \\) p ` +
  `where t\\.account_id = \\$::bigint and t\\.resource = \\$::text`

// An export: a transaction of its own, the values of its filter as settings, and what COPY makes of them.
const cell =
  `(?:r\\.${field}(?:::text)?|to_char\\(r\\.${field} at time zone \\$, \\$\\)|` +
  `case when ascii\\(r\\.${field}\\) in \\(\\$(?:, \\$)*\\) and r\\.${field} ~ \\$ ` +
  `then \\$ else \\$ end \\|\\| case when r\\.${field} ~ \\$ ` +
  `then regexp_replace\\(r\\.${field}, \\$, \\$, \\$\\) else r\\.${field} end) as ${field}`
const exported = `from ${table} r where ${account}(?: and ${C})? order by r\\.id\\) to stdout`
const setting = 'set_config\\(\\$, \\$::text, \\$\\)'

const dayAgo = 'now\\(\\) - make_interval\\(hours => \\$::int\\)'

const shapes: readonly RegExp[] = [
  ...activityShapes,
  list('', 't\\.total', allRows),
  list(few, total, someRows),
  list(little, '\\(select count\\(\\*\\) from few\\)', byIds('select id from few')),
  list('', '(?:null|\\$)', knownRows),
  // One record.
  `select ${state}, \\( select ${json} from ${table} r ` +
    `where r\\.account_id = \\$::bigint and r\\.id = \\$::bigint \\) as record ` +
    `from tally t where t\\.account_id = \\$::bigint and t\\.resource = \\$::text`,
  // Who is asking, of all requests that wait.
  'select q\\.name, a\\.account_id from unnest\\(\\$::text\\[\\]\\) q\\(name\\) left join account a on a\\.name = q\\.name',
  `select ${epoch}, string_agg\\( concat_ws\\(\\$, q\\.n, k\\.key_id, array_to_string\\(k\\.scopes, \\$\\), ` +
    `coalesce\\(a\\.requests_per_minute, \\$\\), coalesce\\(a\\.key_requests_per_minute, \\$\\), ${server}, ` +
    't\\.version, t\\.xmin, t\\.total\\), \\$\\) ' +
    'filter \\(where a\\.status = \\$\\) as found from unnest\\(\\$::bigint\\[\\], \\$::text\\[\\], \\$::text\\[\\]\\) with ordinality ' +
    'q\\(account_id, hash, resource, n\\) join api_key k on k\\.account_id = q\\.account_id and k\\.hash = decode\\(q\\.hash, \\$\\) ' +
    'left join account a on a\\.account_id = k\\.account_id ' +
    'left join tally t on t\\.account_id = k\\.account_id and t\\.resource = q\\.resource ' +
    'where k\\.account_id = any\\(\\$::bigint\\[\\]\\) ' +
    'and not \\(revoked_at is not null or \\(expires_at is not null and expires_at <= now\\(\\)\\)\\)',
  // An export.
  'begin isolation level repeatable read read only',
  `select ${state}, t\\.total from tally t where ${account} and resource = \\$::text`,
  `select ${setting}(?:, ${setting})*`,
  `copy \\(select ${json} ${exported} \\(format csv, delimiter E\\$, quote E\\$\\)`,
  `copy \\(select ${cell}(?:, ${cell})* ${exported} \\(format csv(?:, force_quote \\(${field}(?:, ${field})*\\))?\\)`,
  // One plan for all values, or one for these.
  'set plan_cache_mode = (?:force_generic_plan|auto)',
  // Whether the database is there and migrated.
  `select ${epoch}, \\(select string_agg\\(name, \\$\\) from migration\\) as names`,
  // Whether a pooler has dropped the settings of a connection.
  'select name, current_setting\\(name\\) as is from unnest\\(\\$::text\\[\\]\\) name',
  // Which server a connection leads to.
  `select ${epoch}, \\(pg_control_system\\(\\)\\)\\.system_identifier::text as system`,
  // A create: the claim on the key, the insert, what is kept of it, and the sweep.
  'begin|commit|rollback',
  'select pg_try_advisory_xact_lock\\(hashtextextended\\(\\$::text, \\$::bigint\\)\\) as free, k\\.record_id, ' +
    'k\\.request_hash = \\$::bytea as same from \\(select \\$\\) one left join idempotency k ' +
    `on k\\.account_id = \\$::bigint and k\\.key = \\$::text and k\\.created_at > ${dayAgo}`,
  'with tick as \\( update tally set version = version \\+ \\$, total = total \\+ \\$, last_id = last_id \\+ \\$ ' +
    'where account_id = \\$::bigint and resource = \\$ returning version, last_id \\) ' +
    'insert into partner \\(account_id, id, version, name, is_company, is_patient, is_customer, is_vendor, ' +
    'is_employee, active, create_date, write_date\\) select \\$::bigint, last_id, version, \\$::text, ' +
    '\\$, \\$, \\$, \\$, \\$, \\$, now\\(\\), now\\(\\) from tick returning id',
  'select \\$ as confirmed from idempotency where account_id = \\$::bigint and key = \\$::text for key share',
  'insert into idempotency as k \\(account_id, key, request_hash, record_id\\) ' +
    'values \\(\\$::bigint, \\$::text, \\$::bytea, \\$::bigint\\) on conflict \\(account_id, key\\) do update ' +
    'set request_hash = excluded\\.request_hash, record_id = excluded\\.record_id, ' +
    `created_at = excluded\\.created_at where k\\.created_at <= ${dayAgo} returning \\$ as kept`,
  'delete from idempotency where account_id = \\$::bigint and key in \\( select key from idempotency ' +
    `where account_id = \\$::bigint and created_at <= ${dayAgo} order by created_at limit \\$::int \\)`,
].map((text) => new RegExp(`^(?:${text})$`))

/** What speaks against a statement's text; undefined when it is one of ours. */
export function objection(sent: string): string | undefined {
  const text = withParameters(sent)
  const foreign = text.match(/'(?:[^']|'')*'/g)?.find((literal) => !literals.has(literal))
  if (foreign !== undefined) return `a constant that is not ours: ${foreign}`
  const shape = shapeOf(text)
  return shapes.some((known) => known.test(shape)) ? undefined : `of no known shape: ${shape}`
}

/** COPY takes no `$n`: the account is a number in its text, and each value the name of a setting, read directly or once by a sub-select. */
function withParameters(text: string): string {
  const named = text.replace(/'quartermaster\.v\d+'/g, '$1')
  return text.startsWith('copy (')
    ? named
        .replaceAll('current_setting($1)', '$1')
        .replaceAll(/\(select \$1::([a-z]+(?:\[\])?)\)(?=::\1)/g, () => '$1')
        .replace(/ where account_id = '\d{1,19}'::bigint /, ' where account_id = $1::bigint ')
    : named
}

/** One line; every constant and every `$n` a `$`, as pg_stat_statements writes them; every condition a C. */
function shapeOf(text: string): string {
  let shape = text
    .replace(/'(?:[^']|'')*'|\$\d+|\b(?:true|false)\b|(?<!\w)\d+(?!\w)/g, '$')
    .replace(/\s+/g, ' ')
    .trim()
  shape = shape.replace(condition, 'C')
  for (let before = ''; before !== shape; ) {
    before = shape
    shape = shape.replace(group, 'C')
  }
  return shape
}
