import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from } from 'pg-copy-streams'
import { columns } from './files.ts'

/**
 * Seconds that PostgreSQL takes to COPY the same file into a table with the same columns and indexes. Account and
 * version get defaults, because the file has neither.
 */
export async function bareCopy(client: pg.Client, file: string): Promise<number> {
  await client.query('alter table product alter account_id set default 1, alter version set default 1')
  return seconds(() => copyFile(client, 'product', file))
}

/** Loads the file into the table `expected` with COPY, to compare an import with. */
export async function expectedTable(client: pg.Client, file: string): Promise<void> {
  await client.query('drop table if exists expected')
  await client.query(`create unlogged table expected as select ${columns.join(', ')} from product limit 0`)
  await copyFile(client, 'expected', file)
}

/** The number of records that are in only one of the two tables, or more often in one of them. */
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
