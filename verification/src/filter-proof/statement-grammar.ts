import { activityShapes } from './activity-shapes.ts'
import { changesShapes } from './changes-shapes.ts'
import { resources } from './schema.ts'

/**
 * All statements that requests may cause, as regular expressions. A statement that matches none of them either contains text
 * of a request, or is new and must be added here.
 */

const fieldNames = [
  ...new Set(Object.values(resources).flatMap(({ fields }) => fields.map(({ name }) => name))),
]
const field = `(?:${fieldNames.join('|')})`
const table = '(?:product|partner|company)'
const type = '(?:bigint|numeric|text|boolean|timestamptz)'

/** The only string constants in statements: those of the server's code and the names of JSON members. */
const literals = new Set([
  ...`'UTC' '\\"YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\\"' ',' '' '}' 'null' 'partner' 'active' '+' 'hex' 'minute' 'day'`.split(
    ' ',
  ),
  "' '",
  // The change feed.
  ...['created', 'updated', 'deleted', 'removed'].map((change) => `'{"change":"${change}","id":'`),
  `',"version":'`,
  `',"record":'`,
  // Usage: the separator in the name of a batch, and an empty histogram.
  "'-'",
  "'{}'",
  // Exports: characters that cannot occur in JSON, and patterns of formulas in spreadsheets.
  String.raw`'\x01'`,
  String.raw`'\x02'`,
  String.raw`'\x1f'`,
  "''''",
  String.raw`'^''*([=+@\t\r\n＝＋－＠-]|$)'`,
  String.raw`'[;\t\r\n]'`,
  String.raw`'(?<=[;\t\r\n])(?=[''"]*[=+@＝＋－＠-])'`,
  "'g'",
  `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`,
  ...fieldNames.flatMap((name) => [`'{"${name}":'`, `',"${name}":'`]),
])

// Conditions of a filter are replaced by C, and then groups of conditions by C.
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

// A record as JSON text: each member has a constant name and a column converted to text.
const wire = `(?:r\\.${field}::text|to_json\\(r\\.${field}\\)::text|to_char\\(r\\.${field} at time zone \\$, \\$\\))`
const jsonValue = `(?:${wire}|coalesce\\(${wire}, \\$\\))`
const member = `\\$ \\|\\| ${jsonValue}`
const json = `${member}(?: \\|\\| ${member})* \\|\\| \\$`
const account = 'account_id = \\$::bigint'
const page = 'limit \\$::int offset \\$::bigint'
const select = `select id(?:, ${field})* from ${table} where ${account}`
const size = '\\(select n from size\\)'

// A list: tally, total and page. The statements for a filter depend on the number of matches and the size of the account.
const C = '(?:C|\\$)'
const match = `select id from ${table} where ${account} and ${C}`
const matches = `(?:${match}|select id from \\(${match}(?: union all ${match})*\\) m)`
const boundedMatches =
  `with matches as materialized \\( ${matches} ` +
  'limit \\$::int \\+ \\$ \\), size as materialized \\(select count\\(\\*\\) as n from matches\\) '
// All matches of a small account.
const allMatches = `with matches as materialized \\( select id from ${table} where ${account}(?: and ${C}(?: is \\$)?)+ \\) `
const total =
  `case when ${size} <= \\$::int then ${size} ` +
  `else \\(select count\\(\\*\\) from ${table} where ${account} and ${C}\\) end`
// Prevents an index-only scan.
const noIndexOnlyScan = '(?: and ctid is not null)?'
const byIds = (ids: string) => `${select} and id = any\\(array\\(${ids} order by id ${page}\\)\\)`
// An ordered index scan of the ids, optionally from the end of another page, optionally with a second lookup of the records.
const orderedScan = (narrowed: string) =>
  `(?:${select}${narrowed} order by id ${page}|${select} and id = any\\(array\\( ` +
  `select id from ${table} where ${account}${narrowed} order by id ${page}\\)\\))`
const boundedRows =
  `${byIds('select id from matches')} and ${size} <= \\$::int ` +
  `union all \\( ${orderedScan(` and ${C} and ${size} > \\$::int`)}\\)`
