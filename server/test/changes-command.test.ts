import { spawn } from 'node:child_process'
import { expect, it } from 'vitest'
import { write } from './changes-fixture.ts'
import { bin, environmentWith, quartermaster } from './command.ts'
import { account, connected, freshDatabase } from './database.ts'
import { eventually } from './eventually.ts'

const url = await freshDatabase()
const client = await connected(url)
const acme = await account(client, 'acme')
await write(client, acme, { upsert: { 1: 'one', 2: 'two' } })

const run = (...args: string[]) =>
  quartermaster(['changes', 'product', '--account', 'acme', ...args], { DATABASE_URL: url })

/** Without the ETags, whose form the acceptance tests know. */
const withoutEtags = (lines: string) =>
  lines.replaceAll(/,"etag":"\\"\d+-[0-9a-f]{16}-\d+-[\w-]{16}\\""/g, '')

const cursorIn = (stderr: string) => /(?:--since|cursor) (\S+)\n$/.exec(stderr)?.[1] ?? ''

it('writes every record, and then what has changed since the cursor that it prints', async () => {
  const first = await run('--fields', 'name')
  expect([first.code, withoutEtags(first.stdout)]).toEqual([
    0,
    '{"change":"created","id":1,"version":1,"record":{"name":"one"}}\n' +
      '{"change":"created","id":2,"version":1,"record":{"name":"two"}}\n',
  ])
  expect(first.stderr).toMatch(/^2 changes; continue with --since \S+\n$/)
  await write(client, acme, { upsert: { 2: 'line\nfeed' }, delete: [1] })
  const next = await run('--fields', 'name', '--since', cursorIn(first.stderr))
  expect(withoutEtags(next.stdout)).toBe(
    '{"change":"deleted","id":1,"version":2}\n{"change":"updated","id":2,"version":2,"record":{"name":"line\\nfeed"}}\n',
  )
})

it('continues an export', async () => {
  const exported = await quartermaster(['export', 'product', '--account', 'acme'], { DATABASE_URL: url })
  const { code, stdout, stderr } = await run('--since', cursorIn(exported.stderr))
  expect([code, stdout]).toEqual([0, ''])
  expect(stderr).toMatch(/^0 changes; continue/)
})

it('reports errors before it writes anything', async () => {
  const wrong = await run('--since', 'yesterday')
  expect([wrong.code, wrong.stdout]).toEqual([1, ''])
  expect(wrong.stderr).toContain('The parameter since is not a cursor.')
  const field = await run('--filter', 'nane=x')
  expect(field.stderr).toContain('Did you mean name?')
})

it('follows changes until it is stopped, and prints the cursor', async () => {
  const child = spawn(
    process.execPath,
    [bin, 'changes', 'product', '--account', 'acme', '--since', 'now', '--fields', 'id', '--follow'],
    { env: environmentWith({ DATABASE_URL: url }), stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (text: Buffer) => (stdout += text.toString()))
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()))
  const ended = new Promise((resolve) => child.once('close', resolve))
  // It does not print that it has started, so products are written until one appears.
  let id = 100
  await eventually(async () => {
    await write(client, acme, { upsert: { [++id]: 'new' } })
    return stdout !== ''
  })
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
  expect(stdout).toMatch(
    /^\{"change":"created","id":1\d\d,"version":\d+,"etag":"[^}]*","record":\{"id":1\d\d\}\}\n/,
  )
  expect(stderr).toMatch(/^\d+ changes?; continue with --since \S+\n$/)
})
