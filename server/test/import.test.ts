import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it } from 'vitest'
import { scopes } from '../src/accounts/key-format.ts'
import { type ResourceName, resources } from '../src/catalog/resources.ts'
import { demoProducts } from '../src/cli/demo/demo-data.ts'
import { type ImportOptions, importCommand } from '../src/cli/import/import-command.ts'
import { importRecords } from '../src/import/import-records.ts'
import { ImportSession } from '../src/import/session.ts'
import { temporaryFolder } from './at-end.ts'
import { account, connected, freshDatabase } from './database.ts'
import { rowParts } from './row-parts.ts'

let name: string
let accountId: string
let created = 0

const url = await freshDatabase()
const client = await connected(url)
const folder = temporaryFolder('import')

beforeEach(async () => {
  created += 1
  name = `acme-${created}`
  accountId = (await account(client, name, scopes, 'external')).accountId
})

interface Outcome {
  readonly code: number
  readonly summary: Record<string, unknown>
  readonly stderr: string
}

async function run(
  resource: ResourceName,
  file: string,
  content: string | Buffer,
  options: Partial<ImportOptions> = {},
): Promise<Outcome> {
  const path = join(folder, `${created}-${file}`)
  writeFileSync(path, content)
  return await runFile(resource, path, options)
}

async function runFile(
  resource: ResourceName,
  file: string,
  options: Partial<ImportOptions> = {},
): Promise<Outcome> {
  let stdout = ''
  let stderr = ''
  const code = await importCommand({
    ownerUrl: url,
    account: name,
    resource,
    file,
    replace: false,
    json: true,
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
    ...options,
  })
  const summary: Record<string, unknown> = stdout.startsWith('{') ? JSON.parse(stdout) : { text: stdout }
  return { code, summary, stderr }
}

async function rowsOf(text: string): Promise<unknown[][]> {
  const { rows } = await client.query<unknown[]>({ text, values: [accountId], rowMode: 'array' })
  return rows
}

const tally = async (resource: ResourceName) =>
  (
    await client.query(
      'select version::int, total::int, last_id::int from tally where account_id = $1 and resource = $2',
      [accountId, resource],
    )
  ).rows[0]

const products = () =>
  rowsOf(
    'select id::int, name, list_price::text, version::int from product where account_id = $1 order by id',
  )