const knownRows = `(?:${byIds(`select id from \\(${matches}\\) m`)}|${orderedScan(`(?: and ${C}(?: is \\$)?)+${noIndexOnlyScan}`)})`
const allRows = orderedScan(`(?: and C)?${noIndexOnlyScan}`)
// A total that is carried from an earlier version, by the records that changed since.
const changesOf = (rows: string) =>
  `from \\(select \\* from ${rows} where ${account} and version > \\$::bigint order by version limit \\$::int \\+ \\$\\) r`
const rank =
  '\\$::bigint \\+ \\(select count\\(\\*\\) from changed where matches and C\\) - \\(select count\\(\\*\\) from before where C\\)'
const carryHead =
  `with changed as materialized \\( select id, created_version, (?:\\$|C is \\$) as matches ${changesOf(table)} \\), ` +
  `images as materialized \\( select version, id, created_version, (?:\\$|C is \\$) as matches ${changesOf(`${table}_before`)} \\), ` +
  'before as materialized \\( select id from \\(select distinct on \\(id\\) id, matches, created_version from images order by id, version\\) oldest ' +
  'where matches and created_version <= \\$::bigint \\), ' +
  'carry as materialized \\( select t\\.writer_xid = t\\.xmin and t\\.lineages\\[\\$\\] = \\$::bigint and t\\.images_from <= \\$::bigint ' +
  'and t\\.version >= \\$::bigint and \\(select count\\(\\*\\) from changed\\) <= \\$::int and \\(select count\\(\\*\\) from images\\) <= \\$::int ' +
  'and t\\.version - \\$::bigint = \\(select count\\(\\*\\) from \\( select version from images union select created_version from images ' +
  'where created_version > \\$::bigint union select created_version from changed where created_version > \\$::bigint\\) v\\) as valid, ' +
  `${rank} as start_rank, ${rank} as safe_rank from tally t where t\\.account_id = \\$::bigint and t\\.resource = \\$::text \\), ` +
  'start as materialized \\( select case when valid and start_rank <= \\$::bigint then \\$::bigint when valid then \\$::bigint else \\$ end as id, ' +
  '\\$::bigint - case when valid and start_rank <= \\$::bigint then start_rank when valid then safe_rank else \\$ end as skipped from carry \\) '
const isValid = 'case when \\(select valid from carry\\) then'
const carried =
  `(?:, ${isValid} coalesce\\(\\(select string_agg\\(id::text, \\$\\) from changed where matches\\), \\$\\) end as gained, ` +
  `${isValid} coalesce\\(\\(select string_agg\\(id::text, \\$\\) from before\\), \\$\\) end as lost)?`
const carriedTotal =
  '(?:t\\.total|case when not \\(select valid from carry\\) then ' +
  `\\(select count\\(\\*\\) from ${table} where ${account} and ${C}\\) end)`
const carriedPage =
  ` and id > \\(select id from start\\)(?: and ${C}(?: is \\$)?)*${noIndexOnlyScan} order by id limit \\$::int ` +
  'offset \\(select skipped from start\\)'
const carriedRows = `(?:${select}${carriedPage}|${select} and id = any\\(array\\( select id from ${table} where ${account}${carriedPage}\\)\\))`
const server =
  'encode\\(timestamptz_send\\(pg_postmaster_start_time\\(\\)\\), \\$\\) \\|\\| ' +
  'substr\\(pg_walfile_name\\(pg_current_wal_lsn\\(\\)\\), \\$, \\$\\)'
const epoch = `${server} as epoch`
const state = `${epoch}, t\\.version, t\\.xmin::text as xid`
const ownWrite = 't\\.writer_xid = t\\.xmin'
const lineage = `(?:, case when ${ownWrite} then t\\.lineages\\[\\$\\] end as lineage)?`
const list = (head: string, ofTotal: string, rows: string) =>
  `${head}select ${state}${lineage}, ${ofTotal} as total${carried}, p\\.count, p\\.records, p\\.last_id from tally t ` +
  `cross join \\( select count\\(\\*\\) as count, ` +
  `coalesce\\(string_agg\\(${json}, \\$(?: order by r\\.id)?\\), \\$\\) as records, max\\(r\\.id\\) as last_id ` +
  `from \\( ${rows} \\) r \\) p ` +
  `where t\\.account_id = \\$::bigint and t\\.resource = \\$::text`

