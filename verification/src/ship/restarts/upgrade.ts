import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startTemporaryPostgres } from '../../../../server/src/cli/database/temporary-postgres.ts'
import { demoProducts } from '../../../../server/src/cli/demo/demo-data.ts'
import { withClient } from '../../../../server/src/postgres/client.ts'
import type { Check, Context, Outcome } from '../../check.ts'
import { Client } from '../../client.ts'
import { grouped } from '../../progress.ts'
import { allScopes, unlimited } from '../../service.ts'
import { Balancer } from './balancer.ts'
import { MixedLoad } from './mixed-load.ts'
import { commitBeforeNewestMigrations, Release } from './release.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const account = 'acme'

/**
 * Two processes of the previous version serve requests. The database is migrated, both are replaced one at a time by this
 * version, and then again by the previous one, as after a rollback.
 */
export const upgrade: Check = {
  name: 'upgrade',
  needs: ['history'],
  bound: '0 failed',
  async run(context) {
    const previous = commitBeforeNewestMigrations()
    if (previous === undefined) throw new Error('There is no commit before the last migrations.')
    const folder = mkdtempSync(join(tmpdir(), 'quartermaster-upgrade-'))
    const postgres = await startTemporaryPostgres({ fsync: 'off', max_connections: '200' })
    try {
      const { url } = postgres
      previous.checkOut(join(folder, 'previous'))
      const environment = {
        DATABASE_URL: url,
        DATABASE_OWNER_URL: url,
        // A process is out of rotation before it is stopped.
        QUARTERMASTER_SHUTDOWN_DELAY_MS: '0',
        ...unlimited,
      }
      const before = new Release(previous.commit.slice(0, 7), join(folder, 'previous'), {
        ...environment,
        ...formerNames,
      })
      return await measure(context, { url, folder }, before, new Release('this version', root, environment))
    } finally {
      await postgres.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

/** The variables had no prefix before 0.1.0. */
const formerNames = {
  REQUESTS_PER_MINUTE: '1000000000',
  KEY_REQUESTS_PER_MINUTE: '1000000000',
  LOG_LEVEL: 'warn',
}

async function measure(
  context: Context,
  { url, folder }: { readonly url: string; readonly folder: string },
  before: Release,
  after: Release,
): Promise<Outcome> {
  const pending = after.migrations.filter((name) => !before.migrations.includes(name))
  await before.command(['migrate'])
  await before.command(['account', 'create', account])
  const keyCommand = `key create --account ${account} --name load --scopes ${allScopes} --json`
  const created = await before.command(keyCommand.split(' '))
  const key = /"(qm_[0-9A-Za-z]+)"/.exec(created)?.[1] ?? ''
  // By its own import: that of this version may need the migration.
  const file = join(folder, 'products.ndjson')
  writeFileSync(file, [...demoProducts(5_000)].map((record) => `${JSON.stringify(record)}\n`).join(''))
  await before.command(['import', 'product', file, '--account', account])

  const client = new Client(64)
  const balancer = new Balancer()
  for (let n = 0; n < 2; n++) balancer.add(await before.serve())
  const load = new MixedLoad(client, balancer, account, key, context.seed)
  const { generator } = load
  // Before the migration, after it, and after each of the four replacements.
  const step = context.size(20_000, 2_000) / 6
  const progress = context.progress('steps', 6)
  try {
    await generator.more(step)
    progress.step()
    const migrated = await after.command(['migrate'])
    context.log(`migrated under load: ${migrated.trim() || pending.join(', ')}`)
    await generator.more(step)
    progress.step()
    for (const release of [after, before]) {
      for (const old of balancer.processes) {
        balancer.add(await release.serve())
        await balancer.remove(old)
        await old.stop()
        await generator.more(step)
        progress.step()
      }
    }
    await generator.end()
    progress.end()
    return await outcome(url, load, pending)
  } finally {
    await generator.end()
    for (const process of balancer.processes) await process.stop()
    client.close()
  }
}

/** Every acknowledged create must be stored once, whichever version wrote it. */
async function outcome(url: string, load: MixedLoad, pending: readonly string[]): Promise<Outcome> {
  const stored = await withClient(url, async (client) => {
    const { rows } = await client.query<{ name: string; id: number }>(
      'select name, id::float8 as id from partner',
    )
    return rows
  })
  const ids = new Map(stored.map(({ name, id }) => [name, id]))
  const lost = [...load.created].filter(([name, id]) => ids.get(name) !== id).length
  const duplicated = stored.length - ids.size
  const releases = [...load.byRelease].map(([name, count]) => `${grouped(count)} to ${name}`)
  return {
    value: `${load.generator.failed} failed of ${grouped(load.generator.sent)}`,
    samples: Math.min(load.generator.sent, load.created.size),
    ok: load.generator.failed + lost + duplicated === 0 && pending.length > 0 && load.byRelease.size === 2,
    note: [
      `${releases.join(', ')}; applied ${pending.join(', ')}; ${grouped(load.created.size)} creates, ${lost} lost, ${duplicated} duplicated`,
      ...load.generator.failures,
    ].join('\n'),
  }
}
