import { setTimeout as sleep } from 'node:timers/promises'
import { importRecords } from '../../../server/src/import/import-records.ts'
import { type Client, headersFor } from '../client.ts'
import type { Random } from '../random.ts'
import type { Checker, Watched } from './checker.ts'
import { Growing, type Ledger } from './oracle.ts'
import { partnerPath, type Row } from './read.ts'
import { readOfWritten } from './readers.ts'

export interface Writing {
  readonly client: Client
  readonly ports: readonly number[]
  readonly ownerUrl: string
  readonly checker: Checker
  readonly random: Random
  /** Part of the name of every record. */
  readonly writer: number
  isOver(): boolean
  onWrite(): void
}

/** Bounds for the changing records of a ledger. Below 80, an import changes most of the records that readers request. */
const rowsMin = 25
const rowsMax = 80
/** Pause before a write whose outcome is unknown is sent again. */
const unconfirmedMs = 200
const colours = ['red', 'blue', 'green', 'grey']

/** Writes until the check is over, and reads each write back at once. */
export async function write(account: Watched, writing: Writing): Promise<void> {
  const { checker, random } = writing
  const { oracle } = account
  for (let n = 1; !writing.isOver(); n++) {
    const name = `${random.pick(colours)} ${writing.writer}-${n}`
    const id =
      oracle instanceof Growing
        ? await grow({ ...account, oracle }, name, writing)
        : await oracle.exclusively(() => change({ ...account, oracle }, name, writing))
    // What became of it is unknown, so nothing is known that a read must show.
    if (id === undefined) continue
    writing.onWrite()
    await checker.check(account, readOfWritten(oracle, id, random), random)
    await sleep(random.integer(...account.pauseMs))
  }
}

/** Creates a partner, half of them without a key. Such a one cannot be repeated, so that its outcome may stay unknown. */
async function grow(account: Watched<Growing>, name: string, writing: Writing): Promise<number | undefined> {
  account.oracle.begin()
  try {
    const id = await create(account, name, writing, writing.random.chance(0.5))
    account.oracle.acknowledged(id, name)
    return id
  } catch (error) {
    if (error instanceof Unconfirmed) return undefined
    throw error
  }
}

/** Writes once to a ledger, and returns the id of a written or deleted record. */
async function change(account: Watched<Ledger>, name: string, writing: Writing): Promise<number> {
  const { oracle } = account
  const { random } = writing
  const nextId = oracle.lastId + 1
  if (random.chance(0.4)) return await random.pick([patch, remove, batch])(account, name, writing)
  if (oracle.changing.length < rowsMax && random.chance(0.4)) {
    const row = { id: nextId, name, is_company: false, is_customer: false, email: null, phone: null }
    await oracle.write([[...oracle.rows, row]], async () => {
      const id = await create(account, name, writing)
      if (id !== nextId) throw new Error(`${account.name}: ${name} has the id ${id}, not ${nextId}`)
    })
    return nextId
  }
  const inserted = Array.from({ length: random.integer(1, 4) }, (_, at) => ({
    ...anyRow(random, name),
    id: nextId + at * 2,
  }))
  if (oracle.changing.length >= rowsMax || random.chance(0.3)) await replace(account, name, inserted, writing)
  else await update(account, name, inserted, writing)
  return random.pick(inserted).id
}

/** Changes some fields of a record over HTTP. */
async function patch(account: Watched<Ledger>, name: string, writing: Writing): Promise<number> {
  const { oracle } = account
  const { random } = writing
  const { id, ...before } = random.pick(oracle.changing)
  const after = Object.entries(anyRow(random, name)).filter(
    ([field]) => field === 'name' || random.chance(0.5),
  )
  const row = { ...before, ...Object.fromEntries(after), id }
  await oracle.write([merged(oracle.rows, [row])], () =>
    send(account, writing, {
      method: 'PATCH',
      path: `${partnerPath}/${id}`,
      type: 'application/merge-patch+json',
      body: JSON.stringify(Object.fromEntries(after)),
      key: keyOf(name),
      expected: 200,
    }),
  )
  return id
}

/** Deletes a record over HTTP, unless few are left. */
async function remove(account: Watched<Ledger>, name: string, writing: Writing): Promise<number> {
  const { oracle } = account
  if (oracle.changing.length <= rowsMin) return await patch(account, name, writing)
  const { id } = writing.random.pick(oracle.changing)
  await oracle.write([oracle.rows.filter((row) => row.id !== id)], () =>
    send(account, writing, {
      method: 'DELETE',
      path: `${partnerPath}/${id}`,
      key: keyOf(name),
      expected: 204,
    }),
  )
  return id
}

