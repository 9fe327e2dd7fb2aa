import { withClient } from '../../../../server/src/postgres/client.ts'

/** Every table with data of accounts that requests do not write on their own. */
const tables = ['tally', 'api_key', 'idempotency', 'audit', 'product', 'partner', 'company']

/**
 * One line per account and table: the number of rows, and the sum of the hashes of all rows, regardless of their order. With
 * `rowVersions`, a row that was written again with the same content differs, too.
 */
export async function checksums(
  url: string,
  { rowVersions = false }: { readonly rowVersions?: boolean } = {},
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  await withClient(url, async (client) => {
    for (const table of tables) {
      // The day on which a key was last used is written by requests that only read.
      const row = `(to_jsonb(t) - 'account_id' - 'last_used_on')::text${rowVersions ? ' || t.xmin::text' : ''}`
      const { rows } = await client.query<{ name: string; sum: string }>(
        `select a.name, count(*) || ' ' || sum(hashtextextended(${row}, 0)) as sum
         from ${table} t join account a using (account_id) group by a.name`,
      )
      for (const { name, sum } of rows) found.set(`${name} ${table}`, sum)
    }
  })
  return found
}

/** The names of the lines that differ, of accounts that `isCompared` accepts. */
export function differences(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
  isCompared: (account: string) => boolean = () => true,
): string[] {
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names].filter(
    (name) => isCompared(name.split(' ')[0] ?? '') && before.get(name) !== after.get(name),
  )
}
