import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, it } from 'vitest'
import { atEnd, temporaryFolder } from '../../server/test/at-end.ts'
import { account, type TestAccount } from '../../server/test/database.ts'
import { freshService } from '../../server/test/service.ts'
import { NotFound, Quartermaster } from '../src/index.ts'

/** `examples/erp-sync.ts` against the real service: both sides end identical, whatever is rejected, deleted or killed. */

const example = fileURLToPath(new URL('../../examples/erp-sync.ts', import.meta.url))
const clientSource = new URL('client-source.ts', import.meta.url).href
let acme: TestAccount
let qm: ReturnType<typeof clientOf>
let accounts = 0
/** Called with each request of the example, and again with its response before the example gets it. */
let interfere: ((moment: 'request' | 'response', path: string) => Promise<void>) | undefined

const { client: database, service } = await freshService()
const proxy = createServer((request, response) => {
  void (async () => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(Buffer.from(chunk))
    const path = request.url ?? ''
    await interfere?.('request', path)
    const answer = await forwarded(request.method ?? '', path, request.headers, Buffer.concat(chunks))
    await interfere?.('response', path)
    response.writeHead(answer.status, { 'content-type': answer.type }).end(answer.body)
  })().catch(() => response.destroy())
})
atEnd(() => {
  proxy.closeAllConnections()
  proxy.close()
})
await once(proxy.listen(0, '127.0.0.1'), 'listening')
const folder = temporaryFolder('erp-sync')

beforeEach(async () => {
  interfere = undefined
  acme = await account(database, `erp${++accounts}`)
  const field = { resource: 'partner', name: 'x_number', type: 'integer', unique: true }
  expect((await service.post(acme, '/manage/v1/fields', field)).status).toBe(201)
  qm = clientOf(acme)
})

function clientOf({ key }: TestAccount) {
  const fields = { partner: { x_number: 'integer' } } as const
  const baseUrl = `http://127.0.0.1:${service.port}`
  return new Quartermaster({ baseUrl, apiKey: key, fetch: asAccount, fields })
}

const asAccount: typeof fetch = async (input, init) => {
  const headers = new Headers(init?.headers)
  headers.set('x-forwarded-host', `${acme.name}.localhost`)
  return await fetch(input, { ...init, headers })
}

async function forwarded(method: string, path: string, sent: NodeJS.Dict<string | string[]>, body: Buffer) {
  const names = ['authorization', 'content-type', 'accept', 'idempotency-key', 'if-match']
  const headers = names.flatMap((name): [string, string][] => {
    const value = sent[name]
    return typeof value === 'string' ? [[name, value]] : []
  })
  const response = await asAccount(`http://127.0.0.1:${service.port}${path}`, {
    method,
    headers,
    ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
  })
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    body: Buffer.from(await response.arrayBuffer()),
  }
}

const file = () => join(folder, `${acme.name}.db`)

/** What people do with the ERP, beside the example. */
function inErp<T>(work: (erp: DatabaseSync) => T): T {
  const erp = new DatabaseSync(file(), { timeout: 60_000 })
  try {
    return work(erp)
  } finally {
    erp.close()
  }
}

const editErp = (sql: string, ...values: readonly (string | number)[]) =>
  inErp((erp) => Number(erp.prepare(sql).run(...values).changes))

const change = (number: number, name: string) =>
  editErp('update partner set name = ?, changed = changed + 1 where number = ?', name, number)

function remove(number: number): void {
  editErp('delete from partner where number = ?', number)
  editErp('insert into deleted values (?)', number)
}

const partnerInErp = (number: number) =>
  inErp((erp) => ({
    ...erp.prepare('select name, email, changed from partner where number = ?').get(number),
  }))

