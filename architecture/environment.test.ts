import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { environmentReads } from './environment.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Where the server reads the environment or passes `process` on, and why this is no setting that bypasses `config.ts`. */
const allowed: Record<string, readonly string[]> = {
  // The configuration, and whether the stack of an error is printed.
  'main.ts': ['process.env', 'process.env.DEBUG'],
  // Where the machine has its programs and caches. Commands that start a temporary PostgreSQL have no other way to find them.
  'cli/database/find-postgres.ts': ['process.env.PATH'],
  // Its report says whether the machine has glibc.
  'cli/database/embedded-postgres.ts': [
    'process.env.npm_execpath',
    'process.env.XDG_CACHE_HOME',
    'process.report.getReport',
  ],
  // `account export` and `account restore` get its standard streams.
  'cli/commands/archive-commands.ts': ['process as a value', 'process as a value'],
  // Its IPC channel to the primary.
  'processes/worker.ts': ['process as a value'],
}

it('only main.ts reads settings from the environment', () => {
  const files = readdirSync(join(root, 'server/src'), { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  )
  const found = files.toSorted().flatMap((file) => {
    const reads = environmentReads(file, readFileSync(join(root, 'server/src', file), 'utf8'))
    return reads.length === 0 ? [] : [[file, reads.map((read) => read.replace(/^\d+: /, ''))]]
  })
  expect(Object.fromEntries(found)).toEqual(allowed)
})

it.each([
  ['process.env', '1: process.env'],
  ['process.env.PORT', '1: process.env.PORT'],
  [`process['env']['PORT']`, '1: process.env.PORT'],
  ['process[`env`]', '1: process.env'],
  ['process?.env', '1: process.env'],
  ['process[name]', '1: process[…]'],
  ['const { env } = process', '1: { env } of process'],
  ['const { env: { PORT } } = process', '1: { env } of process'],
  ['const { pid, ...rest } = process', '1: { pid, … } of process'],
  ['const { [name]: value } = process', '1: { … } of process'],
  ['let found\n({ env: found } = process)', '2: process as a value'],
  ['const alias = process', '1: process as a value'],
  ['read(process)', '1: process as a value'],
  ['Reflect.get(process, name)', '1: process as a value'],
  ['globalThis.process.env', '1: globalThis.process'],
  [`global['process']`, '1: global.process'],
  ['const { process: mine } = globalThis', '1: globalThis as a value'],
  [`import { env } from 'node:process'`, '1: imports node:process'],
  [`import all from 'process'`, '1: imports process'],
  [`export { env } from 'node:process'`, '1: imports node:process'],
  [`await import('node:process')`, '1: imports node:process'],
  [`require('process')`, '1: imports process'],
  [`import 'dotenv/config'`, '1: imports dotenv/config'],
  ['process.loadEnvFile()', '1: process.loadEnvFile'],
  [`process.getBuiltinModule('process')`, '1: process.getBuiltinModule'],
])('finds %s', (text, expected) => {
  expect(environmentReads('a.ts', text)).toEqual([expected])
})

it.each([
  'process.exit(1)',
  'process.stdout.write(text)',
  'const { stdout, stderr } = process',
  `'process.env.KEY'`,
  'worker.process.pid',
  'start({ process: 1 })',
])('does not object to %s', (text) => {
  expect(environmentReads('a.ts', text)).toEqual([])
})