// An export: its own transaction, the values of its filter as settings, and COPY.
const cell =
  `(?:r\\.${field}(?:::text)?|to_char\\(r\\.${field} at time zone \\$, \\$\\)|` +
  `case when ascii\\(r\\.${field}\\) in \\(\\$(?:, \\$)*\\) and r\\.${field} ~ \\$ ` +
  `then \\$ else \\$ end \\|\\| case when r\\.${field} ~ \\$ ` +
  `then regexp_replace\\(r\\.${field}, \\$, \\$, \\$\\) else r\\.${field} end) as ${field}`
const exported = `from ${table} r where ${account}(?: and ${C})? order by r\\.id\\) to stdout`
const setting = 'set_config\\(\\$, \\$::text, \\$\\)'

const dayAgo = 'now\\(\\) - make_interval\\(hours => \\$::int\\)'

// The tick of a write.
const writerEpoch = `hashtextextended\\(${server}, \\$\\)`
const nextLineage = `hashtextextended\\(${server} \\|\\| \\$ \\|\\| t\\.xmin::text \\|\\| \\$ \\|\\| t\\.version::text, \\$\\)`
const sameLineage = `\\(${ownWrite} and t\\.writer_epoch = ${writerEpoch}\\)`
const tick = (added: string, lastId: string) =>
  `update tally t set version = t\\.version \\+ \\$, total = t\\.total \\+ ${added}, last_id = ${lastId}, ` +
  `lineages = case when ${sameLineage} then t\\.lineages when ${ownWrite} then \\(${nextLineage} \\|\\| t\\.lineages\\)\\[\\$:\\$::int\\] ` +
  `else array\\[${nextLineage}\\] end, lineage_starts = case when ${sameLineage} then t\\.lineage_starts when ${ownWrite} ` +
  'then \\(t\\.version \\|\\| t\\.lineage_starts\\)\\[\\$:\\$::int\\] else array\\[t\\.version\\] end, ' +
  `changes_from = case when ${ownWrite} then t\\.changes_from else t\\.version end, ` +
  `images_from = case when ${ownWrite} then t\\.images_from else t\\.version end, ` +
  `(?:own_last_id = t\\.own_last_id \\+ \\$, )?written_at = greatest\\(clock_timestamp\\(\\), t\\.written_at\\), writer_epoch = ${writerEpoch}, writer_xid = pg_current_xact_id\\(\\)::xid ` +
  'where t\\.account_id = \\$::bigint and t\\.resource = \\$::text'
const tickOfCreate = tick(
  '\\$',
  'greatest\\(t\\.last_id, coalesce\\(t\\.own_last_id, t\\.last_id\\) \\+ \\$\\)',
)

const lineages =
  `\\(case when ${ownWrite} then t\\.lineages else array\\[${nextLineage}\\] end\\)::text as lineages, ` +
  `\\(case when ${ownWrite} then t\\.lineage_starts else array\\[t\\.version\\] end\\)::text as lineage_starts, ` +
  `case when ${ownWrite} then t\\.changes_from else t\\.version end as changes_from`

