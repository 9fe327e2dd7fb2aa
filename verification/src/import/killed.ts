import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Check, Context } from '../check.ts'
import { Random } from '../random.ts'
import { Service } from '../service.ts'
import { differences, expectedTable, seconds } from './bare-copy.ts'
import { writeProducts } from './files.ts'

/**
 * Two imports, each killed ten times at random moments and then run to its end: a first file, and then a second one with
 * `--replace` that omits a tenth of the records and changes a tenth. After every kill the tally and the audit log must be correct.
 */
export const importKilled: Check = {
  name: 'import_killed',
  bound: '= 0 lost, duplicated or miscounted',
  async run(context) {
    const records = context.size(1_000_000, 20_000)
    const kills = context.size(10, 3)
    const service = await Service.start({ shared_buffers: '1GB', max_wal_size: '8GB' })
    try {
      const first = join(service.folder, 'first.csv')
      const second = join(service.folder, 'second.csv')
      await writeProducts(first, records, context.seed)
      await writeProducts(second, records, context.seed, (record) => {
        const id = Number(record['id'])
        if (id % 10 === 3) return null
        return id % 10 === 7 ? { ...record, qty_available: id } : record
      })
      await service.command(['account', 'create', 'acme'])
      const wrong = {
        first: await killRepeatedly(context, service, kills, [first]),
        second: await killRepeatedly(context, service, kills, [second, '--replace', '--max-delete', '100%']),
      }
      const { lost, miscounted } = {
        lost: wrong.first.differences + wrong.second.differences,
        miscounted: wrong.first.miscounted + wrong.second.miscounted,
      }
      return {
        value: `${lost} wrong, ${miscounted} miscounted, ${wrong.first.killed + wrong.second.killed} kills`,
        samples: wrong.first.killed + wrong.second.killed,
        ok: lost + miscounted === 0,
      }
    } finally {
      await service.stop()
    }
  },
}

async function killRepeatedly(context: Context, service: Service, kills: number, args: readonly string[]) {
  const random = new Random(context.seed, args.length)
  const command = ['import', 'product', ...args, '--account', 'acme']
  // Kills are spread over an estimate of the time that a complete run takes.
  const killMsMax = context.size(60_000, 4_000)
  let miscounted = 0
  let killed = 0
  for (let kill = 0; kill < kills; kill++) {
    const child = service.spawn(command)
    const ended = new Promise((resolve) => child.once('exit', resolve))
    const killAfterMs = random.integer(0, killMsMax)
    await Promise.race([sleep(killAfterMs), ended])
    child.kill('SIGKILL')
    await ended
    // On a fast machine, the import may have ended before.
    if (child.signalCode === 'SIGKILL') killed++
    const fault = await withClient(service.postgres.url, tallyFault)
    context.log(`killed after ${killAfterMs} ms: ${fault ?? 'tally and audit log are correct'}`)
    if (fault !== undefined) miscounted++
  }
  const last = await seconds(() => service.command(command))
  context.log(`completed in ${last.toFixed(1)} s`)
  return withClient(service.postgres.url, async (client) => {
    await expectedTable(client, args[0] ?? '')
    const fault = await tallyFault(client)
    return {
      differences: await differences(client, '1'),
      miscounted: miscounted + (fault === undefined ? 0 : 1),
      killed,
    }
  })
}

/**
 * The backend of a killed client may still run: the row lock waits for it. Then the tally must match the records, and so must the audit
 * log, which says of each import how many it has inserted and deleted, even if it did not complete.
 */
async function tallyFault(client: pg.Client): Promise<string | undefined> {
  await client.query('begin')
  await client.query(`select 1 from tally where account_id = 1 and resource = 'product' for update`)
  const { rows } = await client.query<{ fault: string | null }>(
    `select case when t.total <> p.n or t.last_id < p.last_id or t.version < p.version or a.n <> p.n
                 then format('total %s of %s, audited %s', t.total, p.n, a.n) end as fault
     from tally t, (select count(*) as n, coalesce(max(id), 0) as last_id, coalesce(max(version), 0) as version
                    from product where account_id = 1) p,
       (select coalesce(sum(substring(details from '(\\d+) inserted')::bigint - substring(details from '(\\d+) deleted')::bigint), 0) as n
        from audit where account_id = 1 and action = 'account.import') a
     where t.account_id = 1 and t.resource = 'product'`,
  )
  await client.query('commit')
  return rows[0]?.fault ?? undefined
}