/** Starts the example. Resolves with what it has printed, or undefined if it was killed. */
async function run(onStart: (child: ChildProcess) => void = () => {}): Promise<string | undefined> {
  const address = proxy.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy does not listen')
  const child = spawn(process.execPath, ['--import', clientSource, example, file()], {
    env: {
      ...process.env,
      NODE_NO_WARNINGS: '1',
      QUARTERMASTER_URL: `http://127.0.0.1:${address.port}`,
      QUARTERMASTER_KEY: acme.key,
    },
  })
  onStart(child)
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text))
  await once(child, 'close')
  if (child.signalCode === 'SIGKILL') return undefined
  if (child.exitCode !== 0) throw new Error(`the example exited with ${child.exitCode}: ${printed}`)
  return printed
}

async function inQuartermaster(): Promise<Record<string, unknown>> {
  const all: Record<string, unknown> = {}
  for await (const { x_number, name, email } of qm.partners.export()) {
    // A second partner with a number, or one without, would replace it.
    expect(all).not.toHaveProperty(String(x_number))
    all[String(x_number)] = { name, email }
  }
  return all
}

const allInErp = () =>
  inErp((erp) =>
    Object.fromEntries(
      erp
        .prepare('select number, name, email from partner')
        .all()
        .map(({ number: key, name, email }) => [String(key), { name, email }]),
    ),
  )

/** No row is left to send, and another run finds nothing to do. */
async function expectIdentical(): Promise<void> {
  expect(allInErp()).toEqual(await inQuartermaster())
  const waiting = inErp((erp) =>
    erp.prepare('select number from partner where changed > 0 union select number from deleted').all(),
  )
  expect(waiting).toEqual([])
  expect(await run()).toBe(
    'received 0\nsent { inserted: 0, updated: 0, unchanged: 0, deleted: 0, rejected: 0 }\n',
  )
}

const tooLong = 'x'.repeat(600)

describe('a program that keeps an ERP and an account in step', () => {
  it('sends a rejected row again until it is corrected', async () => {
    await run()
    change(900_001, tooLong)
    for (const _ of [1, 2]) {
      expect(await run()).toContain('partner 900001: name has 600 characters; at most 512 are allowed')
    }
    // A change of the other side does not replace the one that waits.
    await qm.partners.update({ x_number: 900_001 }, { email: 'other@example.com' })
    await run()
    expect(partnerInErp(900_001)).toEqual({ name: tooLong, email: null, changed: 1 })
    editErp(`update partner set name = 'Corrected' where number = 900001`)
    await run()
    expect(await inQuartermaster()).toMatchObject({ 900001: { name: 'Corrected', email: null } })
    await run()
    await expectIdentical()
  })

  it('numbers what was created in Quartermaster, but not twice', async () => {
    await run()
    await qm.partners.create({ name: 'Created in Quartermaster', email: 'a@example.com' })
    await qm.partners.create({ name: 'Taken', x_number: 900_003 })
    expect(await run()).toContain('received 4')
    expect(allInErp()).toMatchObject({
      900003: { name: 'Taken', email: null },
      900004: { name: 'Created in Quartermaster', email: 'a@example.com' },
    })
    await expectIdentical()
  })

  it('deletes in Quartermaster what was deleted in the ERP, although it is changed there', async () => {
    await run()
    await qm.partners.create({ name: 'Created in Quartermaster' })
    await run()
    for (const key of [900_001, 900_002, 900_003]) remove(key)
    await qm.partners.update({ x_number: 900_001 }, { name: 'Changed meanwhile' })
    await qm.partners.update({ x_number: 900_003 }, { name: 'Changed meanwhile' })
    await run()
    await run()
    expect([allInErp(), await inQuartermaster()]).toEqual([{}, {}])
    await expectIdentical()
  })

  it('does not create again what was deleted in Quartermaster, although it is changed in the ERP', async () => {
    await run()
    await run()
    change(900_001, 'Changed meanwhile')
    interfere = async (moment, path) => {
      if (moment !== 'request' || !path.includes('/batch')) return
      interfere = undefined
      await qm.partners.delete({ x_number: 900_001 })
    }
    expect(await run()).toContain('rejected: 1')
    expect(await run()).toContain('received 1')
    expect(Object.keys(allInErp())).toEqual(['900002'])
    await expectIdentical()
  })

  it.each([
    ['the ERP has lost every id and the cursor', forgetEverything],
    ['the cursor has expired', loseTrack],
  ])('doubles and loses nothing if %s', async (_, lose) => {
    await run()
    await qm.partners.create({ name: 'Created in Quartermaster' })
    await run()
    await run()
    await lose()
    await qm.partners.delete({ x_number: 900_002 })
    editErp(`insert into partner (number, name) values (900005, 'Created in the ERP')`)
    change(900_001, 'Changed in the ERP')
    await run()
    await run()
    expect(allInErp()).toEqual({
      900001: { name: 'Changed in the ERP', email: null },
      900003: { name: 'Created in Quartermaster', email: null },
      900005: { name: 'Created in the ERP', email: null },
    })
    await expectIdentical()
  })

  it('ends identical after rejects, deletes on both sides and 20 kills', async () => {
    await run()
    const random = randomNumbers(20_261_118)
    let kills = 0
    for (let round = 0; kills < 20; round++) {
      expect(round).toBeLessThan(200)
      changeErp(random)
      await changeQuartermaster(random)
      // The moment of the kill does not depend on the speed of the machine.
      let moments = random(8)
      let child: ChildProcess | undefined
      interfere = async (moment, path) => {
        if (moment === 'request' && path.includes('/batch')) {
          await changeQuartermaster(random)
          changeErp(random)
        }
        if (moments-- === 0) {
          if (random(2) === 0) child?.kill('SIGKILL')
          // Or while it processes the response, and saves.
          else void setTimeout(random(20)).then(() => child?.kill('SIGKILL'))
        }
      }
      if ((await run((started) => (child = started))) === undefined) kills += 1
      interfere = undefined
    }
    editErp(`update partner set name = 'Short', changed = changed + 1 where length(name) > 512`)
    await run()
    await run()
    expect(Object.keys(await inQuartermaster()).length).toBeGreaterThan(5)
    await expectIdentical()
  })
})

