import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it } from 'vitest'
import { scopes } from '../src/accounts/key-format.ts'
import { importRecords } from '../src/import/import-records.ts'
import { limits } from '../src/limits/limits.ts'
import { account, type TestAccount } from './database.ts'
import { eventually } from './eventually.ts'
import { freshService, startTestService } from './service.ts'

/** Upserts and deletes many records with one request. */

const batch = '/api/v1/inventory/product/batch'
const ndjson = { 'content-type': 'application/x-ndjson' }
let acme: TestAccount
let number = 0

const { url, client, service } = await freshService()

beforeEach(async () => {
  acme = await account(client, `batch${++number}`, scopes, 'external')
})

interface BatchResult {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly lines: Record<string, unknown>[]
}

function open(headers: Record<string, string>, to = service): ClientRequest {
  const request = httpRequest({
    agent: false,
    port: to.port,
    method: 'POST',
    path: batch,
    headers: {
      'x-forwarded-host': `${acme.name}.localhost`,
      authorization: `Bearer ${acme.key}`,
      ...headers,
    },
  })
  // Tests that destroy the connection expect none.
  return request.on('error', () => {})
}

const responseTo = (request: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request.on('response', resolve)
    request.on('error', reject)
  })

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString()
}

async function send(
  body: string | Buffer,
  headers: Record<string, string> = ndjson,
  to = service,
): Promise<BatchResult> {
  const request = open(headers, to)
  const responding = responseTo(request)
  request.end(body)
  const response = await responding
  const text = await textOf(response)
  const lines = text.trim() === '' ? [] : text.trim().split('\n')
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    lines: lines.map((line): Record<string, unknown> => JSON.parse(line)),
  }
}

const rowOf = (id: number, name = `Product ${id}`) => `{"id":${id},"name":"${name}","list_price":${id}.5}\n`
const rows = (count: number, from = 1, name?: string) =>
  Array.from({ length: count }, (_, i) => rowOf(from + i, name)).join('')
const totals = (changed: object) => ({
  $end: { read: 0, inserted: 0, updated: 0, unchanged: 0, deleted: 0, rejected: 0, ...changed },
})
const query = async (text: string) =>
  (await client.query({ text: text.replaceAll('$account', acme.accountId) })).rows
const tally = async () =>
  (
    await query(
      `select version::int, total::int, last_id::int from tally where account_id = $account and resource = 'product'`,
    )
  )[0]