const shapes: readonly RegExp[] = [
  ...activityShapes,
  ...changesShapes({ state, server, lineages, json, table, field }),
  list('', 't\\.total', allRows),
  list(boundedMatches, total, boundedRows),
  list(allMatches, '\\(select count\\(\\*\\) from matches\\)', byIds('select id from matches')),
  list('', '(?:null|\\$)', knownRows),
  list(carryHead, carriedTotal, carriedRows),
  // Single records of a batch of requests, with the lineage and version of their ETags.
  `select q\\.n, ${state}, case when ${ownWrite} then t\\.lineages\\[\\$\\] else ${nextLineage} end as lineage, ` +
    `r\\.version as record_version, ${jsonValue}(?: \\|\\| e?\\$ \\|\\| ${jsonValue})* as fields ` +
    'from unnest\\(\\$::bigint\\[\\], \\$::bigint\\[\\]\\) with ordinality q\\(account_id, id, n\\) ' +
    'join tally t on t\\.account_id = q\\.account_id and t\\.resource = \\$::text ' +
    `left join ${table} r on r\\.account_id = q\\.account_id and r\\.id = q\\.id ` +
    'where t\\.account_id = any\\(\\$::bigint\\[\\]\\)',
  // Accounts by name, and key verification, for a batch of waiting requests.
  'select q\\.name, a\\.account_id from unnest\\(\\$::text\\[\\]\\) q\\(name\\) left join account a on a\\.name = q\\.name',
  `select ${epoch}, string_agg\\( concat_ws\\(\\$, q\\.n, k\\.key_id, array_to_string\\(k\\.scopes, \\$\\), ` +
    `coalesce\\(a\\.requests_per_minute, \\$\\), coalesce\\(a\\.key_requests_per_minute, \\$\\), coalesce\\(a\\.records_max, \\$\\), ${server}, ` +
    't\\.version, t\\.xmin, t\\.total\\), \\$\\) ' +
    'filter \\(where a\\.status = \\$\\) as found from unnest\\(\\$::bigint\\[\\], \\$::text\\[\\], \\$::text\\[\\]\\) with ordinality ' +
    'q\\(account_id, hash, resource, n\\) join api_key k on k\\.account_id = q\\.account_id and k\\.hash = decode\\(q\\.hash, \\$\\) ' +
    'left join account a on a\\.account_id = k\\.account_id ' +
    'left join tally t on t\\.account_id = k\\.account_id and t\\.resource = q\\.resource ' +
    'where k\\.account_id = any\\(\\$::bigint\\[\\]\\) ' +
    'and not \\(revoked_at is not null or \\(expires_at is not null and expires_at <= now\\(\\)\\)\\)',
  // An export.
  'begin isolation level repeatable read read only',
  `select ${state}, ${lineages}, t\\.total from tally t where ${account} and resource = \\$::text`,
  `select ${setting}(?:, ${setting})*`,
  `copy \\(select ${json} ${exported} \\(format csv, delimiter E\\$, quote E\\$\\)`,
  `copy \\(select ${cell}(?:, ${cell})* ${exported} \\(format csv(?:, force_quote \\(${field}(?:, ${field})*\\))?\\)`,
  // A generic plan or a custom plan.
  'set plan_cache_mode = (?:force_generic_plan|auto)',
  // Readiness: the database is available and migrated.
  `select ${epoch}, \\(select string_agg\\(name, \\$\\) from migration\\) as names`,
  // Whether a pooler has dropped the settings of a connection.
  'select name, current_setting\\(name\\) as is from unnest\\(\\$::text\\[\\]\\) name',
  // The identity of the server behind a connection.
  `select ${epoch}, \\(pg_control_system\\(\\)\\)\\.system_identifier::text as system, ` +
    'array\\(select extname::text from pg_extension\\) as extensions',
  // A create: locking the idempotency key, the insert, storing the key, and deleting expired keys.
  'begin isolation level read committed|commit|rollback',
  'select pg_try_advisory_xact_lock\\(hashtextextended\\(\\$::text, \\$::bigint\\)\\) as free, k\\.record_id, ' +
    'k\\.request_hash = \\$::bytea as same, k\\.status, k\\.etag, k\\.body from \\(select \\$\\) one left join idempotency k ' +
    `on k\\.account_id = \\$::bigint and k\\.key = \\$::text and k\\.created_at > ${dayAgo}`,
  `with tick as \\( ${tickOfCreate} and t\\.total < \\$::bigint ` +
    'returning t\\.version, t\\.written_at, t\\.lineages\\[\\$\\] as lineage, coalesce\\(t\\.own_last_id, t\\.last_id\\) as id \\), inserted as \\( ' +
    `insert into ${table} \\(account_id, id, version, created_version(?:, ${field})*, create_date, write_date\\) ` +
    `select \\$::bigint, id, version, version(?:, \\$::${type})*, written_at, written_at from tick returning id \\) ` +
    'select i\\.id, k\\.version, k\\.lineage from inserted i, tick k',
  // The creates of a batch of requests, except those of accounts that are being written.
  `with q as \\( select \\* from unnest\\(\\$::bigint\\[\\], \\$::bigint\\[\\](?:, \\$::${type}\\[\\])*\\) with ordinality q\\(account_id, records_max(?:, ${field})*, n\\) \\), ` +
    'free as \\( select t\\.account_id, t\\.total from tally t where t\\.account_id = any\\(\\$::bigint\\[\\]\\) and t\\.resource = \\$::text ' +
    'for update skip locked \\), accepted as \\( select free\\.account_id from free join q on q\\.account_id = free\\.account_id ' +
    `where free\\.total < q\\.records_max \\), tick as \\( ${tickOfCreate.replace('where t\\.account_id = \\$::bigint', 'from accepted where t\\.account_id = accepted\\.account_id')} ` +
    'returning t\\.account_id, t\\.version, t\\.written_at, t\\.lineages\\[\\$\\] as lineage, coalesce\\(t\\.own_last_id, t\\.last_id\\) as id \\), ' +
    `inserted as \\( insert into ${table} \\(account_id, id, version, created_version(?:, ${field})*, create_date, write_date\\) ` +
    `select k\\.account_id, k\\.id, k\\.version, k\\.version(?:, q\\.${field})*, k\\.written_at, k\\.written_at ` +
    'from tick k join q on q\\.account_id = k\\.account_id \\) ' +
    'select q\\.n, k\\.id, k\\.version, k\\.lineage from tick k join q on q\\.account_id = k\\.account_id',
  'select coalesce\\(a\\.idempotency_results_max, \\$::bigint\\)::float8 as max, c\\.stored from account a, \\( ' +
    'select count\\(\\*\\)::float8 as stored from idempotency k where k\\.account_id = \\$::bigint ' +
    `and k\\.created_at > ${dayAgo} \\) c where a\\.account_id = \\$::bigint`,
  'select \\$ as confirmed from idempotency where account_id = \\$::bigint and key = \\$::text for key share',
  'insert into idempotency as k \\(account_id, key, request_hash, record_id, status, etag, body\\) ' +
    'values \\(\\$::bigint, \\$::text, \\$::bytea, \\$::bigint, \\$::smallint, \\$::text, \\$::text\\) ' +
    'on conflict \\(account_id, key\\) do update set request_hash = excluded\\.request_hash, ' +
    'record_id = excluded\\.record_id, created_at = excluded\\.created_at, status = excluded\\.status, ' +
    'etag = excluded\\.etag, body = excluded\\.body where k\\.created_at at time zone \\$ <= ' +
    'excluded\\.created_at at time zone \\$ - make_interval\\(hours => \\$\\) returning \\$ as stored',
  'delete from idempotency where account_id = \\$::bigint and key in \\( select key from idempotency ' +
    `where account_id = \\$::bigint and created_at <= ${dayAgo} order by created_at limit \\$::int \\)`,
].map((text) => new RegExp(`^(?:${text})$`))

/** Why a statement is not accepted; undefined if it matches one of the shapes. */
export function objection(sent: string): string | undefined {
  const text = withParameters(sent)
  const foreign = text.match(/'(?:[^']|'')*'/g)?.find((literal) => !literals.has(literal))
  if (foreign !== undefined) return `an unknown constant: ${foreign}`
  const shape = shapeOf(text)
  return shapes.some((known) => known.test(shape)) ? undefined : `an unknown shape: ${shape}`
}

/** COPY has no parameters: the account is a number in its text, and each value is a setting, which is read directly or in a sub-select. */
function withParameters(text: string): string {
  const named = text.replace(/'quartermaster\.v\d+'/g, '$1')
  return text.startsWith('copy (')
    ? named
        .replaceAll('current_setting($1)', '$1')
        .replaceAll(/\(select \$1::([a-z]+(?:\[\])?)\)(?=::\1)/g, () => '$1')
        .replace(/ where account_id = '\d{1,19}'::bigint /, ' where account_id = $1::bigint ')
    : named
}

/** One line, with `$` for every constant and every `$n`, and C for every condition. */
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
