import type { Random } from '../random.ts'
import { type Growing, Ledger } from './oracle.ts'
import type { Condition, FieldName, ListRead, Read } from './read.ts'

const ledgerFields: readonly (readonly FieldName[])[] = [
  ['id', 'name', 'phone'],
  ['id'],
  ['phone', 'email', 'is_customer', 'is_company', 'name', 'id'],
]

const conditions: readonly Condition[] = [
  { text: 'is_customer=true', matches: (row) => row.is_customer },
  { text: 'is_customer!=true', matches: (row) => !row.is_customer },
  { text: 'name*BLUE', matches: (row) => row.name.includes('blue') },
  { text: 'name!*red', matches: (row) => !row.name.includes('red') },
  { text: 'email=null', matches: (row) => row.email === null },
  { text: 'is_customer=true&name*red', matches: (row) => row.is_customer && row.name.includes('red') },
  { text: 'is_company=true|phone=null', matches: (row) => row.is_company || row.phone === null },
]

/** Half of the reads request the same lists, so that responses are cached, shared and not modified. */
export function anyRead(oracle: Ledger | Growing, random: Random): Read {
  return oracle instanceof Ledger ? ledgerRead(oracle, random) : growingRead(oracle, random)
}

/** A list that is read by a long statement, unless its response is cached. */
export function longRead(oracle: Ledger, random: Random): Read {
  const lastId = oracle.rows.at(-1)?.id ?? 1
  const from = lastId - random.integer(0, 60)
  const after: Condition = { text: `id>=${from}`, matches: ({ id }) => id >= from }
  return {
    kind: 'list',
    page: random.integer(1, 4),
    limit: random.pick([3, 10, 17, 1000]),
    fields: random.pick(ledgerFields),
    condition: random.pick([after, ...conditions]),
  }
}

/** One long page after the other. */
export function consecutivePages(oracle: Ledger | Growing, random: Random): ListRead[] {
  const isLedger = oracle instanceof Ledger
  const condition = isLedger && random.chance(0.5) ? conditions[1] : undefined
  const fields: readonly FieldName[] = isLedger ? random.pick(ledgerFields) : ['id', 'name']
  return [1, 2, 3, 4].map((page) => ({
    kind: 'list',
    page,
    limit: 200,
    fields,
    condition,
  }))
}

function ledgerRead(oracle: Ledger, random: Random): Read {
  const { rows } = oracle
  const lastId = rows.at(-1)?.id ?? 1
  if (random.chance(0.3)) {
    // Includes ids that were deleted, and ids that are not assigned yet.
    const id = random.chance(0.5)
      ? random.pick(rows).id
      : random.integer(Math.max(1, lastId - 100), lastId + 2)
    return { kind: 'one', id, fields: random.pick(ledgerFields) }
  }
  if (random.chance(0.5)) {
    const condition = random.chance(0.5) ? undefined : conditions[0]
    return {
      kind: 'list',
      page: random.pick([1, 2, Math.ceil(rows.length / 10)]),
      limit: 10,
      fields: ['id', 'name', 'phone'],
      condition,
    }
  }
  const from = lastId - random.integer(0, 60)
  const after: Condition = { text: `id>=${from}`, matches: ({ id }) => id >= from }
  return {
    kind: 'list',
    page: random.integer(1, 6),
    limit: random.pick([3, 10, 17, 1000]),
    fields: random.pick(ledgerFields),
    condition: random.chance(0.2) ? undefined : random.pick([after, ...conditions]),
  }
}

function growingRead({ floor, ceiling }: Growing, random: Random): Read {
  const fields = random.pick<readonly FieldName[]>([
    ['id', 'name'],
    ['name', 'id'],
  ])
  const recent = Math.max(1, random.integer(floor - 5, ceiling + 2))
  if (random.chance(0.3)) {
    return { kind: 'one', id: random.chance(0.7) ? recent : random.integer(1, floor + 1), fields }
  }
  const limit = random.pick([10, 100])
  const last = Math.max(1, Math.ceil(floor / limit))
  const list: ListRead = { kind: 'list', page: last, limit, fields, condition: undefined }
  if (random.chance(0.4)) return random.chance(0.5) ? list : { ...list, page: 1 }
  const border = Math.max(1, random.chance(0.7) ? Math.floor(recent / 20) * 20 : random.integer(1, floor + 1))
  const operator = random.pick(['>=', '<='])
  return {
    ...list,
    page: random.pick([1, 2, Math.max(1, last - 1), last, last + 1]),
    condition: random.chance(0.3) ? undefined : { text: `id${operator}${border}`, matches: () => true },
  }
}

/**
 * The read that a writer sends right after its write, to any process: the record, the page that contains it, or a first page
 * that a process may have cached before the write.
 */
export function readOfWritten(oracle: Ledger | Growing, id: number, random: Random): Read {
  const isLedger = oracle instanceof Ledger
  const fields: readonly FieldName[] = isLedger ? ['id', 'name', 'phone'] : ['id', 'name']
  if (random.chance(0.3)) return { kind: 'one', id, fields }
  const limit = 10
  const position = isLedger ? oracle.rows.findIndex((row) => row.id === id) + 1 : id
  const page = random.chance(0.5) ? Math.ceil(position / limit) || 1 : 1
  return { kind: 'list', page, limit, fields, condition: undefined }
}
