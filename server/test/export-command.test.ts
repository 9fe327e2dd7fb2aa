import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { demoPartners } from '../src/cli/demo/demo-data.ts'
import { importRecords } from '../src/import/import-records.ts'
import { temporaryFolder } from './at-end.ts'
import { bin, environmentWith, quartermaster } from './command.ts'
import { account, connected, freshDatabase } from './database.ts'

const url = await freshDatabase()
const client = await connected(url)
const folder = temporaryFolder('export')
await account(client, 'acme')
await account(client, 'copy')
await importRecords({ ownerUrl: url, account: 'acme', resource: 'partner', records: demoPartners(500) })

const run = (...args: string[]) => quartermaster(args, { DATABASE_URL: url })

describe('quartermaster export', () => {
  it('writes what import reads, and import rejects a truncated export', async () => {
    const all = await run('export', 'partner', '--account', 'acme')
    expect([all.code, all.stderr]).toEqual([
      0,
      expect.stringMatching(/^500 partners in [\d.]+ s \([\d,]+\/s\), version \S+, cursor \S+\n$/),
    ])
    const file = join(folder, 'partners.ndjson')
    writeFileSync(file, all.stdout)
    expect((await run('import', 'partner', file, '--account', 'copy')).code).toBe(0)
    const copied = await run('export', 'partner', '--account', 'copy')
    const records = (text: string) => text.split('\n').slice(0, 500)
    expect(records(copied.stdout)).toEqual(records(all.stdout))
    const lines = readFileSync(file, 'utf8').split('\n')
    writeFileSync(file, lines.toSpliced(7, 1).join('\n'))
    const truncated = await run('import', 'partner', file, '--account', 'copy')
    expect([truncated.code, truncated.stderr]).toEqual([1, expect.stringContaining('the file is incomplete')])
  })

  it('applies filter, fields and format', async () => {
    const options = ['--format', 'csv', '--fields', 'id,is_company', '--filter', 'id[2,3]&id<3']
    const { code, stdout } = await run('export', 'partner', '--account', 'acme', ...options)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^\uFEFFid,is_company\r\n2,(true|false)\r\n$/)
  })

  it.each(['csv', 'spreadsheet'])(
    'an import of --format %s into the same account changes nothing',
    async (format) => {
      const partners = [
        { id: 501, name: '=1+1', email: '', phone: '+30 210' },
        { id: 502, name: "'=1+1", email: null, phone: "'" },
      ]
      await importRecords({ ownerUrl: url, account: 'acme', resource: 'partner', records: partners })
      const { code, stdout } = await run('export', 'partner', '--account', 'acme', '--format', format)
      expect([code, stdout.includes("'=1+1")]).toEqual([0, true])
      const file = join(folder, `partners-${format}.csv`)
      writeFileSync(file, stdout)
      const sent = [file, '--account', 'acme', '--mode', 'update', '--json']
      const imported = await run('import', 'partner', ...sent)
      const totals: unknown = JSON.parse(imported.stdout)
      expect(totals).toMatchObject({ read: 502, unchanged: 502, updated: 0, rejected: 0 })
      expect((await run('export', 'partner', '--account', 'acme', '--format', format)).stdout).toBe(stdout)
    },
  )

  it('leaves a row in the audit log of the account, as do changes and an archive', async () => {
    const read = await account(client, 'read')
    await importRecords({ ownerUrl: url, account: 'read', resource: 'partner', records: demoPartners(3) })
    await run('export', 'partner', '--account', 'read', '--format', 'csv')
    await run('changes', 'partner', '--account', 'read')
    const archive = await run('account', 'export', 'read')
    expect(archive.stdout).toContain('"account.export"')
    const { rows } = await client.query(
      `select subject, details, actor from audit where account_id = $1 and action = 'account.export' order by id`,
      [read.accountId],
    )
    expect(rows).toEqual([
      { subject: 'partner', details: 'records as csv', actor: 'operator' },
      { subject: 'partner', details: 'changes', actor: 'operator' },
      { subject: 'read', details: 'archive', actor: 'operator' },
    ])
    await client.query(
      `alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = on`,
    )
    const onStandby = await run('export', 'partner', '--account', 'read')
    await client.query('set default_transaction_read_only = off')
    await client.query(`alter database ${new URL(url).pathname.slice(1)} reset default_transaction_read_only`)
    expect([onStandby.code, onStandby.stderr]).toEqual([0, expect.stringContaining('is read-only')])
  })

  it('reports errors before it writes anything', async () => {
    const wrong = await run('export', 'partner', '--account', 'acme', '--filter', 'nane=x')
    expect([wrong.code, wrong.stdout]).toEqual([1, ''])
    expect(wrong.stderr).toBe(
      'quartermaster: A partner has no field "nane". Did you mean name? (at offset 0 of --filter) Suggestion: name=x\n',
    )
    const unknown = await run('export', 'partner', '--account', 'absent')
    expect([unknown.code, unknown.stdout]).toEqual([1, ''])
    expect(unknown.stderr).toContain('absent')
  })

  it('exits with 1 if the database terminates it, or its reader closes the pipe', async () => {
    const { accountId } = await account(client, 'large')
    await client.query(
      `insert into company select $1, g, 1, repeat('x', 400), null, '1', now(), now() from generate_series(1, 60000) g`,
      [accountId],
    )
    const start = () =>
      spawn(process.execPath, [bin, 'export', 'company', '--account', 'large'], {
        env: environmentWith({ DATABASE_URL: url }),
        stdio: ['ignore', 'pipe', 'pipe'],
      })
    for (const end of ['database', 'reader'] as const) {
      const child = start()
      let stderr = ''
      child.stderr.on('data', (text: Buffer) => (stderr += text.toString()))
      const ended = new Promise((resolve) => child.once('close', resolve))
      await new Promise((resolve) => child.stdout.once('readable', resolve))
      if (end === 'reader') child.stdout.destroy()
      else {
        await client.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where query like 'copy%' and datname = current_database()`,
        )
        child.stdout.resume()
      }
      expect(await ended, end).toBe(1)
      if (end === 'database') expect(stderr).toContain('The output is incomplete')
    }
  })
})
