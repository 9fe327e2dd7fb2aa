import { describe, expect, it } from 'vitest'
import { limits } from '../src/limits/limits.ts'
import { account, type TestAccount } from './database.ts'
import { freshService } from './service.ts'

/** The largest filters that the grammar allows, as a list and as an export, stay within PostgreSQL's limits. */

const records = { small: 30, large: 3000 } as const
const products = '/api/v1/inventory/product'

const { client, service } = await freshService({ QUARTERMASTER_READ_MS_MAX: '60000' })
/** Below and above `smallAccountRecordsMax`. */
const accounts = { small: await account(client, 'small'), large: await account(client, 'large') }
for (const name of ['small', 'large'] as const) {
  const values = [accounts[name].accountId, records[name]]
  // One record a second, from the first second of 2026 on.
  await client.query(
    `insert into product select $1, g, 1, 'Part ' || g, null, g, 0, true, g % 7, null, null, now(),
       timestamptz '2026-01-01T00:00:00Z' + g * interval '1 second' from generate_series(1, $2::int) g`,
    values,
  )
  await client.query(
    `update tally set version = 1, total = $2, last_id = $2 where account_id = $1 and resource = 'product'`,
    values,
  )
}
await client.query('analyze product')

const upTo = (count: number, from = 0) => Array.from({ length: count }, (_, i) => from + i)

/** The timestamp of the record with this id, and a timestamp that no record has. */
const at = (id: number) => new Date(Date.UTC(2026, 0, 1) + id * 1000).toISOString().slice(0, 19)
const never = (i: number) => new Date(Date.UTC(2001, 0, 1) + i * 7000).toISOString().slice(0, 19)

/** Each condition excludes 16 ids, 8 of which the previous one excludes, too. */
const excluding = (count: number) => upTo(count).map((k) => `id![${upTo(16, 1 + k * 8).join(',')}]`)

interface Largest {
  readonly filter: string
  readonly matches: (id: number) => boolean
}

