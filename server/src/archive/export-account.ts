import { createHash } from 'node:crypto'
import type pg from 'pg'
import { to } from 'pg-copy-streams'
import { type Account, accountNamed } from '../accounts/directory.ts'
import { countLineFeeds } from '../lists/exports/export-body.ts'
import { withSettings } from '../lists/exports/export-copy.ts'
import type { Connection } from '../postgres/connection.ts'
import type { AccountScope } from '../scope.ts'
import { identifier, join, sql, value } from '../sql.ts'
import { version } from '../version.ts'
import {
  type ArchiveEnd,
  ArchiveError,
  type ArchiveStart,
  type ArchiveTable,
  archiveFormat,
  archiveSettings,
  archiveTables,
  columnsText,
} from './archive-format.ts'

export interface ExportProgress {
  rows: number
  /** Records of all resources, by the tallies; undefined until they are read. */
  records: number | undefined
}

/** The archive of an account, in chunks. It is complete only with its last line. `progress` is updated after each chunk. */
export async function* exportAccount(
  client: Connection,
  name: string,
  progress: ExportProgress,
): AsyncGenerator<Buffer> {
  await client.query(client.beginText('isolation level repeatable read read only'))
  await client.query(archiveSettings)
  const account = await accountNamed(client, name)
  const { rows: now } = await client.query<{ at: Date }>('select now() as at')
  progress.records = await recordsOf(client, account)
  const sha256 = createHash('sha256')
  const start: ArchiveStart = {
    format: archiveFormat,
    version,
    account: name,
    exported_at: new Date().toISOString(),
  }
  yield hashed(line({ $archive: start }))
  for (const table of archiveTables) {
    const { rows } = await client.query<{ name: string }>(columnsText, [table])
    const columns = rows.map((column) => column.name)
    yield hashed(line({ $table: { name: table, columns } satisfies ArchiveTable }))
    for await (const chunk of client.query(to(copyText(account, table, columns))) as AsyncIterable<Buffer>) {
      progress.rows += countLineFeeds(chunk)
      yield hashed(chunk)
    }
  }
  await client.query('commit')
  await rejectErased(client, account, now[0]?.at)
  yield line({ $end: { rows: progress.rows, sha256: sha256.digest('hex') } satisfies ArchiveEnd })

  function hashed(chunk: Buffer): Buffer {
    sha256.update(chunk)
    return chunk
  }
}

/** The snapshot may have what was erased since. Without its last line the archive is not complete. */
async function rejectErased(client: pg.ClientBase, { accountId }: Account, since?: Date): Promise<void> {
  const { rows } = await client.query(
    'select from erasure where account_id = $1 and requested_at >= $2 limit 1',
    [accountId, since],
  )
  if (rows.length > 0)
    throw new ArchiveError(
      'A record was erased while the account was exported. Delete the file, and export it again.',
    )
}

function line(content: object): Buffer {
  return Buffer.from(`${JSON.stringify(content)}\n`)
}

/** JSON escapes the two control characters, so COPY quotes nothing and each line is the JSON itself. */
function copyText(scope: AccountScope, table: string, columns: readonly string[]): string {
  const order = columns.includes('id') ? sql`id` : sql`1`
  const statement = sql`copy (select row_to_json(r) from (
  select ${join(columns.map(identifier), ', ')} from ${identifier(table)}
  where account_id = ${value(scope.accountId)}::bigint order by ${order}
) r) to stdout (format csv, delimiter E'\\x01', quote E'\\x02')`.statement()
  return withSettings(statement, scope).text
}

async function recordsOf(client: pg.ClientBase, { accountId }: Account): Promise<number> {
  const { rows } = await client.query<{ records: number }>(
    'select coalesce(sum(total), 0)::float8 as records from tally where account_id = $1',
    [accountId],
  )
  return rows[0]?.records ?? 0
}
