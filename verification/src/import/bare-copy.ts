import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from } from 'pg-copy-streams'
import { columns } from './files.ts'

/**
 * What PostgreSQL takes for the same file without us: one COPY into a table with the same columns and indexes, in which
 * account and version have defaults, since the file has neither.
 */
export async function bareCopy(client: pg.Client, file: string): Promise<number> {
  await client.query('alter table product alter account_id set default 1, alter version set default 1')
  return seconds(() => copyFile(client, 'product', file))
}

/** The file as a table of its own, by PostgreSQL's reading of it: what an import is held against. */
export async function expectedTable(client: pg.Client, file: string): Promise<void> {
  await client.query('drop table if exists expected')
  await client.query(`create unlogged table expected as select ${columns.join(', ')} from product limit 0`)
  await copyFile(client, 'expected', file)
}

/** Records that are in one and not in the other, and ids that are there twice. */
export async function differences(client: pg.Client, accountId: string): Promise<number> {
  const list = columns.join(', ')
  const { rows } = await client.query<{ n: number }>(
    `select ((select count(*) from (select ${list} from expected except all
                                    select ${list} from product where account_id = $1) lost)
           + (select count(*) from (select ${list} from product where account_id = $1 except all
                                    select ${list} from expected) extra))::int as n`,
    [accountId],
  )
  return rows[0]?.n ?? Number.NaN
}

async function copyFile(client: pg.Client, table: string, file: string): Promise<void> {
  await pipeline(
    createReadStream(file, { highWaterMark: 1 << 20 }),
    client.query(from(`copy ${table} (${columns.join(', ')}) from stdin (format csv, header)`)),
  )
}

export async function seconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return (performance.now() - started) / 1000
}