describe('a batch', () => {
  it('upserts by id in transactions of 1,000 rows, and again changes nothing', async () => {
    const body = rows(2500)
    const first = await send(body)
    expect([first.status, first.headers['content-type']]).toEqual([200, 'application/x-ndjson'])
    expect(first.lines).toEqual([totals({ read: 2500, inserted: 2500 })])
    expect(await tally()).toEqual({ version: 3, total: 2500, last_id: 2500 })
    expect((await send(body)).lines).toEqual([totals({ read: 2500, unchanged: 2500 })])
    expect((await send(body.replaceAll('"Product 7"', '"Seven"'))).lines).toEqual([
      totals({ read: 2500, updated: 1, unchanged: 2499 }),
    ])
    expect(await tally()).toEqual({ version: 4, total: 2500, last_id: 2500 })
    expect(
      await query('select version::int, id::int, name from product_before where account_id = $account'),
    ).toEqual([{ version: 4, id: 7, name: 'Product 7' }])
  })

  it('overwrites what was changed in the meantime if it is sent again', async () => {
    await send(rows(3))
    await send('{"id":2,"name":"Changed by someone else"}\n{"id":3,"qty_available":7}\n')
    expect((await send(rows(3))).lines).toEqual([totals({ read: 3, updated: 1, unchanged: 2 })])
    expect(
      await query(
        'select id::int, name, qty_available::int from product where account_id = $account order by id',
      ),
    ).toEqual([
      { id: 1, name: 'Product 1', qty_available: 0 },
      { id: 2, name: 'Product 2', qty_available: 0 },
      { id: 3, name: 'Product 3', qty_available: 7 },
    ])
  })

  it('deletes, and lines of one record take effect in their order', async () => {
    await send(rows(5))
    const body = [
      '{"$delete":1}',
      '{"$delete":1}',
      '{"$delete":99}',
      '{"id":2,"name":"Two"}',
      '{"$delete":2}',
      '{"$delete":3}',
      '{"id":3,"name":"New three"}',
      '{"id":4,"qty_available":4}',
    ].join('\n')
    expect((await send(body)).lines).toEqual([
      totals({ read: 8, deleted: 3, updated: 2, inserted: 1, unchanged: 2 }),
    ])
    expect(
      await query(
        'select id::int, name, list_price::float, qty_available::float from product where account_id = $account order by id',
      ),
    ).toEqual([
      { id: 3, name: 'New three', list_price: 0, qty_available: 0 },
      { id: 4, name: 'Product 4', list_price: 4.5, qty_available: 4 },
      { id: 5, name: 'Product 5', list_price: 5.5, qty_available: 0 },
    ])
    expect(
      await query(
        'select id::int, version::int from tombstone where account_id = $account order by version, id',
      ),
    ).toEqual([
      { id: 1, version: 2 },
      { id: 2, version: 2 },
      { id: 3, version: 2 },
    ])
    expect(await tally()).toMatchObject({ total: 3 })
  })

  it('that upserts and deletes one record in turn writes 1,000 lines in a transaction', async () => {
    const start = await service.request(acme, 'GET', '/api/v1/inventory/product/changes?since=now')
    const cursor = String(Reflect.get(Object(start.body), 'cursor'))
    const turn = '{"id":7,"name":"Seven"}\n{"$delete":7}\n'
    const { lines } = await send(`${rowOf(9)}${turn.repeat(1500)}{"id":7,"name":"Last"}\n`)
    expect(lines).toEqual([totals({ read: 3002, inserted: 1502, deleted: 1500 })])
    expect(await tally()).toMatchObject({ version: 4, total: 2, last_id: 9 })
    const feed = await service.request(acme, 'GET', `/api/v1/inventory/product/changes?since=${cursor}`)
    expect(feed.body).toMatchObject({
      data: [
        { id: 9 },
        { change: 'deleted', version: 2 },
        { change: 'deleted', version: 3 },
        { change: 'created', id: 7, record: { name: 'Last' } },
      ],
    })
  })

  it('reports every rejected row and writes the others', async () => {
    const body = [
      rowOf(1).trim(),
      '{"id":2,"name":"Two","list_price":"x","active":7}',
      'not json',
      '{"id":0,"name":"zero"}',
      '{"id":6,"list_price":1}',
      '{"$delete":"x"}',
      '{"$delete":1,"name":"x"}',
      rowOf(8).trim(),
    ].join('\n')
    const { lines } = await send(body)
    expect(lines.at(-1)).toEqual(totals({ read: 8, inserted: 2, rejected: 6 }))
    expect(lines.slice(0, -1).toSorted((a, b) => Number(a['line']) - Number(b['line']))).toMatchObject([
      {
        line: 2,
        id: 2,
        field: 'list_price',
        reason: 'is not a decimal number',
        value: 'x',
        more: [{ field: 'active' }],
      },
      { line: 3, reason: 'is not a JSON object', value: 'not json' },
      { line: 4, field: 'id', reason: 'is below 1' },
      { line: 5, id: 6, field: 'name', reason: 'is required for a new product (no product has this id)' },
      { line: 6, field: '$delete', reason: 'is not an integer' },
      { line: 7, id: 1, reason: 'has other members than $delete: name' },
    ])
  })

  it('takes CSV and gzip', async () => {
    const csv = 'id,name,list_price\r\n1,Bolt,2.50\r\n2,"Nut, hex",0\r\n'
    expect((await send(csv, { 'content-type': 'text/csv' })).lines).toEqual([
      totals({ read: 2, inserted: 2 }),
    ])
    const gzipped = await send(gzipSync(rows(1500)), { ...ndjson, 'content-encoding': 'gzip' })
    expect(gzipped.lines).toEqual([totals({ read: 1500, inserted: 1498, updated: 2 })])
  })

  it('runs again with other fields on a connection that has prepared its statements', async () => {
    await importRecords({
      ownerUrl: url,
      account: acme.name,
      resource: 'partner',
      records: [{ id: 1, name: 'Ada' }],
    })
    // The statements for these two fields have the same length.
    for (const value of ['a', 'b', 'c']) {
      for (const field of ['email', 'phone']) {
        const body = JSON.stringify({ id: 1, [field]: value })
        const response = await service.request(acme, 'POST', '/api/v1/resources/partner/batch', {
          body,
          headers: ndjson,
        })
        expect(response.body).toEqual(totals({ read: 1, updated: 1 }))
      }
    }
  })

  it('without rows has only the totals', async () => {
    expect((await send('')).lines).toEqual([totals({})])
  })
})

