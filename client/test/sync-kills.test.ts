import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { atEnd, temporaryFolder } from '../../server/test/at-end.ts'
import { write } from '../../server/test/changes-fixture.ts'
import { account } from '../../server/test/database.ts'
import { eventually } from '../../server/test/eventually.ts'
import { freshService } from '../../server/test/service.ts'
import { Quartermaster, type SyncState } from '../src/index.ts'

/**
 * `examples/sync.ts` against the real service: killed again and again while it walks through all records once more, its copy never
 * loses a record, and ends identical.
 */

const example = fileURLToPath(new URL('../../examples/sync.ts', import.meta.url))
const clientSource = new URL('client-source.ts', import.meta.url).href

/** Ids of products that exist all the time: some are changed. Those above are created, changed and deleted. */
const lasting = 12_000
const killsMin = 20

/** Called with each response before the example gets it; false if it must not be sent. */
let interfere: ((body: string, response: ServerResponse) => Promise<boolean>) | undefined

const { client: database, service } = await freshService({ QUARTERMASTER_DEFAULT_ACCOUNT: 'acme' })
const acme = await account(database, 'acme')
const qm = new Quartermaster({ baseUrl: `http://127.0.0.1:${service.port}`, apiKey: acme.key })
const proxy = createServer((request, response) => {
  void (async () => {
    const reply = await fetch(`http://127.0.0.1:${service.port}${request.url ?? ''}`, {
      headers: { authorization: String(request.headers.authorization), accept: 'application/json' },
    })
    const body = await reply.text()
    response.writeHead(reply.status, { 'content-type': reply.headers.get('content-type') ?? '' })
    if ((await interfere?.(body, response)) !== false) response.end(body)
  })().catch(() => response.destroy())
})
atEnd(() => {
  proxy.closeAllConnections()
  proxy.close()
})
await once(proxy.listen(0, '127.0.0.1'), 'listening')

const file = join(temporaryFolder('sync-kills'), 'products.db')

function start(): ChildProcess {
  const address = proxy.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return spawn(process.execPath, ['--import', clientSource, example, file], {
    env: {
      ...process.env,
      QUARTERMASTER_URL: `http://127.0.0.1:${port}`,
      QUARTERMASTER_KEY: acme.key,
      NODE_NO_WARNINGS: '1',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/** What another program sees in the copy at this moment. */
function copy<T>(read: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 10_000 })
  try {
    return read(db)
  } finally {
    db.close()
  }
}

const lastingInCopy = () =>
  copy((db) => Number(db.prepare('select count(*) as n from product where id <= ?').get(lasting)?.['n']))

const state = () =>
  copy((db): SyncState | undefined => {
    const row = db.prepare('select state from sync_state').get()
    return row === undefined ? undefined : JSON.parse(String(row['state']))
  })

const rowsInCopy = () =>
  copy((db) =>
    db
      .prepare('select id, name, list_price from product order by id')
      .all()
      .map(({ id, name, list_price }) => `${String(id)} ${String(name)} ${String(list_price)}`),
  )

async function rowsInApi(): Promise<string[]> {
  const exact = new Quartermaster({
    baseUrl: `http://127.0.0.1:${service.port}`,
    apiKey: acme.key,
    decimals: 'string',
  })
  const rows: string[] = []
  for await (const { id, name, list_price } of exact.products.all({ fields: ['id', 'name', 'list_price'] }))
    rows.push(`${id} ${name} ${list_price}`)
  return rows
}

/** Deletes products as no write of the service does, so that the feed cannot know which: every cursor expires. */
async function loseTrack(from: number, to: number): Promise<void> {
  await database.query('delete from product where account_id = $1 and id between $2 and $3', [
    acme.accountId,
    from,
    to,
  ])
  await database.query(
    `update tally set version = version + 1,
       total = (select count(*) from product where account_id = $1)
     where account_id = $1 and resource = 'product'`,
    [acme.accountId],
  )
}

const named = (from: number, to: number, name: string) =>
  Object.fromEntries(Array.from({ length: to - from + 1 }, (_, i) => [from + i, `${name} ${from + i}`]))

const chosen = (below: number) => Math.floor(Math.random() * below)

it('a copy that is killed during a new walk loses nothing that exists, and ends identical', async () => {
  await write(database, acme, { upsert: named(1, lasting, 'lasting') })
  await write(database, acme, { upsert: named(20_001, 26_000, 'other') })
  let child = start()
  onTestFinished(() => kill(child))
  await eventually(() => lastingOrNone() === lasting && state()?.isWalking === false)
  await kill(child)
  const firstWalk = state()?.walk

  let [killed, lost, nextId] = [0, 0, 30_000]
  const missing: number[] = []
  const observe = () => {
    const present = lastingInCopy()
    if (present !== lasting) missing.push(lasting - present)
  }
  const change = async () => {
    nextId += 1
    const other = 20_001 + chosen(6_000)
    await write(database, acme, {
      upsert: {
        [nextId]: `new ${nextId}`,
        [1 + chosen(lasting)]: `changed with ${nextId}`,
        [20_001 + chosen(6_000)]: `changed with ${nextId}`,
      },
      delete: [other, nextId - 5].filter((id) => id > 30_000 || id === other),
    })
  }
  while (killed < killsMin) {
    // Some records are gone that the feed does not mention: only a sweep can delete them from the copy.
    if (state()?.isWalking === false) await loseTrack(20_001 + 100 * lost, 20_000 + 100 * ++lost)
    const dead = Promise.withResolvers<void>()
    let pages = 1 + chosen(3)
    interfere = async (body, response) => {
      observe()
      await change()
      const isPage = body.includes('"meta"')
      if (!isPage || --pages > 0) return true
      interfere = undefined
      const how = chosen(3)
      if (how === 1) response.write(body.slice(0, body.length / 2))
      if (how === 2) response.end(body)
      // Before, while or after the example stores the page.
      await setTimeout(chosen(25))
      await kill(child)
      dead.resolve()
      return false
    }
    child = start()
    await dead.promise
    observe()
    // The walk had begun, or its first page was not stored yet.
    if (state()?.isWalking === true) killed += 1
  }
  expect(missing).toEqual([])
  expect(state()?.walk).not.toBe(firstWalk)
  interfere = async () => {
    observe()
    return true
  }
  child = start()
  await eventually(async () => JSON.stringify(rowsInCopy()) === JSON.stringify(await rowsInApi()))
  await change()
  await eventually(async () => JSON.stringify(rowsInCopy()) === JSON.stringify(await rowsInApi()))
  expect(missing).toEqual([])
  expect(state()?.isWalking).toBe(false)
  // Every record has the mark of the last walk: the others were swept.
  const marks = copy((db) => db.prepare('select distinct walk from product').all())
  expect(marks).toEqual([{ walk: state()?.walk }])
  expect((await qm.products.list({ limit: 1 })).meta.total).toBe(rowsInCopy().length)
}, 600_000)

/** Before the example has created its tables there is none. */
function lastingOrNone(): number {
  try {
    return lastingInCopy()
  } catch {
    return 0
  }
}
