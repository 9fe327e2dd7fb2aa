import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Erp } from '../../examples/erp-sync.ts'
import { atEnd, temporaryFolder } from '../../server/test/at-end.ts'
import { account, type TestAccount } from '../../server/test/database.ts'
import { freshService } from '../../server/test/service.ts'
import { NotFound, Quartermaster } from '../src/index.ts'

/** `examples/erp-sync.ts` against the real service: both sides end identical, whatever is rejected, deleted or killed. */

const example = fileURLToPath(new URL('../../examples/erp-sync.ts', import.meta.url))
const clientSource = new URL('client-source.ts', import.meta.url).href
let acme: TestAccount
let qm: Quartermaster
let number = 0
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
  acme = await account(database, `erp${++number}`)
  qm = new Quartermaster({ baseUrl: `http://127.0.0.1:${service.port}`, apiKey: acme.key, fetch: asAccount })
})

const asAccount: typeof fetch = async (input, init) => {
  const headers = new Headers(init?.headers)
  headers.set('x-forwarded-host', `${acme.name}.localhost`)
  return await fetch(input, { ...init, headers })
}

async function forwarded(method: string, path: string, sent: NodeJS.Dict<string | string[]>, body: Buffer) {
  const names = ['authorization', 'content-type', 'accept', 'idempotency-key']
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

const file = () => join(folder, `${acme.name}.json`)
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the example has written it
const readErp = () => JSON.parse(readFileSync(file(), 'utf8')) as Erp
const editErp = (edit: (erp: Erp) => void) => {
  const erp = readErp()
  edit(erp)
  writeFileSync(file(), JSON.stringify(erp))
}

/** Starts the example. Resolves with what it has printed, or undefined if it was killed. */
async function run(onStart: (child: ChildProcess) => void = () => {}): Promise<string | undefined> {
  const address = proxy.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy does not listen')
  const child = spawn(process.execPath, ['--import', clientSource, example, file()], {
    env: {
      ...process.env,
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

async function inQuartermaster(): Promise<Record<number, unknown>> {
  const all: Record<number, unknown> = {}
  for await (const { id, name, email } of qm.partners.export()) all[id] = { name, email }
  return all
}

const inErp = () =>
  Object.fromEntries(readErp().partners.map(({ id, ref, name, email }) => [ref ?? id, { name, email }]))

/** No row is left to send, and another run finds nothing to do. */
async function expectIdentical(): Promise<void> {
  expect(inErp()).toEqual(await inQuartermaster())
  const { partners, deleted } = readErp()
  expect([partners.filter(({ changed }) => changed), deleted]).toEqual([[], []])
  expect(await run()).toBe(
    'received { created: 0, changed: 0, deleted: 0 }\nsent { inserted: 0, updated: 0, unchanged: 0, deleted: 0, rejected: 0 }\n',
  )
}

const tooLong = 'x'.repeat(600)

describe('a program that keeps an ERP and an account in step', () => {
  it('sends a rejected row again until it is corrected', async () => {
    await run()
    editErp(({ partners: [one] }) => Object.assign(one ?? {}, { name: tooLong, changed: true }))
    for (const _ of [1, 2]) {
      expect(await run()).toContain('partner 900001: name has 600 characters; at most 512 are allowed')
    }
    // A change of the other side does not replace the one that waits.
    await qm.partners.update(900_001, { email: 'other@example.com' })
    await run()
    expect(readErp().partners[0]).toMatchObject({ name: tooLong, email: null, changed: true })
    editErp(({ partners: [one] }) => Object.assign(one ?? {}, { name: 'Corrected' }))
    await run()
    expect(await inQuartermaster()).toMatchObject({ 900001: { name: 'Corrected', email: null } })
    await run()
    await expectIdentical()
  })

  it('deletes in Quartermaster what was deleted in the ERP, although it is changed there', async () => {
    await run()
    const { id: ref } = await qm.partners.create({ name: 'Created in Quartermaster' })
    await run()
    editErp((erp) => {
      erp.partners = []
      erp.deleted = [900_001, 900_002, ref]
    })
    await qm.partners.update(900_001, { name: 'Changed meanwhile' })
    await qm.partners.update(ref, { name: 'Changed meanwhile' })
    await run()
    await run()
    expect([inErp(), await inQuartermaster()]).toEqual([{}, {}])
    await expectIdentical()
  })

  it('ends identical after rejects, deletes on both sides and 20 kills', async () => {
    await run()
    const random = randomNumbers(20_261_118)
    let kills = 0
    for (let round = 0; kills < 20; round++) {
      expect(round).toBeLessThan(200)
      editErp((erp) => changeErp(erp, random))
      await changeQuartermaster(random)
      // The moment of the kill does not depend on the speed of the machine.
      let moments = random(8)
      let child: ChildProcess | undefined
      interfere = async (moment, path) => {
        if (moment === 'request' && path.includes('/batch')) await changeQuartermaster(random)
        if (moments-- === 0) {
          if (random(2) === 0) child?.kill('SIGKILL')
          // Or while it processes the response, and saves.
          else void setTimeout(random(20)).then(() => child?.kill('SIGKILL'))
        }
      }
      if ((await run((started) => (child = started))) === undefined) kills += 1
      interfere = undefined
    }
    editErp(({ partners }) => {
      for (const partner of partners)
        if (partner.name === tooLong) Object.assign(partner, { name: 'Short', changed: true })
    })
    await run()
    await run()
    expect(Object.keys(await inQuartermaster()).length).toBeGreaterThan(5)
    await expectIdentical()
  })
})

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

function changeErp(erp: Erp, random: (max: number) => number): void {
  for (let edits = random(4); edits > 0; edits--) {
    const at = random(erp.partners.length)
    const partner = erp.partners[at]
    const kind = random(6)
    const name = random(4) === 0 ? tooLong : `ERP ${random(1_000_000)}`
    if (kind < 2 || partner === undefined)
      erp.partners.push({ id: erp.nextId++, name, email: null, changed: true })
    else if (kind < 5) Object.assign(partner, { name, changed: true })
    else {
      erp.partners.splice(at, 1)
      erp.deleted.push(partner.ref ?? partner.id)
    }
  }
}

async function changeQuartermaster(random: (max: number) => number): Promise<void> {
  const ids = Object.keys(await inQuartermaster()).map(Number)
  for (let edits = random(3); edits > 0; edits--) {
    const at = random(ids.length)
    const id = ids[at]
    const kind = random(5)
    const email = `${random(1_000_000)}@example.com`
    if (kind < 2 || id === undefined) await qm.partners.create({ name: `Quartermaster ${email}`, email })
    else if (kind < 4) await unlessGone(qm.partners.update(id, { email }))
    else await unlessGone(qm.partners.delete(ids.splice(at, 1)[0] ?? 0))
  }
}

/** The program may have deleted the record since the list was read. */
async function unlessGone(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof NotFound)) throw error
  })
}
