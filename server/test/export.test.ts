import { get, type IncomingMessage } from 'node:http'
import { parse } from 'csv-parse/sync'
import { describe, expect, it } from 'vitest'
import { importRecords } from '../src/import/import-records.ts'
import { defaultLimits } from '../src/limits/passed-limits.ts'
import { account, connected, insertProducts, type TestAccount } from './database.ts'
import { eventually } from './eventually.ts'
import { freshService, startTestService } from './service.ts'

const products = '/api/v1/inventory/product'
const spreadsheet = 'text/csv; form=spreadsheet'
/** Shortened: tests wait for them. */
const waits = { exportWaitMsMax: 3_000, slowClientWindowMs: 500, slowClientCheckMs: 100 }
const largeRecords = 60_000

/** Texts that a spreadsheet, a CSV reader, COPY or SQL could misinterpret. */
const names = [
  '=1+1',
  '+49 40 5550',
  '-5',
  '@SUM(A1)',
  '\ttab',
  '\rreturn',
  '\nline',
  '＝full width',
  "'=quoted already",
  "''-twice",
  "'s-Hertogenbosch",
  'plain',
  '',
  'with "quotes" and, commas',
  'two\nlines\r\nand three',
  'back\\slash \\N \\.',
  '\\.',
  '螺栓 🔩',
  'control \u0001 and \u0002',
  "it's; drop table product --",
  '{"$end":1}',
  // Formulas at the start of a cell for a spreadsheet that splits at ";" or tabs.
  'x;=1+1;y',
  "x;'=1+1",
  "x;''=1+1",
  'x;"=1+1";y',
  `x;'"'+1`,
  'x\t@SUM(A1)\ty',
  'x\n=1+1;y',
  'x\r\n-1;y',
  ';=1',
  '\t=1',
  "\r\n'=1",
  'a;＝1;b=2;-',
  'no; formula; in=here - or+there',
]

const { url, client, service } = await freshService({}, waits)
const acme = await account(client, 'acme')
const large = await account(client, 'large')
await importRecords({
  ownerUrl: url,
  account: 'acme',
  resource: 'product',
  records: names.map((name, i) => ({
    id: i * 1000 + 1,
    name,
    default_code: i % 3 === 0 ? null : name,
    list_price: i % 2 === 0 ? -i - 0.5 : i,
    active: i % 4 !== 0,
    categ_id: i % 5 === 0 ? null : i,
    is_rsd_product: i % 3 === 0 ? null : i % 3 === 1,
    create_date: `2026-01-${String((i % 28) + 1).padStart(2, '0')}T00:00:00.00${i % 10}Z`,
  })),
})
await insertProducts(client, large, largeRecords, 'x'.repeat(400))

/** Resolves when the response headers have arrived. */
function open(of: TestAccount, path: string, accept: string, port = service.port): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(
      {
        port,
        path,
        agent: false,
        headers: { host: `${of.name}.localhost`, authorization: `Bearer ${of.key}`, accept },
      },
      resolve,
    ).once('error', reject)
  })
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += String(chunk)
  return text
}

interface Exported {
  readonly records: readonly Record<string, unknown>[]
  readonly end: { readonly count: number; readonly version: string }
}

async function ndjson(of: TestAccount, query: string): Promise<Exported> {
  const text = await textOf(await open(of, `${products}?${query}`, 'application/x-ndjson'))
  const lines = text.trimEnd().split('\n')
  const last: { $end: Exported['end'] } = JSON.parse(lines.pop() ?? '')
  return { records: lines.map((line): Exported['records'][number] => JSON.parse(line)), end: last.$end }
}

async function runningExports(): Promise<number> {
  const { rows } = await client.query<{ n: number }>(
    `select count(*)::int as n from pg_stat_activity
     where application_name = 'quartermaster export' and state <> 'idle' and datname = current_database()`,
  )
  return rows[0]?.n ?? -1
}