describe('import', () => {
  it('inserts, updates or skips each record, with the version of its batch', async () => {
    const first = await run('product', 'a.csv', 'id,name,list_price\n1,Bolt,12.50\n3,Nut,0.10\n')
    expect(first).toMatchObject({ code: 0, stderr: '', summary: { read: 2, inserted: 2, rejects: null } })
    expect(await tally('product')).toEqual({ version: 1, total: 2, last_id: 3 })
    const second = await run('product', 'b.csv', 'id,name,list_price\n3,Nut,0.2\n1,Bolt,12.5\n2,Pin,1\n')
    expect(second).toMatchObject({ code: 0, summary: { read: 3, inserted: 1, updated: 1, unchanged: 1 } })
    expect(await tally('product')).toEqual({ version: 2, total: 3, last_id: 3 })
    expect(await products()).toEqual([
      [1, 'Bolt', '12.5', 1],
      [2, 'Pin', '1', 2],
      [3, 'Nut', '0.2', 2],
    ])
  })

  it('does not change the version if no record changes', async () => {
    const file = 'id,name\n1,Bolt\n2,Nut\n'
    await run('product', 'a.csv', file)
    const before = await rowsOf(
      'select id, write_date, xmin::text from product where account_id = $1 order by id',
    )
    expect(await run('product', 'a.csv', file)).toMatchObject({
      code: 0,
      summary: { unchanged: 2, updated: 0 },
    })
    expect(await tally('product')).toEqual({ version: 1, total: 2, last_id: 2 })
    expect(
      await rowsOf('select id, write_date, xmin::text from product where account_id = $1 order by id'),
    ).toEqual(before)
  })

  it('does not change columns that the file lacks, and uses defaults for new records', async () => {
    const begun = new Date()
    await run(
      'product',
      'a.csv',
      'id,name,default_code,active,create_date,write_date\n1,Bolt,B-1,false,2020-01-01,2021-01-01\n',
    )
    await run('product', 'b.csv', 'id,name\n1,Bolt M8\n2,Nut\n')
    const [bolt, nut] = await rowsOf(
      `select default_code, active, qty_available::text, is_rsd_product, create_date, write_date
       from product where account_id = $1 order by id`,
    )
    expect(bolt?.slice(0, 5)).toEqual(['B-1', false, '0', null, new Date('2020-01-01')])
    expect(nut?.slice(0, 4)).toEqual([null, true, '0', null])
    for (const date of [bolt?.[5], nut?.[4], nut?.[5]]) {
      expect(date).toBeInstanceOf(Date)
      expect(Number(date)).toBeGreaterThanOrEqual(begun.getTime() - 1)
    }
  })

  it('updates existing records from a file with only some columns, and rejects new records', async () => {
    await run('product', 'a.csv', 'id,name,qty_available\n1,a,5\n2,b,6\n')
    const outcome = await run('product', 'b.csv', 'id,qty_available\n2,7\n3,8\n1,5\n3,9\n')
    expect(outcome).toMatchObject({
      code: 2,
      summary: { read: 4, inserted: 0, updated: 1, unchanged: 1, rejected: 2 },
    })
    expect(
      await rowsOf('select name, qty_available::text from product where account_id = $1 order by id'),
    ).toEqual([
      ['a', '5'],
      ['b', '7'],
    ])
    expect(
      readFileSync(join(folder, `${created}-b.csv.rejects.csv`), 'utf8')
        .split('\n')
        .slice(1, 3),
    ).toEqual([
      '3,name,is required for a new product (no product has this id),',
      '5,name,is required for a new product (no product has this id),',
    ])
  })

  it('stores the write_date of the file unchanged', async () => {
    await run('product', 'a.csv', 'id,name,write_date\n1,Bolt,2021-01-01\n')
    await run('product', 'b.csv', 'id,name,write_date\n1,Bolt,2022-01-01T10:00:00.123+02:00\n')
    expect(await rowsOf('select write_date from product where account_id = $1')).toEqual([
      [new Date('2022-01-01T08:00:00.123Z')],
    ])
  })

  it('applies lines in order: the last line for an id wins', async () => {
    const outcome = await run('product', 'a.csv', 'id,name\n1,first\n2,other\n1,second\n1,second\n')
    expect(outcome.summary).toMatchObject({ read: 4, inserted: 2, updated: 1, unchanged: 1 })
    expect(await products()).toEqual([
      [1, 'second', '0', 1],
      [2, 'other', '0', 1],
    ])
  })

  it('touches no other account', async () => {
    const other = (await account(client, `other-${created}`)).accountId
    await client.query(
      `insert into company (account_id, id, version, name, branch_user, create_date, write_date)
       values ($1, 1, 1, 'theirs', '1', now(), now())`,
      [other],
    )
    await run('company', 'a.csv', 'id,name,branch_user\n1,ours,007\n', {
      replace: true,
      maxDelete: { percent: 100 },
    })
    await run('company', 'b.csv', 'id,name,branch_user\n2,ours,007\n', {
      replace: true,
      maxDelete: { percent: 100 },
    })
    const { rows } = await client.query('select name, branch_user from company where account_id = $1', [
      other,
    ])
    expect(rows).toEqual([{ name: 'theirs', branch_user: '1' }])
    expect(await rowsOf('select id::int, branch_user from company where account_id = $1')).toEqual([
      [2, '007'],
    ])
  })
})

