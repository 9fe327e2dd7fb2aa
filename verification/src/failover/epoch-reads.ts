import type { HttpResponse } from '../client.ts'
import {
  type Condition,
  type FieldName,
  listText,
  missing,
  oneText,
  partnerPath,
  pathOf,
  type Read,
  type Row,
} from '../fresh/read.ts'
import type { Random } from '../random.ts'

export interface ExportRead {
  readonly kind: 'export'
  readonly format: 'ndjson' | 'csv'
  readonly condition: Condition
}

export type AnyRead = Read | ExportRead

/** Records that every branch begins with. More than a small account has, so that page ends are cached. */
export const baseRecords = 2_000

const listFields: readonly FieldName[] = ['id', 'name', 'is_customer', 'phone']
const exportFields: readonly FieldName[] = ['id', 'name']

export function baseRow(id: number): Row {
  return {
    id,
    name: `base ${id}`,
    is_company: id % 3 === 0,
    is_customer: id % 2 === 0,
    email: null,
    phone: String(1 + (id % 3)),
  }
}

/** Ids that this step inserts. The third one differs between even and odd branches. */
export function insertedIds(branch: number, step: number): readonly number[] {
  const first = baseRecords + step * 10
  return [first + 1, first + 2, first + 3 + (branch % 2), first + 5]
}

/** The rows that a step of a branch writes. Their number and highest id are the same in every branch, their content is not. */
export function writtenRows(branch: number, step: number): Row[] {
  const changed = Array.from({ length: baseRecords }, (_, at) => at + 1).filter((id) => id % 7 === step % 7)
  return [...changed, ...insertedIds(branch, step)].map((id) => {
    const hash = Math.imul(id + branch * 7919, 0x9e3779b1) >>> 8
    return {
      id,
      name: `branch ${branch}-${step} ${id}`,
      is_company: (hash & 1) === 1,
      is_customer: (hash & 2) === 2,
      email: null,
      phone: String(1 + ((hash >>> 2) % 3)),
    }
  })
}

/**
 * The reads of one step. Each step has its own reads, so that what a process has cached at this version in one branch is
 * still cached when the next branch reaches the same version.
 */
export function readsOf(step: number, random: Random): AnyRead[] {
  const pages = [1, 40, 41, 42, 60, 61].filter(() => random.chance(0.7))
  const conditions: readonly Condition[] = [
    { text: `is_customer=true&id>${step}`, matches: (row) => row.is_customer && row.id > step },
    { text: `is_company!=true&id>${step}`, matches: (row) => !row.is_company && row.id > step },
    {
      text: `name*branch|id<${1000 + step}`,
      matches: (row) => /branch/.test(row.name) || row.id < 1000 + step,
    },
    { text: `phone[1,3]&id>${step}`, matches: (row) => /^[13]$/.test(row.phone ?? '') && row.id > step },
  ]
  const lists = [...conditions, undefined].flatMap((condition) =>
    pages.map((page): Read => {
      const limit = condition === undefined ? 20 + step : 10
      return { kind: 'list', page, limit, fields: listFields, condition }
    }),
  )
  const ids = [
    step,
    step + 7,
    step + 70,
    ...insertedIds(0, step),
    ...insertedIds(1, step),
    baseRecords + step * 10 - 4,
  ]
  const ones = ids.map((id): Read => ({ kind: 'one', id, fields: listFields }))
  const exports = conditions
    .slice(0, 2)
    .map((condition, at): ExportRead => ({ kind: 'export', format: at === 0 ? 'ndjson' : 'csv', condition }))
  return [...lists, ...ones, ...exports]
}

export function requestOf(read: AnyRead): { path: string; headers: readonly string[] } {
  if (read.kind !== 'export') return { path: pathOf(read), headers: [] }
  const path = `${partnerPath}?fields=${exportFields.join()}&filter=${encodeURIComponent(read.condition.text)}`
  const accept = read.format === 'csv' ? 'text/csv' : 'application/x-ndjson'
  return { path, headers: ['Accept', accept] }
}

/** The normalised body for these rows, computed without code of the service. */
export function expectedText(read: AnyRead, rows: readonly Row[]): string {
  if (read.kind === 'one')
    return oneText(
      read,
      rows.find(({ id }) => id === read.id),
    )
  const { condition } = read
  const found = condition === undefined ? rows : rows.filter(condition.matches)
  if (read.kind === 'list') {
    const { page, limit } = read
    return listText(read, found.slice((page - 1) * limit, page * limit), found.length)
  }
  if (read.format === 'ndjson') return found.map(({ id, name }) => JSON.stringify({ id, name })).join('\n')
  return ['id,name', ...found.map(({ id, name }) => `${id},"${name}"`)].join('\n')
}

export interface Shown {
  /** The body in the form of `expectedText`. */
  readonly text: string
  /** The ETag, and the version at the end of NDJSON: equal ones promise an equal body. */
  readonly identities: readonly string[]
}

/** Undefined for an unexpected status. */
export function shownBy(read: AnyRead, { status, headers, text }: HttpResponse): Shown | undefined {
  if (status === 404 && read.kind === 'one') return { text: missing, identities: [] }
  if (status !== 200) return undefined
  const etag = String(headers['etag'])
  if (read.kind !== 'export') return { text: JSON.stringify(JSON.parse(text)), identities: [etag] }
  const lines = text.replace('\uFEFF', '').replaceAll('\r\n', '\n').trimEnd().split('\n')
  if (read.format === 'csv') return { text: lines.join('\n'), identities: [etag] }
  const { $end: end }: { $end?: { version: string } } = JSON.parse(lines.pop() ?? '')
  return { text: lines.join('\n'), identities: [etag, `version ${end?.version}`] }
}
