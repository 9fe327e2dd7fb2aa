import { setTimeout as sleep } from 'node:timers/promises'
import type { Growing, Ledger } from '../../fresh/oracle.ts'
import { partnerPath, type Row } from '../../fresh/read.ts'
import { anyRow } from '../../fresh/writers.ts'
import type { Random } from '../../random.ts'
import type { LoadAccount } from './messages.ts'
import { Contradiction, type Sender } from './sender.ts'

/** Records of an account that are changed or written in batches. */
const rowsMin = 20
const rowsMax = 60
const batchRows = 10

export interface Writing {
  readonly sender: Sender
  readonly account: LoadAccount
  readonly random: Random
  isOver(): boolean
}

const json = (key: string, type = 'application/json') => ['Content-Type', type, 'Idempotency-Key', key]

/** The id of each acknowledged name, and the names whose outcome is unknown. */
export interface Created {
  readonly acknowledged: Map<string, number>
  readonly unknown: Set<string>
}

/** Creates one partner after the other, each until it is acknowledged. */
export async function grow(
  writing: Writing,
  oracle: Growing,
  created: Created,
  writer: number,
): Promise<void> {
  const { sender, account, random } = writing
  for (let n = 1; !writing.isOver(); n++) {
    const name = `writer ${writer}-${n}`
    oracle.begin()
    created.unknown.add(name)
    const sent = {
      kind: 'create',
      method: 'POST',
      path: partnerPath,
      headers: json(name),
      body: JSON.stringify({ name }),
    } as const
    const { text } = await sender.write(account, random, sent, 201)
    const id = createdId(text)
    oracle.acknowledged(id, name)
    created.acknowledged.set(name, id)
    created.unknown.delete(name)
    await sleep(random.integer(20, 60))
  }
}

/** The unique field of accounts whose records are upserted. */
export const keyField = 'x_number'
const keysOfRound = 200

/** Upserts 200 partners after the other, as other clients do at the same time. Each is created by the first one that is acknowledged. */
export async function upsert(writing: Writing, oracle: Growing, created: Created): Promise<void> {
  const { sender, account, random } = writing
  for (let round = 0; !writing.isOver(); round++) {
    for (let n = 0; n < keysOfRound && !writing.isOver(); n++) {
      const name = `upsert ${round}-${n}`
      if (!created.acknowledged.has(name) && !created.unknown.has(name)) {
        oracle.begin()
        created.unknown.add(name)
      }
      const sent = {
        kind: 'upsert',
        method: 'PATCH',
        path: `${partnerPath}/${keyField}/${encodeURIComponent(name)}`,
        headers: ['Content-Type', 'application/json'],
        body: JSON.stringify({ name }),
      } as const
      const { text } = await sender.write(account, random, sent, 200, 201)
      const id = createdId(text)
      const before = created.acknowledged.get(name)
      if (before !== undefined && before !== id)
        throw new Contradiction(`${account.name}: ${name} is ${id}, and was ${before}`)
      if (before === undefined) oracle.acknowledged(id, name)
      created.acknowledged.set(name, id)
      created.unknown.delete(name)
      await sleep(random.integer(200, 600))
    }
  }
}

export function createdId(text: string): number {
  const { data }: { data: { id: number } } = JSON.parse(text)
  return data.id
}

/** Creates, patches and deletes, one after the other, so that every state of the account is known. */
export async function change(writing: Writing, oracle: Ledger): Promise<void> {
  const { sender, account, random } = writing
  for (let n = 1; !writing.isOver(); n++) {
    const { rows } = oracle
    const key = `write ${n}`
    const row = { ...anyRow(random, `row ${n}`), id: oracle.lastId + 1 }
    if (rows.length < rowsMin || (rows.length < rowsMax && random.chance(0.3))) {
      await oracle.write([[...rows, row]], async () => {
        const body = bodyOf(row)
        const sent = { kind: 'create', method: 'POST', path: partnerPath, headers: json(key), body } as const
        const { text } = await sender.write(account, random, sent, 201)
        if (createdId(text) !== row.id)
          throw new Contradiction(`${account.name}: ${text} instead of ${row.id}`)
      })
    } else {
      const chosen = random.pick(rows)
      const others = rows.filter(({ id }) => id !== chosen.id)
      const path = `${partnerPath}/${chosen.id}`
      if (rows.length >= rowsMax || random.chance(0.3)) {
        const sent = { kind: 'delete', method: 'DELETE', path, headers: ['Idempotency-Key', key] } as const
        await oracle.write([others], () => sender.write(account, random, sent, 204))
      } else {
        const after = { ...row, id: chosen.id }
        const headers = json(key, 'application/merge-patch+json')
        const body = bodyOf(after)
        const sent = { kind: 'patch', method: 'PATCH', path, headers, body } as const
        await oracle.write([[...others, after]], () => sender.write(account, random, sent, 200))
      }
    }
    await sleep(random.integer(20, 60))
  }
}

/**
 * Batches that insert records and delete earlier ones. A record is never changed again, because an attempt without a response may
 * still be written after the batch was repeated.
 */
export async function batch(writing: Writing, oracle: Ledger): Promise<void> {
  const { sender, account, random } = writing
  for (let n = 1; !writing.isOver(); n++) {
    const { rows, lastId } = oracle
    const inserted = Array.from({ length: batchRows }, (_, at) => ({
      ...anyRow(random, `batch ${n}`),
      id: lastId + 1 + at,
    }))
    const deleted = rows.length < rowsMax ? [] : rows.slice(0, batchRows).map(({ id }) => id)
    const lines = [...inserted, ...deleted.map((id) => ({ $delete: id }))].map((line) => JSON.stringify(line))
    const after = [...rows.filter(({ id }) => !deleted.includes(id)), ...inserted]
    const sent = {
      kind: 'batch',
      method: 'POST',
      path: `${partnerPath}/batch`,
      headers: ['Content-Type', 'application/x-ndjson'],
      body: `${lines.join('\n')}\n`,
    } as const
    await oracle.write([after], () => sender.write(account, random, sent, 200))
    await sleep(random.integer(100, 300))
  }
}

function bodyOf({ name, is_company, is_customer, email, phone }: Row): string {
  return JSON.stringify({ name, is_company, is_customer, email, phone })
}
