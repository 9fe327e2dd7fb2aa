import type pg from 'pg'
import { type Finding, ok, problem } from '../finding.ts'
import { createStatement, type ExpectedIndex, expectedIndexes, isNumber } from './expected-indexes.ts'

interface Index {
  readonly table: string
  readonly name: string
  readonly method: string
  readonly valid: boolean
  readonly unique: boolean
  readonly primary: boolean
  readonly partial: boolean
  /** Names, operator classes and collations of the key columns. */
  readonly columns: readonly string[]
  readonly operators: readonly string[]
  readonly collations: readonly string[]
}

export async function checkIndexes(client: pg.Client): Promise<Finding[]> {
  const indexes = await readIndexes(client)
  const faults = expectedIndexes.flatMap((expected) => faultOf(expected, indexes))
  return faults.length > 0
    ? faults
    : [ok('indexes', `All ${expectedIndexes.length} indexes exist and are valid.`)]
}

function faultOf(expected: ExpectedIndex, indexes: readonly Index[]): Finding[] {
  const { table, name, kind, columns } = expected
  const matching = indexes.filter((index) => matches(index, expected))
  if (matching.some((index) => index.valid)) return []
  const [invalid] = matching
  if (invalid !== undefined) {
    const message = `The index ${invalid.name} on ${table} is invalid: its creation was interrupted, and no query uses it.`
    return [problem('indexes', message, `reindex index concurrently ${invalid.name};`)]
  }
  const message = `There is no ${kind === 'text' ? 'text index' : 'index'} on ${table} (${columns.join(', ')})`
  if (indexes.some((index) => index.name === name)) {
    const repair = `drop index concurrently ${name}; ${createStatement(expected)}`
    return [problem('indexes', `${message}: ${name} has another definition.`, repair)]
  }
  return [problem('indexes', `${message}.`, createStatement(expected))]
}

function matches(index: Index, { table, kind, columns, present }: ExpectedIndex): boolean {
  if (index.table !== table || index.partial !== (present !== undefined)) return false
  if (kind === 'text')
    return index.method === 'gin' && columns.every((column) => supportsContains(index, column))
  if (kind === 'primary' && !index.primary) return false
  if (kind === 'unique' && !index.unique) return false
  return index.method === 'btree' && index.columns.join() === columns.join()
}

/** "Contains" uses the default collation, so PostgreSQL cannot use an index with another collation or operator class. */
function supportsContains(index: Index, column: string): boolean {
  const at = index.columns.indexOf(column)
  if (at < 0 || isNumber(column)) return at >= 0
  return index.operators[at] === 'gin_trgm_ops' && index.collations[at] === 'default'
}

async function readIndexes(client: pg.Client): Promise<Index[]> {
  const { rows } = await client.query<Index>(
    `select t.relname::text as table, c.relname::text as name, m.amname::text as method,
            i.indisvalid and i.indisready as valid, i.indisunique as unique, i.indisprimary as primary,
            i.indpred is not null as partial, k.columns, k.operators, k.collations
       from pg_index i
       join pg_class c on c.oid = i.indexrelid
       join pg_class t on t.oid = i.indrelid
       join pg_am m on m.oid = c.relam
      cross join lateral (
        select array_agg(coalesce(a.attname::text, '') order by n) as columns,
               array_agg(coalesce(o.opcname::text, '') order by n) as operators,
               array_agg(coalesce(l.collname::text, '') order by n) as collations
          from unnest(i.indkey::int2[], i.indclass::oid[], i.indcollation::oid[])
               with ordinality u (attribute_number, class_oid, collation_oid, n)
          left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = u.attribute_number and a.attnum > 0
          left join pg_opclass o on o.oid = u.class_oid
          left join pg_collation l on l.oid = u.collation_oid
         where n <= i.indnkeyatts
      ) k
      where i.indrelid = any (select to_regclass(name) from unnest($1::text[]) name)`,
    [[...new Set(expectedIndexes.map(({ table }) => table))]],
  )
  return rows
}
