import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { demoProducts } from '../../server/src/cli/demo/demo-data.ts'
import { temporaryFolder } from '../../server/test/at-end.ts'
import { account } from '../../server/test/database.ts'
import { freshService } from '../../server/test/service.ts'

/** docs/guides/recipes.md as it is written, on the products of the demo, which its outputs show. */

const page = readFileSync(fileURLToPath(new URL('../../docs/guides/recipes.md', import.meta.url)), 'utf8')
const folder = temporaryFolder('recipe-page')
const { client: database, service } = await freshService({ QUARTERMASTER_DEFAULT_ACCOUNT: 'demo' })
const { key } = await account(database, 'demo', undefined, 'external')
const url = `http://127.0.0.1:${service.port}`
const products = [...demoProducts(10_000)]

const sent = await fetch(`${url}/api/v1/inventory/product/batch`, {
  method: 'POST',
  headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' },
  body: products.map((product) => JSON.stringify(product)).join('\n'),
})
expect(await sent.text()).toContain('"inserted":10000')

const onService = (text: string) => text.replaceAll('http://127.0.0.1:8080', url)
const blocksOf = (language: string) =>
  Array.from(
    page.matchAll(
      new RegExp(
        `^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`\\n(?:\\s*\`\`\`text\\n([\\s\\S]*?)^\`\`\`$)?`,
        'gm',
      ),
    ),
    ([, text = '', printed = '']) => ({ text, printed }),
  )

async function run(program: string, ...arguments_: string[]): Promise<string> {
  const child = spawn(program, arguments_, { cwd: folder, env: { ...process.env, KEY: key } })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  await once(child, 'close')
  if (child.exitCode !== 0) throw new Error(`${program} exited with ${child.exitCode}:\n${output}`)
  // A CSV has the line ends of RFC 4180.
  return output.replaceAll('\r', '')
}

const header = (file: string) =>
  readFileSync(join(folder, file), 'utf8')
    .replace(/^\uFEFF/, '')
    .split('\r\n')[0]

/** The value of the stock in the three largest categories, in whole units. */
function largestCategories(): string[] {
  const values = new Map<unknown, number>()
  for (const { categ_id, list_price, qty_available } of products) {
    if (categ_id === null) continue
    values.set(categ_id, (values.get(categ_id) ?? 0) + Number(list_price) * Number(qty_available))
  }
  const largest = [...values].toSorted(([, one], [, other]) => other - one).slice(0, 3)
  return largest.map(([category, value]) => `${String(category)} ${Math.round(value)}`)
}

it('every command prints what the page shows', async () => {
  const blocks = blocksOf('sh')
  expect(blocks.length).toBeGreaterThan(6)
  const commands = blocks.map(({ text }) => `echo '== block'\n${onService(text)}`).join('\n')
  const printed = (await run('bash', '-eu', '-c', commands)).split('== block\n').slice(1)
  expect(printed.map((text) => text.trimEnd())).toEqual(blocks.map((block) => block.printed.trimEnd()))

  const low = products
    .filter(({ active, qty_available }) => active === true && Number(qty_available) < 20)
    .toSorted((one, other) => Number(one['qty_available']) - Number(other['qty_available']))
    .slice(0, 5)
  const lowest = low.map(({ id, qty_available }) => ({ id, qty_available: Number(qty_available) }))
  expect(printed.filter((text) => text.includes(JSON.stringify(lowest)))).toHaveLength(1)

  const nightly = readdirSync(folder).filter((file) => /^products-\d{4}-\d\d-\d\d\.csv$/.test(file))
  expect(nightly).toHaveLength(1)
  expect(readFileSync(join(folder, nightly[0] ?? ''), 'utf8').split('\r\n')).toHaveLength(10_002)
})

describe('Power Query', () => {
  const [{ text: program } = { text: '' }] = blocksOf('powerquery')
  /** The members of a record of the language M whose values are texts. */
  const recordOf = (name: string): Record<string, string> => {
    const [, members = ''] = new RegExp(`${name} = \\[([^\\]]*)\\]`).exec(program) ?? []
    const texts = members.matchAll(/(\w+) = "([^"]*)"(?: & (\w+))?/g)
    return Object.fromEntries(
      Array.from(texts, ([, member = '', text = '', added = '']) => [
        member,
        `${text}${added === 'Key' ? key : ''}`,
      ]),
    )
  }

  it('sends a request that the service answers with the columns of the program, in types that it names', async () => {
    const [, base = ''] = /Web\.Contents\("([^"]+)"/.exec(program) ?? []
    const [, path = ''] = /RelativePath = "([^"]+)"/.exec(program) ?? []
    const headers = recordOf('Headers')
    expect(Object.keys(headers)).toEqual(['Authorization', 'Accept'])
    const query = recordOf('Query')
    const encoded = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    const response = await fetch(`${onService(base)}/${path}?${encoded.join('&')}`, { headers })
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/csv; charset=utf-8; header=present',
    ])

    const [names = '', ...rows] = (await response.text()).trimEnd().split('\r\n')
    expect(names).toBe(query['fields'])
    expect(rows).toHaveLength(products.filter(({ active }) => active).length)
    const forms: Readonly<Record<string, RegExp>> = {
      'Int64.Type': /^\d+$/,
      'type number': /^-?\d+(\.\d+)?$/,
      'type logical': /^(true|false)$/,
      'type datetimezone': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
    }
    const types = [...program.matchAll(/\{"(\w+)", ([\w. ]+)\}/g)]
    expect(types).toHaveLength(5)
    const columns = names.split(',')
    for (const [, column = '', type = ''] of types) {
      // From the end or the beginning, because only the texts between have commas.
      const index = columns.indexOf(column)
      const wrong = rows.filter((row) => {
        const cells = row.split(',')
        const cell = index === 0 ? cells[0] : cells[cells.length - columns.length + index]
        return forms[type]?.test(cell ?? '') !== true
      })
      expect([column, wrong.slice(0, 3)]).toEqual([column, []])
    }
  })
})