describe('a batch that cannot be processed', () => {
  it.each([
    [
      'another content type',
      '{}',
      { 'content-type': 'application/xml' },
      'media_type_unsupported',
      'application/x-ndjson',
    ],
    [
      'an unknown field in its first row',
      '{"id":1,"nmae":"x"}\n',
      ndjson,
      'body_invalid',
      'did you mean name',
    ],
    ['an unknown column', 'id,nmae\n', { 'content-type': 'text/csv' }, 'body_invalid', 'did you mean name'],
    [
      'more columns than fields, which takes no time',
      `id,${'x,'.repeat(400_000)}name\n`,
      { 'content-type': 'text/csv' },
      'body_invalid',
      'the header has more columns than a product has fields (11)',
    ],
    [
      'more members than fields in its first row',
      `{"id":1,${Array.from({ length: 50_000 }, (_, i) => `"m${i}":0`).join(',')}}`,
      ndjson,
      'body_invalid',
      'its first row has more members than a product has fields (11)',
    ],
    ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0xfe]), ndjson, 'body_invalid', 'not UTF-8'],
    [
      'a damaged gzip',
      Buffer.from([0x1f, 0x8b, 1, 2, 3, 4]),
      { ...ndjson, 'content-encoding': 'gzip' },
      'body_invalid',
      'gzip',
    ],
    [
      'plain text declared as gzip',
      '{"id":1}',
      { ...ndjson, 'content-encoding': 'gzip' },
      'body_invalid',
      'not gzip',
    ],
    ['a line of 10 MB', `{"id":1,"name":"${'x'.repeat(10_000_000)}"}`, ndjson, 'body_invalid', 'longer than'],
    [
      'an unclosed quote',
      `id,name\n1,"${'x'.repeat(3_000_000)}`,
      { 'content-type': 'text/csv' },
      'body_invalid',
      'longer than',
    ],
    [
      'an unsupported encoding',
      '{}',
      { ...ndjson, 'content-encoding': 'br' },
      'media_type_unsupported',
      'gzip',
    ],
  ] as [string, string | Buffer, Record<string, string>, string, string][])(
    'because of %s gets an error response, and writes nothing',
    async (_, body, headers, code, detail) => {
      const { status, lines } = await send(body, headers)
      expect(status).toBe(code === 'body_invalid' ? 400 : 415)
      expect(lines[0]).toMatchObject({ code, detail: expect.stringContaining(detail) })
      expect(await tally()).toEqual({ version: 0, total: 0, last_id: 0 })
    },
  )

  it('after some rows ends with $error instead of $end, and those rows are written', async () => {
    const { status, lines } = await send(`${rows(2000)}${'x'.repeat(2_000_000)}`)
    expect(status).toBe(200)
    expect(lines).toMatchObject([{ $error: { code: 'body_invalid' } }])
    expect(await tally()).toMatchObject({ total: 2000 })
  })

  it('because of 10,000 rejected rows ends early, and the valid rows before are written', async () => {
    const { status, lines } = await send(
      `${rowOf(1)}${'{}\n'.repeat(9_000)}${rowOf(2)}${'7\n'.repeat(9_000)}${rowOf(3)}`,
    )
    expect(status).toBe(200)
    expect(lines.length).toBeGreaterThan(10_000)
    expect(lines.length).toBeLessThan(11_000)
    expect(lines[0]).toMatchObject({ line: 2, field: 'id', reason: 'is required' })
    expect(lines.at(-1)).toMatchObject({ $error: { code: 'rows_rejected', status: 400 } })
    expect(await tally()).toMatchObject({ total: 2, last_id: 2 })
  })

  it('because it expands too much is rejected', async () => {
    const bomb = gzipSync(`{"$delete":1${' '.repeat(10_000)}}\n`.repeat(3_000))
    const { lines } = await send(bomb, { ...ndjson, 'content-encoding': 'gzip' })
    expect(lines.at(-1)).toMatchObject({
      $error: { code: 'body_invalid', detail: expect.stringContaining('expands') },
    })
  })

  it('beyond the limit of the account gets 429', async () => {
    const held = [open(ndjson), open(ndjson)]
    for (const request of held) {
      request.write(rows(1000))
      expect((await responseTo(request)).statusCode).toBe(200)
    }
    const { status, lines } = await send(rows(1))
    expect([status, lines[0]?.['code']]).toEqual([429, 'account_busy'])
    for (const request of held) request.end()
    await eventually(async () => (await send(rows(1))).status === 200)
  })
})