/** Updates and deletes by a batch over HTTP: one transaction, so one step. The service assigned the ids. */
async function batch(account: Watched<Ledger>, name: string, writing: Writing): Promise<number> {
  const { oracle } = account
  const { random } = writing
  const deletable = oracle.changing.length - rowsMin
  const chosen = oracle.changing.filter(() => random.chance(0.3))
  const deleted = new Set(chosen.slice(0, Math.min(deletable, 2)).map(({ id }) => id))
  const changed = chosen
    .filter(({ id }) => !deleted.has(id))
    .map(({ id }) => ({ ...anyRow(random, name), id }))
  const rows = merged(oracle.rows, changed).filter(({ id }) => !deleted.has(id))
  const lines = [...changed, ...[...deleted].map((id) => ({ $delete: id }))]
  await oracle.write([rows], async () => {
    let isRepeated = false
    const result = await send(account, writing, {
      method: 'POST',
      path: `${partnerPath}/batch?mode=update`,
      type: 'application/x-ndjson',
      body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
      isRepeatable: true,
      onRepeat: () => (isRepeated = true),
      expected: 200,
    })
    const { $end }: { $end?: { updated: number; deleted: number } } = JSON.parse(result)
    // What an earlier attempt has written is unchanged, and counted as such.
    const isComplete = $end?.updated === changed.length && $end.deleted === deleted.size
    if ($end === undefined || (!isRepeated && !isComplete)) throw new Error(`batch: ${result}`)
  })
  return random.pick(oracle.changing).id
}

/** Inserts and updates in one batch: one step. */
async function update(account: Watched<Ledger>, name: string, inserted: readonly Row[], writing: Writing) {
  const { oracle } = account
  const { random } = writing
  const changed = oracle.changing
    .filter(() => random.chance(0.6))
    .map(({ id }) => ({ ...anyRow(random, name), id }))
  const records = [...inserted, ...changed]
  await oracle.write([merged(oracle.rows, records)], () => load(account, records, false, writing))
}

/** The import writes its records first and then deletes the others: two steps, both of which may be visible. */
async function replace(account: Watched<Ledger>, name: string, inserted: readonly Row[], writing: Writing) {
  const { oracle } = account
  const { random } = writing
  const share = rowsMin / oracle.changing.length
  const remaining = oracle.changing
    .filter(() => random.chance(share))
    .map((row) => (random.chance(0.5) ? row : { ...anyRow(random, name), id: row.id }))
  const records = [...oracle.rows.slice(0, oracle.fixedRecords), ...remaining, ...inserted]
  await oracle.write([merged(oracle.rows, records), records], () => load(account, records, true, writing))
}

function merged(before: readonly Row[], records: readonly Row[]): Row[] {
  const ids = new Set(records.map(({ id }) => id))
  return [...before.filter(({ id }) => !ids.has(id)), ...records]
}

export function anyRow(random: Random, name: string): Omit<Row, 'id'> {
  return {
    name: `${random.pick(colours)} ${name}`,
    is_company: random.chance(0.3),
    is_customer: random.chance(0.5),
    email: random.chance(0.3) ? null : `${random.digits(4)}@example.com`,
    phone: random.chance(0.3) ? null : name,
  }
}

async function load(account: Watched, records: readonly Row[], replaces: boolean, { ownerUrl }: Writing) {
  await importRecords({ ownerUrl, account: account.name, resource: 'partner', records, replace: replaces })
}

async function create(account: Watched, name: string, writing: Writing, hasKey = true): Promise<number> {
  const { data }: { data: { id: number } } = JSON.parse(
    await send(account, writing, {
      method: 'POST',
      path: partnerPath,
      type: 'application/json',
      body: JSON.stringify({ name }),
      ...(hasKey ? { key: keyOf(name) } : {}),
      expected: 201,
    }),
  )
  return data.id
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly type?: string
  readonly body?: string
  /** The Idempotency-Key. */
  readonly key?: string
  /** Whether sending it again has the same effect, even without a key. */
  readonly isRepeatable?: boolean
  readonly expected: number
  readonly onRepeat?: () => void
}

/** The database did not confirm a write that cannot be repeated. */
class Unconfirmed extends Error {}

/** Names are used once by a writer, but each kind of write has another body. */
function keyOf(name: string): string {
  return `write ${name}`
}

/**
 * Sends a write to any process, and returns the body of the response. On a busy machine a commit may take longer than the service
 * waits. Then the same request is sent again, as the response says.
 */
export async function send(
  account: Pick<Watched, 'name' | 'key'>,
  { client, ports, random }: Pick<Writing, 'client' | 'ports' | 'random'>,
  { method, path, type, body, key, isRepeatable = key !== undefined, expected, onRepeat = () => {} }: Sent,
): Promise<string> {
  const request = {
    method,
    path,
    headers: [
      ...headersFor(account.name, account.key),
      ...(type === undefined ? [] : ['Content-Type', type]),
      ...(key === undefined ? [] : ['Idempotency-Key', key]),
    ],
    ...(body === undefined ? {} : { body }),
  }
  for (let isRepeated = false; ; isRepeated = true) {
    const response = await client.sendUntilAccepted({ port: random.pick(ports), ...request })
    const { status, text } = response
    const isUnconfirmed = text.includes('"code":"outcome_unknown"')
    if (status === expected && !isUnconfirmed) return text
    const what = `${method} ${path}: ${status} ${text.slice(0, 300)}`
    if (isUnconfirmed && !isRepeatable) throw new Unconfirmed(what)
    // The first attempt may still run.
    const mayEnd = isRepeated && text.includes('"code":"idempotency_conflict"')
    if (!isUnconfirmed && !mayEnd) throw new Error(what)
    onRepeat()
    await sleep(unconfirmedMs)
  }
}