async function forgetEverything(): Promise<void> {
  editErp('update partner set id = null')
  editErp('update last set cursor = null')
}

/** A write that did not go through the service, so that the feed does not know what was deleted before. */
async function loseTrack(): Promise<void> {
  await database.query(
    `update tally set version = version + 1 where account_id = $1 and resource = 'partner'`,
    [acme.accountId],
  )
}

/** Integers from 0 to below `max`, the same in every run (mulberry32). */
function randomNumbers(seed: number): (max: number) => number {
  let state = seed
  return (max) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * max)
  }
}

function changeErp(random: (max: number) => number): void {
  for (let edits = random(4); edits > 0; edits--) {
    const numbers = inErp((erp) => erp.prepare('select number from partner order by number').all())
    const chosen = numbers[random(numbers.length)]?.['number']
    const kind = random(7)
    const name = random(4) === 0 ? tooLong : `ERP ${random(1_000_000)}`
    if (kind < 3 || typeof chosen !== 'number') {
      inErp((erp) => {
        erp.exec('begin immediate')
        erp.exec('update last set number = max(number, (select ifnull(max(number), 0) from partner)) + 1')
        erp.prepare('insert into partner (number, name) select number, ? from last').run(name)
        erp.exec('commit')
      })
    } else if (kind < 6) change(chosen, name)
    else remove(chosen)
  }
}

async function changeQuartermaster(random: (max: number) => number): Promise<void> {
  const ids: number[] = []
  for await (const { id } of qm.partners.export({ fields: ['id'] })) ids.push(id)
  for (let edits = random(3); edits > 0; edits--) {
    const at = random(ids.length)
    const id = ids[at]
    const kind = random(6)
    const email = `${random(1_000_000)}@example.com`
    if (kind < 3 || id === undefined) await qm.partners.create({ name: `Quartermaster ${email}`, email })
    else if (kind < 5) await unlessGone(qm.partners.update(id, { email }))
    else await unlessGone(qm.partners.delete(ids.splice(at, 1)[0] ?? 0))
  }
}

/** The program may have deleted the record since the list was read. */
async function unlessGone(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof NotFound)) throw error
  })
}