describe('a client', () => {
  it('that disconnects leaves complete transactions, and can send the batch again', async () => {
    const request = open(ndjson)
    request.write(rows(1500))
    const response = await responseTo(request)
    response.on('error', () => {})
    request.destroy()
    await eventually(async () => (await send(rows(1, 5000))).status === 200)
    expect(await tally()).toMatchObject({ total: 1001 })
    expect((await send(rows(1500))).lines).toEqual([totals({ read: 1500, inserted: 500, unchanged: 1000 })])
  })

  it('that does not read the results is not sent more, and holds no transaction', async () => {
    const impatient = await startTestService(
      url,
      { QUARTERMASTER_READ_MS_MAX: '1000' },
      { silentConnectionMsMax: 1_000 },
    )
    try {
      const request = open(ndjson, impatient)
      const response = new Promise<IncomingMessage>((resolve) => request.on('response', resolve))
      let written = 0
      const line = `{"id":0,"name":"${'x'.repeat(50)}"}\n`.repeat(1000)
      const write = () => {
        while (!request.destroyed && written < 200_000_000 && request.write(line)) written += line.length
      }
      request.on('drain', write)
      write()
      const paused = (await response).pause()
      paused.on('error', () => {})
      await eventually(() => request.destroyed || request.socket?.destroyed === true)
      expect(written).toBeLessThan(200_000_000)
      expect((await impatient.request(acme, 'GET', '/api/v1/inventory/product')).status).toBe(200)
    } finally {
      await impatient.close()
    }
  })

  it('behind nginx, which forwards no body after the headers of the response, can receive all results at the end', async () => {
    const request = open({ ...ndjson, 'batch-results': 'at-end' })
    const response = responseTo(request)
    let responded = false
    request.once('response', () => (responded = true))
    // More lines of results than the buffers of a stream hold.
    request.write(`${'{"id":1,"name":5}\n'.repeat(500)}${rows(3_000, 10)}`)
    await eventually(async () => (await tally())?.total >= 2_000)
    expect(responded).toBe(false)
    request.end(rowOf(9_000))
    const lines = (await textOf(await response)).trim().split('\n')
    expect(lines.at(-1)).toBe(JSON.stringify(totals({ read: 3_501, inserted: 3_001, rejected: 500 })))
    expect(lines).toHaveLength(501)
  })

  it('that asks for results at the end must have few: they are held in memory', async () => {
    // A result line with this id and value has about 150 bytes; more than 10,000 rows would end any batch.
    const { status, lines } = await send(
      `${rows(1_000)}${`{"id":1,"name":5,"list_price":"${'9'.repeat(60)}x"}\n`.repeat(9_000)}`,
      {
        ...ndjson,
        'batch-results': 'at-end',
      },
    )
    expect(status).toBe(200)
    expect(lines.at(-1)).toMatchObject({ $error: { code: 'rows_rejected' } })
    expect(JSON.stringify(lines).length).toBeLessThan(limits.batchHeldBytesMax * 1.2)
  })

  it('that asks for results in another way gets 400', async () => {
    const { status, lines } = await send(rowOf(1), { ...ndjson, 'batch-results': 'at-once' })
    expect(status).toBe(400)
    expect(lines).toMatchObject([{ errors: [{ parameter: 'Batch-Results', code: 'header_invalid' }] }])
  })

  it('that sends slowly longer than other requests may take is served', async () => {
    // The timeout ends when the key is verified, which takes long on a busy machine.
    const strict = await startTestService(url, {}, { requestReceiveMsMax: 5_000 })
    try {
      const request = open(ndjson, strict)
      const response = responseTo(request)
      for (let i = 1; i <= 5; i++) {
        request.write(rowOf(i))
        await new Promise((resolve) => setTimeout(resolve, 1_100))
      }
      request.end()
      expect((await textOf(await response)).trim()).toBe(JSON.stringify(totals({ read: 5, inserted: 5 })))
    } finally {
      await strict.close()
    }
  })
})

it('an import that replaces all records keeps those of a batch that runs beside it', async () => {
  expect((await send(rows(3000))).lines).toEqual([totals({ read: 3000, inserted: 3000 })])
  const imported = importRecords({
    ownerUrl: url,
    account: acme.name,
    resource: 'product',
    replace: true,
    records: (async function* () {
      for (let id = 1; id <= 100; id++) yield { id, name: `Imported ${id}` }
      const { lines } = await send(rows(1000, 2001, 'From the batch'))
      expect(lines).toEqual([totals({ read: 1000, updated: 1000 })])
    })(),
  })
  expect(await imported).toMatchObject({ updated: 100, deleted: 1900 })
  expect(await tally()).toMatchObject({ total: 1100 })
  expect(await query('select count(*)::int from product where account_id = $account')).toEqual([
    { count: 1100 },
  ])
})

it('a batch has before-images of everything that it changes', () => {
  expect(limits.batchRows).toBeLessThanOrEqual(limits.imagesOfWriteMax)
})