const inUrl: Record<string, Largest> = {
  'sixty lists of 16 excluded ids': {
    filter: excluding(60).join('&'),
    matches: (id) => id > 59 * 8 + 16,
  },
  '200 conditions': {
    filter: upTo(200)
      .map((i) => `list_price!=${i + 1}`)
      .join('&'),
    matches: (id) => id > 200,
  },
  '32 levels of parentheses': {
    filter: `${upTo(31)
      .map((i) => (i % 2 === 0 ? `(id>${i}&` : `(id=${i}|`))
      .join('')}(id>5)${')'.repeat(31)}`,
    matches: (id) => nested(0, id),
  },
}

/** Evaluates the filter of 32 levels, level by level. */
function nested(level: number, id: number): boolean {
  if (level === 31) return id > 5
  return level % 2 === 0 ? id > level && nested(level + 1, id) : id === level || nested(level + 1, id)
}

const inBody: Record<string, Largest> = {
  'a list of 1000 numbers': {
    filter: `id[${upTo(1000, 11).join(',')}]`,
    matches: (id) => id >= 11 && id <= 1010,
  },
  'a list of 1000 excluded numbers': {
    filter: `id![${upTo(1000, 11).join(',')}]`,
    matches: (id) => id < 11 || id > 1010,
  },
  'a list of 1000 texts': {
    filter: `name[${upTo(1000, 11)
      .map((id) => `"Part ${id}"`)
      .join(',')}]`,
    matches: (id) => id >= 11 && id <= 1010,
  },
  '1000 timestamps in a list and 199 outside it, 2398 values': {
    filter: [
      `write_date[${[at(3), at(20), ...upTo(998).map(never)].join(',')}]`,
      ...upTo(199).map((i) => `write_date=${i === 5 ? at(25) : never(2000 + i)}`),
    ].join('|'),
    matches: (id) => id === 3 || id === 20 || id === 25,
  },
  '1000 excluded timestamps in a list and 199 outside it': {
    filter: [
      `write_date![${[at(3), at(20), ...upTo(998).map(never)].join(',')}]`,
      ...upTo(199).map((i) => `write_date!=${i === 5 ? at(25) : never(2000 + i)}`),
    ].join('&'),
    matches: (id) => id !== 3 && id !== 20 && id !== 25,
  },
  '62 lists of 16 excluded ids and 138 excluded prices': {
    filter: [...excluding(62), ...upTo(138).map((i) => `list_price!=${600 + i}`)].join('&'),
    matches: (id) => id > 61 * 8 + 16 && (id < 600 || id > 737),
  },
  '200 texts of 300 characters, 64 KB': {
    filter: [`name*"part 1"`, ...upTo(199).map((i) => `name*${String(i).padEnd(315, 'x')}`)].join('|'),
    matches: (id) => String(id).startsWith('1'),
  },
}

const form = { 'content-type': 'application/x-www-form-urlencoded' }

async function listed(
  by: TestAccount,
  filter: string,
  method: 'GET' | 'QUERY',
  page: number,
): Promise<unknown> {
  const query = `fields=id&limit=1000&page=${page}&filter=${encodeURIComponent(filter)}`
  const { status, body } = await (method === 'GET'
    ? service.request(by, 'GET', `${products}?${query}`)
    : service.request(by, 'QUERY', products, { body: query, headers: form }))
  expect([status, status === 200 ? '' : body]).toEqual([200, ''])
  return body
}

async function exported(by: TestAccount, filter: string, method: 'GET' | 'QUERY'): Promise<number[]> {
  const query = `fields=id&filter=${encodeURIComponent(filter)}`
  const response = await fetch(
    `http://127.0.0.1:${service.port}${products}${method === 'GET' ? `?${query}` : ''}`,
    {
      method,
      headers: {
        'x-forwarded-host': `${by.name}.localhost`,
        authorization: `Bearer ${by.key}`,
        accept: 'text/csv',
        ...form,
      },
      ...(method === 'GET' ? {} : { body: query }),
    },
  )
  const text = await response.text()
  expect([response.status, response.status === 200 ? '' : text]).toEqual([200, ''])
  const [head, ...rows] = text.trimEnd().split('\r\n')
  expect(head).toBe('id')
  return rows.map(Number)
}

describe.each([
  ['GET', inUrl],
  ['QUERY', inBody],
] as const)('by %s', (method, filters) => {
  describe.each(Object.entries(filters))('%s', (_, { filter, matches }) => {
    it.each(['small', 'large'] as const)('a %s account lists and exports what matches', async (name) => {
      const by = accounts[name]
      const ids = upTo(records[name], 1).filter(matches)
      const bytesMax = method === 'GET' ? limits.filterUrlBytesMax : limits.filterBodyBytesMax
      expect(Buffer.byteLength(filter)).toBeLessThanOrEqual(bytesMax)
      // The second page, and the first again, use the page ends cached by the first.
      for (const page of [1, 2, 1]) {
        const from = (page - 1) * 1000
        expect(await listed(by, filter, method, page)).toMatchObject({
          data: ids.slice(from, from + 1000).map((id) => ({ id })),
          meta: { total: ids.length },
        })
      }
      expect(await exported(by, filter, method)).toEqual(ids)
    })
  })
})

it('a list of the management API accepts them, too', async () => {
  const timestamps = [...upTo(1000).map(never), ...upTo(199).map((i) => never(2000 + i))]
  const filter = [
    `at[${timestamps.slice(0, 1000).join(',')}]`,
    ...timestamps.slice(1000).map((one) => `at=${one}`),
  ]
  const query = `limit=1&filter=${encodeURIComponent(filter.join('|'))}`
  const { status, body } = await service.request(accounts.small, 'QUERY', '/manage/v1/requests', {
    body: query,
    headers: form,
  })
  expect([status, body]).toMatchObject([200, { data: [], meta: { total: 0 } }])
})
