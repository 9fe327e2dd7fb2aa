import type pg from 'pg'

/** The code points of all letters that have a case. */
const letters = [
  [0x41, 0x2fff],
  [0xa640, 0xabbf],
  [0xfb00, 0xffff],
  [0x10400, 0x104ff],
  [0x118a0, 0x118ff],
  [0x16e40, 0x16e9f],
  [0x1e900, 0x1e95f],
] as const

const examplesMax = 5

/**
 * "Contains" is ILIKE, which folds by the database's collation. Its index, of pg_trgm, folds each letter by itself, up to
 * PostgreSQL 17 by the ctype even if ICU is the provider. If the two differ, a result depends on the plan. `ts_lexize` folds as
 * pg_trgm does, and needs no extension. A letter that folds depending on its neighbours, as Σ does with ICU, is not found
 * within a word. For UTF-8 databases only: an encoding without these letters would reject the statement.
 */
export async function foldingFault(client: pg.ClientBase): Promise<string | undefined> {
  const ranges = letters.map(([from, to]) => `select generate_series(${from}, ${to})`).join(' union all ')
  const { rows } = await client.query<{ letter: string }>(
    `select c as letter from (select chr(n) from (${ranges}) r(n)) l(c)
     where ts_lexize('pg_catalog.simple', c) is distinct from array[lower(c collate "default")]
       or lower('α' || c collate "default") <> 'α' || lower(c collate "default")
       or c in ('I', 'É', 'Ж', 'Σ') and lower(c collate "default") not in ('i', 'é', 'ж', 'σ')
     limit ${examplesMax}`,
  )
  if (rows.length === 0) return undefined
  const examples = rows.map(({ letter }) => letter).join(', ')
  return `does not fold the case of ${examples} as "contains" needs it`
}

/** The database to use instead. */
export function foldingDatabase(name: string): string {
  return `create database ${name} template template0 encoding 'UTF8' locale_provider libc locale 'C.UTF-8'`
}