const python = '/usr/bin/python3'
const hasPandas = spawnSync(python, ['-c', 'import pandas']).status === 0

it.runIf(hasPandas)('the program for pandas prints what the page shows', async () => {
  const [{ text, printed } = { text: '', printed: '' }] = blocksOf('python')
  expect(await run(python, '-c', onService(text))).toBe(printed)
})

it('the output for pandas has the values of the records', () => {
  const [{ printed } = { printed: '' }] = blocksOf('python')
  const lines = printed.trimEnd().split('\n')
  expect(lines.slice(-3).map((line) => line.replace(/ +/, ' ').replace(/\.0$/, ''))).toEqual(
    largestCategories(),
  )
})

it('the file for DuckDB has the columns of the statement, in the types that it names', () => {
  const [{ text } = { text: '' }] = blocksOf('sql')
  const [, file = ''] = /read_csv\('([^']+)'/.exec(text) ?? []
  const columns = header(file)?.split(',') ?? []
  expect(columns).toEqual(['id', 'categ_id', 'list_price', 'qty_available'])
  const types = [...text.matchAll(/'(\w+)': 'decimal\((\d+),(\d+)\)'/g)]
  expect(types.map(([, column]) => column)).toEqual(['list_price', 'qty_available'])
  const [, ...rows] = readFileSync(join(folder, file), 'utf8').trimEnd().split('\r\n')
  expect(rows).toHaveLength(10_000)
  for (const [, column = '', width, scale] of types) {
    const form = new RegExp(`^-?\\d{1,${Number(width) - Number(scale)}}(\\.\\d{1,${scale}})?$`)
    const cells = rows.map((row) => row.split(',')[columns.indexOf(column)] ?? '')
    expect(cells.filter((cell) => !form.test(cell))).toEqual([])
  }
})