describe('the records of an export', () => {
  it.each([
    '',
    'fields=name,id',
    'fields=create_date',
    'filter=name*QUOT',
    `filter=${encodeURIComponent("name='=quoted already")}`,
    `filter=${encodeURIComponent('name="it\'s; drop table product --"')}`,
    `filter=${encodeURIComponent('name="back\\\\slash \\\\N \\\\."')}`,
    'filter=name[plain,"",-5]',
    'filter=default_code![plain,null]',
    'filter=list_price>=-3.5%26list_price<7',
    'filter=active=true|categ_id=null',
    'filter=categ_id!=7',
    'filter=create_date>=2026-01-05T00:00:00.004Z',
    'filter=is_rsd_product![true,null]',
    'filter=id>999999999',
  ])('equal those of the list: %s', async (query) => {
    const list = await service.request(acme, 'GET', `${products}?limit=1000&${query}`)
    expect(list.status).toBe(200)
    const { records, end } = await ndjson(acme, query)
    expect(list.body).toMatchObject({ data: records, meta: { total: end.count } })
    expect(records).toHaveLength(end.count)
  })

  it('are the same in CSV, and in the form for spreadsheets no text starts like a formula', async () => {
    const { records } = await ndjson(acme, '')
    const response = await open(acme, products, spreadsheet)
    const text = await textOf(response)
    expect(text.startsWith("\uFEFFid,'name,'default_code,")).toBe(true)
    expect(response.headers['x-total-count']).toBe(String(names.length))
    expect(response.trailers['x-record-count']).toBe(String(names.length))
    const rows = parse<Record<string, string | { text: string }>>(text.slice(1), {
      record_delimiter: '\r\n',
      columns: true,
      cast: (cell, { quoting }) => (quoting ? { text: cell } : cell),
    })
    const undone = rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([column, cell]) => {
          const field = column.replace(/^'/, '')
          if (typeof cell !== 'string') {
            expect(cell.text).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/)
            const within = cell.text.replace(/(?<=[;\t\r\n])'(?=['"]*[=+\-@＝＋－＠])/g, '')
            return [field, within.replace(/^'('*(?:[=+\-@\t\r\n＝＋－＠]|$))/, '$1')]
          }
          if (cell === '') return [field, null]
          return [field, field.endsWith('_date') ? cell : JSON.parse(cell)]
        }),
      ),
    )
    expect(undone).toEqual(records)
  })

  it('contain no formula either for a spreadsheet that splits at ";" or tabs and ignores quotes', async () => {
    const text = await textOf(await open(acme, `${products}?fields=id,name,default_code`, spreadsheet))
    const cells = text.split(/[\r\n;\t]/)
    expect(cells.filter((cell) => /^["']*1\+1/.test(cell))).toEqual([])
    expect(cells.filter((cell) => cell.includes('1+1')).length).toBeGreaterThan(5)
    expect(cells.filter((cell) => /^"*[=+\-@＝＋－＠]/.test(cell))).toEqual([])
  })
})

describe('an export during writes', () => {
  it('returns all records of one version', async () => {
    // Every write sets all quantities to its version, and adds a record.
    const writer = await connected(url)
    const writing = { on: true }
    const writes = (async () => {
      for (let n = 2; writing.on; n++) {
        await writer.query('begin')
        await writer.query(
          `update tally set version = $2, total = total + 1, last_id = last_id + 1
           where account_id = $1 and resource = 'product'`,
          [large.accountId, n],
        )
        await writer.query(
          `insert into product select account_id, last_id, version, 'new', null, 0, 0, true, null, null, null, now(), now()
           from tally where account_id = $1 and resource = 'product'`,
          [large.accountId],
        )
        await writer.query('update product set qty_available = $2 where account_id = $1 and id % 100 = 1', [
          large.accountId,
          n,
        ])
        await writer.query('commit')
      }
    })()
    const seen: string[] = []
    for (let round = 0; round < 6; round++) {
      const { records, end } = await ndjson(large, 'fields=id,qty_available')
      const version = Number(end.version.split('-')[1])
      expect(end.count).toBe(largeRecords + version - 1)
      expect(records.map(({ id }) => id)).toEqual(records.map((_, i) => i + 1))
      const changed = new Set(
        records.filter((_, i) => i % 100 === 0).map((record) => record['qty_available']),
      )
      expect([...changed]).toEqual([version === 1 ? 0 : version])
      seen.push(end.version)
    }
    writing.on = false
    await writes
    await writer.end()
    expect(new Set(seen).size).toBeGreaterThan(1)
  })
})

describe('an export that does not complete', () => {
  it('ends with a connection reset at its timeout, even if the client reads slowly', async () => {
    // On a busy machine, the first record may come later than a short timeout, and the response is then 504.
    for (let timeoutMs = 2_000, began = false; !began; timeoutMs *= 2) {
      const hasty = await startTestService(url, { QUARTERMASTER_EXPORT_MS_MAX: String(timeoutMs) })
      try {
        const responses = await Promise.all(
          ['application/x-ndjson', 'text/csv'].map((accept) => open(large, products, accept, hasty.port)),
        )
        await eventually(async () => (await runningExports()) === 0)
        began = responses.every(({ statusCode }) => statusCode === 200)
        if (!began) continue
        await Promise.all(
          responses.map((response) => expect(textOf(response)).rejects.toThrow(/aborted|ECONNRESET/)),
        )
        const truncated = hasty.events.filter(({ kind }) => kind === 'export-truncated')
        expect(truncated).toMatchObject([{ code: 'deadline_exceeded' }, { code: 'deadline_exceeded' }])
      } finally {
        await hasty.close()
      }
    }
  })

  it('stops its statement and releases its slot when the client disconnects', async () => {
    for (let round = 0; round < defaultLimits.accountExportsMax + 1; round++) {
      const response = await open(large, products, 'application/x-ndjson')
      expect(response.statusCode).toBe(200)
      expect(await runningExports()).toBe(1)
      response.destroy()
      await eventually(async () => (await runningExports()) === 0)
    }
    expect(service.events.filter(({ kind }) => kind === 'export-truncated')).toEqual([])
  })

  it('stops its statement when the client disconnects before the first record', async () => {
    // On another connection than `client`: in a transaction `pg_stat_activity` would not change.
    const locking = await connected(url)
    await locking.query('begin')
    await locking.query('lock table product in access exclusive mode')
    const headers = { host: 'large.localhost', authorization: `Bearer ${large.key}`, accept: 'text/csv' }
    // Once more than the limit: each must release its slot.
    for (let round = 0; round <= defaultLimits.accountExportsMax; round++) {
      const pending = get({ port: service.port, path: products, agent: false, headers }).on('error', () => {})
      await eventually(async () => (await runningExports()) === 1)
      pending.destroy()
      await eventually(async () => (await runningExports()) === 0)
    }
    await locking.end()
  })

  it('ends with a connection reset if its backend is terminated', async () => {
    const response = await open(large, products, 'application/x-ndjson')
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'quartermaster export' and state <> 'idle' and datname = current_database()`,
    )
    await expect(textOf(response)).rejects.toThrow(/aborted|ECONNRESET/)
    expect(service.events.filter(({ kind }) => kind === 'export-truncated')).toMatchObject([
      { code: 'database_unavailable' },
    ])
  })
})

async function filled(name: string): Promise<TestAccount> {
  const created = await account(client, name)
  await client.query(
    `insert into product select $1, id, version, name, null, 0, 0, true, null, null, null, now(), now()
     from product where account_id = $2 and id <= 20000`,
    [created.accountId, large.accountId],
  )
  return created
}

const one = await filled('one')
const two = await filled('two')
const three = await filled('three')

describe('concurrent exports', () => {
  it('are limited per account, leave a slot for other accounts, and do not block lists', async () => {
    const running = [
      await open(large, products, 'text/csv'),
      await open(large, products, 'text/csv'),
      await open(one, products, 'text/csv'),
    ]
    expect(running.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200])
    const third = await open(large, products, 'text/csv')
    expect([third.statusCode, third.headers['retry-after']]).toEqual([429, '10'])
    expect(JSON.parse(await textOf(third))).toMatchObject({
      code: 'export_limit',
      detail: expect.stringMatching(/^This account has 2 exports running/),
    })
    // An account that runs an export cannot take the last free slot.
    const second = await open(one, products, 'text/csv')
    expect(second.statusCode).toBe(429)
    expect(JSON.parse(await textOf(second))).toMatchObject({
      code: 'export_limit',
      detail: expect.stringMatching(/the last free slot is reserved for other accounts/),
    })
    running.push(await open(two, products, 'text/csv'))
    expect(running.at(-1)?.statusCode).toBe(200)
    expect((await service.request(two, 'GET', `${products}?limit=1`)).status).toBe(200)
    for (const response of running) response.destroy()
    await eventually(async () => (await runningExports()) === 0)
  })

  it('of slow readers are ended when another account waits for a slot', async () => {
    const running: IncomingMessage[] = []
    // As many exports as are accepted; no client reads its response.
    for (const each of [large, one, large, one, two, two]) {
      const response = await open(each, products, 'text/csv')
      if (response.statusCode === 200) running.push(response)
      else response.resume()
    }
    expect(await runningExports()).toBe(defaultLimits.exportsInFlightMax)

    const served = await open(three, products, 'text/csv')
    expect(served.statusCode).toBe(200)
    expect((await textOf(served)).split('\n')).toHaveLength(20_002)
    // One export of the account that had two is ended, by a connection reset.
    const results = await Promise.allSettled(running.map(textOf))
    const truncated = results.flatMap(({ status }, at) => (status === 'rejected' ? [at] : []))
    expect(truncated).toHaveLength(1)
    expect([0, 2]).toContain(truncated[0])
    const events = service.events.filter(
      (event) => event.kind === 'export-truncated' && event.code === 'deadline_exceeded',
    )
    expect(events).toHaveLength(1)
    await eventually(async () => (await runningExports()) === 0)
  })

  /** Exports that hold every slot, because another transaction has locked the table. */
  async function lockedExports(port: number): Promise<{ unlock(): Promise<void> }> {
    const locking = await connected(url)
    await locking.query('begin; lock table product in access exclusive mode')
    const pending: Promise<IncomingMessage>[] = []
    for (const each of [large, large, one, two]) {
      const count = pending.push(open(each, products, 'text/csv', port))
      await eventually(async () => (await runningExports()) === count)
    }
    return {
      unlock: async () => {
        await locking.end()
        for (const response of await Promise.all(pending)) response.destroy()
      },
    }
  }

  it('that wait for the database occupy their slots; the next one waits, then gets 503', async () => {
    const locked = await lockedExports(service.port)
    try {
      const rejected = await open(three, products, 'text/csv')
      expect([rejected.statusCode, rejected.headers['retry-after']]).toEqual([503, '1'])
      expect(await runningExports()).toBe(defaultLimits.exportsInFlightMax)
    } finally {
      await locked.unlock()
    }
    await eventually(async () => (await runningExports()) === 0)
  })

  it('that wait for a slot get the next free one; only one per account may wait', async () => {
    const patient = await startTestService(url, {}, { ...waits, exportWaitMsMax: 120_000 })
    try {
      const locked = await lockedExports(patient.port)
      const waiting = [1, 2].map(() => open(three, products, 'text/csv', patient.port))
      expect((await Promise.race(waiting)).statusCode).toBe(429)
      await locked.unlock()
      const statuses = (await Promise.all(waiting)).map((response) => {
        response.destroy()
        return response.statusCode
      })
      expect(new Set(statuses)).toEqual(new Set([200, 429]))
      await eventually(async () => (await runningExports()) === 0)
    } finally {
      await patient.close()
    }
  })
})
