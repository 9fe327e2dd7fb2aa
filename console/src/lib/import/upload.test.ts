import { expect, it, vi } from 'vitest'
import { collections } from '../../api/catalog.ts'
import { parseCsv } from './csv-rows.ts'
import { csvBody, type Mapping, mappedRows, rejectsCsv } from './mapping.ts'

vi.stubGlobal('sessionStorage', { getItem: () => null })
const { upload } = await import('./upload.ts')

const mapping: Mapping = { columns: ['id', 'name'], key: 'id', mode: 'upsert', notation: 'service' }
const { product } = collections

const end = (totals: object) =>
  `{"$end":${JSON.stringify({ read: 0, inserted: 0, updated: 0, unchanged: 0, deleted: 0, rejected: 0, ...totals })}}\n`

function rowsOf(csv: string, of: Mapping = mapping) {
  return mappedRows(parseCsv(csv), product, of)
}

function start(csv: string, responses: readonly (Response | Error)[], of: Mapping = mapping) {
  const requests: { url: string; body: string }[] = []
  const waits: number[] = []
  const left = [...responses]
  const progress: number[] = []
  const running = upload({
    rows: rowsOf(csv, of),
    path: '/api/v1/inventory/product',
    mapping: of,
    signal: new AbortController().signal,
    onProgress: ({ read }) => progress.push(read),
    send: async (url, init) => {
      requests.push({ url, body: init.body })
      const next = left.shift()
      if (next === undefined || next instanceof Error) throw next ?? new Error('one request too many')
      return next
    },
    wait: async (ms) => {
      waits.push(ms)
    },
  })
  return { running, requests, waits, progress }
}

it('finds the rejected rows of the file, after cells with line breaks and rows that are not sent', async () => {
  const csv = 'id,name\n1,"two\nlines"\n2\n3,x\n'
  const body = csvBody(rowsOf(csv))
  expect(body.text).toBe('"id","name"\n"1","two\nlines"\n"3","x"\n')
  const { running } = start(csv, [
    new Response(
      `{"line":4,"id":3,"field":"name","reason":"is bad","value":"x"}\n${end({ inserted: 1, rejected: 1 })}`,
    ),
  ])
  const { rejects, ...totals } = await running
  expect(totals).toEqual({ read: 3, inserted: 1, updated: 0, unchanged: 0, rejected: 2 })
  expect(rejects.map(({ row, reason }) => [row.line, reason])).toEqual([
    [4, 'The row has 1 cells; the header has 2.'],
    [5, 'name is bad: x'],
  ])
  expect(rejectsCsv(['id', 'name'], rejects.slice(1))).toBe(
    '\uFEFF"id","name","rejected because"\r\n"3","x","name is bad: x"\r\n',
  )
})

it('sends 1,000 rows at a time, by the key and the mode', async () => {
  const of: Mapping = { ...mapping, columns: ['default_code', 'name'], key: 'default_code', mode: 'update' }
  const lines = Array.from({ length: 2_500 }, (_, index) => `c${index},n`)
  const { running, requests, progress } = start(
    `sku,name\n${lines.join('\n')}`,
    [0, 1, 2].map(() => new Response(end({ updated: 5 }))),
    of,
  )
  expect((await running).updated).toBe(15)
  expect(progress).toEqual([1000, 2000, 2500])
  expect(requests.map(({ url, body }) => [url, body.split('\n').length - 2])).toEqual(
    [1000, 1000, 500].map((rows) => ['/api/v1/inventory/product/batch?mode=update&key=default_code', rows]),
  )
})

const busy = () =>
  Response.json({ status: 429, code: 'account_busy' }, { status: 429, headers: { 'retry-after': '2' } })

it('waits and sends a batch again when the service is busy, or does not respond', async () => {
  const { running, waits } = start('id,name\n1,x', [
    busy(),
    new TypeError('Failed to fetch'),
    new Response(end({ inserted: 1 })),
  ])
  expect((await running).inserted).toBe(1)
  expect(waits).toEqual([2_000, 1_000])
})

it('does not insert rows twice', async () => {
  const { running, waits } = start('id,name\n1,x', [new TypeError('Failed to fetch')], {
    ...mapping,
    mode: 'insert',
  })
  await expect(running).rejects.toMatchObject({ problem: { code: 'no_response' } })
  expect(waits).toEqual([])
})

it.each([
  [Response.json({ code: 'request_invalid', detail: 'no' }, { status: 400 }), 'request_invalid'],
  [new Response('{"$error":{"code":"rows_rejected","detail":"too many"}}\n'), 'rows_rejected'],
])('ends with the problem of the service', async (response, code) => {
  await expect(start('id,name\n1,x', [response]).running).rejects.toMatchObject({ problem: { code } })
})