describe('rejects', () => {
  it('are reported with the first line of the row, and the other rows are imported', async () => {
    const outcome = await run(
      'product',
      'a.csv',
      'id,name,list_price\r\n1,"Bolt\r\nM8",1\r\n\r\n2,Nut,abc\r\n0,"Pin,\r\n""long""",1.0000000000001\r\n3,Rod\r\n4,Cap,2\r\n',
    )
    const rejects = join(folder, `${created}-a.csv.rejects.csv`)
    expect(outcome).toMatchObject({ code: 2, summary: { read: 5, inserted: 2, rejected: 3, rejects } })
    expect(outcome.stderr).toBe(`quartermaster: 3 rows were rejected: see ${rejects}.\n`)
    expect(readFileSync(rejects, 'utf8')).toBe(
      [
        "line,'field,'reason,'value",
        '5,list_price,is not a decimal number,abc',
        '6,id,is below 1,0',
        '6,list_price,has more than 12 digits after the point,1.0000000000001',
        '8,,has 2 cells; the header has 3,"3,Rod"',
        '',
      ].join('\n'),
    )
    expect((await products()).map(([id, title]) => [id, title])).toEqual([
      [1, 'Bolt\r\nM8'],
      [4, 'Cap'],
    ])
  })

  it('run no formula in a spreadsheet, and have exact values for programs', async () => {
    const values = ['=1+1', '-2;=HYPERLINK("http://127.0.0.1")', "'+3", 'x;@y']
    const lines = values.map((value, i) => JSON.stringify({ id: i + 1, name: 'a', list_price: value }))
    await run('product', 'a.ndjson', `${[...lines, '{"id":9,"name":"b","=1+1":2}'].join('\n')}\n`)
    const [header, ...rows] = readFileSync(join(folder, `${created}-a.ndjson.rejects.csv`), 'utf8').split(
      '\n',
    )
    expect(header).toBe("line,'field,'reason,'value")
    expect(rows.slice(0, 4)).toEqual([
      "1,list_price,is not a decimal number,'=1+1",
      `2,list_price,is not a decimal number,"'-2;'=HYPERLINK(""http://127.0.0.1"")"`,
      "3,list_price,is not a decimal number,''+3",
      "4,list_price,is not a decimal number,x;'@y",
    ])
    expect(rows[4]).toMatch(/^5,'=1\+1,/)
    // As docs/reference/export.md says how a program restores the texts.
    const restored = rows.slice(0, 4).map((row) => {
      const cell = row.split(',')[3] ?? ''
      const text = cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell
      const within = text.replaceAll(/(?<=[;\t\r\n])'(?=['"]*[=+\-@＝＋－＠])/g, '')
      return /^'+(?:[=+\-@\t\r\n＝＋－＠]|$)/.test(within) ? within.slice(1) : within
    })
    expect(restored).toEqual(values)
  })

  it('leave no file behind if there are none', async () => {
    await run('product', 'a.csv', 'id,name\n1,Bolt\n')
    expect(() => readFileSync(join(folder, `${created}-a.csv.rejects.csv`))).toThrow('ENOENT')
  })
})

describe('replace', () => {
  const first = 'id,name\n1,a\n2,b\n3,c\n'

  it('deletes what the file does not have', async () => {
    await run('product', 'a.csv', first)
    const outcome = await run('product', 'b.csv', 'id,name\n2,b\n4,d\n', {
      replace: true,
      maxDelete: { percent: 100 },
    })
    expect(outcome).toMatchObject({ code: 0, summary: { inserted: 1, unchanged: 1, deleted: 2 } })
    expect((await products()).map(([id]) => id)).toEqual([2, 4])
    expect(await tally('product')).toEqual({ version: 3, total: 2, last_id: 4 })
  })

  it('does not delete what others wrote since the import began', async () => {
    await run('product', 'a.csv', 'id,name\n1,a\n2,b\n3,c\n')
    const importer = await connected(url)
    const session = await ImportSession.open(importer, { accountId }, resources.product, {
      trackIds: true,
      mode: 'upsert',
    })
    await client.query(
      `insert into product select account_id, 4, version + 1, 'd', null, 0, 0, true, null, null, null, now(), now()
       from tally where account_id = $1 and resource = 'product'`,
      [accountId],
    )
    await client.query(
      `update tally set version = version + 1, total = 4, last_id = 4 where account_id = $1 and resource = 'product'`,
      [accountId],
    )
    await session.write(rowParts([['1', 'a2']]))
    await session.deleteMissing(() => {})
    await importer.end()
    expect(await rowsOf('select id::text, name from product where account_id = $1 order by id')).toEqual([
      ['1', 'a2'],
      ['4', 'd'],
    ])
  })

  it('deletes nothing if a row was rejected', async () => {
    await run('product', 'a.csv', first)
    const outcome = await run('product', 'b.csv', 'id,name\n2,b\nx,d\n', { replace: true })
    expect(outcome).toMatchObject({ code: 2, summary: { rejected: 1, deleted: 0 } })
    expect(outcome.stderr).toContain('1 row was rejected')
    expect(outcome.stderr).toContain('Therefore nothing was deleted.')
    expect(await tally('product')).toEqual({ version: 1, total: 3, last_id: 3 })
  })

  it.each([
    [
      'open.csv',
      () => 'id,name\n2,b\n4,"d\n',
      'The row that starts at line 3 has a double quote that is never closed.',
    ],
    [
      'truncated.csv.gz',
      () => gzipSync('id,name\n2,b\n4,d\n').subarray(0, -6),
      'The gzip file is damaged or truncated.',
    ],
    ['empty.csv', () => 'id,name\n', 'The file has no rows, so replacing would delete every product.'],
    ['latin.csv', () => Buffer.from('id,name\n2,Müller\n', 'latin1'), 'The file is not UTF-8'],
  ])('deletes nothing if the file is truncated or invalid: %s', async (file, content, message) => {
    await run('product', 'a.csv', first)
    const outcome = await run('product', file, content(), { replace: true, maxDelete: { percent: 100 } })
    expect(outcome.code).toBe(1)
    expect(outcome.stderr).toContain(`quartermaster: ${message}`)
    expect(await tally('product')).toEqual({ version: 1, total: 3, last_id: 3 })
  })
})

describe('formats', () => {
  it('NDJSON numbers are stored with all their digits', async () => {
    const lines = [
      '{"id":1,"name":"a","list_price":123456789012345678901234.123456789012,"qty_available":0.1000}',
      '{"id":2,"name":"b","list_price":1.5e3,"qty_available":"0.30","active":false}',
      '',
      '{"id":3,"name":"c","list_price":"x","colour":1}',
      '[1]',
      '{"id":9007199254740993,"name":"d"}',
      '{"id":5}',
    ]
    const outcome = await run('product', 'a.ndjson', lines.join('\n'))
    expect(outcome).toMatchObject({ code: 2, summary: { read: 6, inserted: 2, rejected: 4 } })
    expect(
      await rowsOf(
        'select list_price::text, qty_available::text, active from product where account_id = $1 order by id',
      ),
    ).toEqual([
      ['123456789012345678901234.123456789012', '0.1', true],
      ['1500', '0.3', false],
    ])
    expect(
      readFileSync(join(folder, `${created}-a.ndjson.rejects.csv`), 'utf8')
        .split('\n')
        .slice(1, -1),
    ).toEqual([
      '4,list_price,is not a decimal number,x',
      expect.stringMatching(/^4,colour,"a product has no field ""colour"" \(its fields are id, name, /),
      '5,,is not a JSON object,[1]',
      '6,id,is beyond ±9007199254740991,9007199254740993',
      '7,name,is required for a new product (no product has this id),',
    ])
  })

  it('NDJSON does not change fields that a line lacks', async () => {
    await run('product', 'a.csv', 'id,name,list_price,default_code\n1,a,5,X\n2,b,6,Y\n')
    const lines =
      '{"id":1,"name":"a","list_price":7}\n{"id":2,"name":"b","default_code":null}\n{"id":3,"name":"c"}\n'
    expect((await run('product', 'b.jsonl', lines)).summary).toMatchObject({ inserted: 1, updated: 2 })
    expect(
      await rowsOf('select list_price::text, default_code from product where account_id = $1 order by id'),
    ).toEqual([
      ['7', 'X'],
      ['6', null],
      ['0', null],
    ])
  })

  it('gzip is detected by content', async () => {
    const packed = gzipSync('id,name,default_code\n1,"Ø ½"" \\N",""\n2,b,\n')
    expect(await run('product', 'a.csv.gz', packed)).toMatchObject({ code: 0 })
    expect(await run('product', 'a.csv', packed)).toMatchObject({ code: 0, summary: { unchanged: 2 } })
    expect(await rowsOf('select name, default_code from product where account_id = $1 order by id')).toEqual([
      ['Ø ½" \\N', ''],
      ['b', null],
    ])
  })

  it('standard input needs a format', async () => {
    const file = Buffer.from('id,name\n1,a\n')
    expect(await runFile('product', '-', { stdin: Readable.from([file]), format: 'csv' })).toMatchObject({
      code: 0,
    })
    expect(await runFile('product', '-', { stdin: Readable.from([file]) })).toMatchObject({
      code: 1,
      stderr:
        'quartermaster: The format of standard input is not set. Pass --format csv or --format ndjson.\n',
    })
  })
})

describe('failures are reported in one sentence', () => {
  it.each([
    ['a.csv', 'id,nam\n1,a\n', {}, 'a product has no field "nam" (did you mean name?)'],
    [
      'a.ndjson',
      '{"id":1,"name":"x","list_prize":1}\n',
      {},
      '(did you mean list_price?). Nothing was written.',
    ],
    ['a.csv', 'id,name\n', { account: 'absent' }, 'There is no account named absent.'],
    ['a.txt', '', {}, 'Its name must end in .csv, .ndjson or .jsonl'],
    [
      'a.csv',
      'id,name\n',
      { ownerUrl: 'postgres://x:secret@127.0.0.1:1/x' },
      'No PostgreSQL listens at 127.0.0.1:1.',
    ],
    [
      'a.csv',
      'id,name\n1,a\n',
      { replace: true, mode: 'update' as const },
      '--replace cannot be used with --mode update: --replace expects all records of the other system, --mode update some that were read here. Nothing was written. Omit one of the two.',
    ],
    [
      'a.csv',
      'id,name\n1,a\n',
      { maxDelete: { records: 5 } },
      '--max-delete limits what --replace deletes, so it needs --replace. Nothing was written.',
    ],
  ])('%s %j', async (file, content, options, message) => {
    const outcome = await run('product', file, content, options)
    expect(outcome.code).toBe(1)
    expect(outcome.stderr).toContain(message)
    expect(outcome.stderr.trimEnd()).not.toMatch(/\n|secret/)
    expect(await tally('product')).toEqual({ version: 0, total: 0, last_id: 0 })
  })

  it('if the file does not exist, too', async () => {
    expect(await runFile('product', '/nowhere/a.csv')).toEqual({
      code: 1,
      summary: { text: '' },
      stderr: 'quartermaster: /nowhere/a.csv cannot be read: the file does not exist.\n',
    })
  })
})

it('prints an aligned summary', async () => {
  const { summary } = await run('product', 'a.csv', 'id,name\n1,a\n', { json: false })
  expect(String(summary['text']).split('\n').slice(0, 6)).toEqual([
    expect.stringMatching(/^read +1$/),
    expect.stringMatching(/^inserted +1$/),
    expect.stringMatching(/^updated +0$/),
    expect.stringMatching(/^unchanged +0$/),
    expect.stringMatching(/^deleted +0$/),
    expect.stringMatching(/^rejected +0$/),
  ])
})

it('imports records in several batches, and replaces them in several', async () => {
  const totals = await importRecords({
    ownerUrl: url,
    account: name,
    resource: 'product',
    records: demoProducts(25_000),
  })
  expect(totals).toMatchObject({ read: 25_000, inserted: 25_000, rejected: 0 })
  expect(await tally('product')).toEqual({ version: 3, total: 25_000, last_id: 25_000 })
  const again = await importRecords({
    ownerUrl: url,
    account: name,
    resource: 'product',
    records: demoProducts(3),
    replace: true,
  })
  expect(again).toMatchObject({ unchanged: 3, deleted: 24_997 })
  expect(await tally('product')).toEqual({ version: 6, total: 3, last_id: 25_000 })
})
