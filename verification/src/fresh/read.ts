export const partnerPath = '/api/v1/resources/partner'

/** The fields of a partner that are compared. The timestamps that the service sets are left out. */
export interface Row {
  readonly id: number
  readonly name: string
  readonly is_company: boolean
  readonly is_customer: boolean
  readonly email: string | null
  readonly phone: string | null
}

export type FieldName = keyof Row

/** A filter as it is sent, and an independent implementation of its meaning. */
export interface Condition {
  readonly text: string
  readonly matches: (row: Row) => boolean
}

export interface ListRead {
  readonly kind: 'list'
  readonly page: number
  readonly limit: number
  readonly fields: readonly FieldName[]
  readonly condition: Condition | undefined
}

export interface OneRead {
  readonly kind: 'one'
  readonly id: number
  readonly fields: readonly FieldName[]
}

export type Read = ListRead | OneRead

/** The normalised response for a record that does not exist. */
export const missing = '404'

export function parametersOf(read: Read): string {
  const fields = `fields=${read.fields.join()}`
  if (read.kind === 'one') return fields
  const filter = read.condition === undefined ? '' : `&filter=${encodeURIComponent(read.condition.text)}`
  return `${fields}${filter}&page=${read.page}&limit=${read.limit}`
}

export function pathOf(read: Read): string {
  return `${partnerPath}${read.kind === 'one' ? `/${read.id}` : ''}?${parametersOf(read)}`
}

/** The normalised response of a list with these records on the page. */
export function listText({ page, limit, fields }: ListRead, rows: readonly Row[], total: number): string {
  const totalPages = Math.ceil(total / limit)
  return JSON.stringify({
    data: rows.map((row) => picked(row, fields)),
    meta: { count: rows.length, total },
    pagination: {
      previousPage: Math.min(page - 1, totalPages) || null,
      currentPage: page,
      nextPage: page < totalPages ? page + 1 : null,
      totalPages,
    },
  })
}

export function oneText({ fields }: OneRead, row: Row | undefined): string {
  return row === undefined ? missing : JSON.stringify({ data: picked(row, fields) })
}

function picked(row: Row, fields: readonly FieldName[]): Partial<Row> {
  return Object.fromEntries(fields.map((field) => [field, row[field]]))
}
