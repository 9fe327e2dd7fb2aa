import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { stopAtEnd } from './at-end.ts'
import { write } from './changes-fixture.ts'
import { bin, environmentWith, quartermaster } from './command.ts'
import { account, connected, freshDatabase } from './database.ts'
import { passes } from './eventually.ts'
import { expectedSignature, Receiver } from './webhook-receiver.ts'

/** `quartermaster webhook` and `quartermaster deliver`. */

const receiver = stopAtEnd(new Receiver())

const url = await freshDatabase()
const client = await connected(url)
const acme = await account(client, 'acme')
await receiver.start()
const settings = {
  DATABASE_URL: url,
  QUARTERMASTER_WEBHOOK_SECRET: 'a-master-key-of-at-least-32-characters',
  QUARTERMASTER_WEBHOOK_NETWORKS: '127.0.0.2',
  NODE_EXTRA_CA_CERTS: receiver.authorityFile,
}

async function webhook(
  ...args: readonly string[]
): Promise<{ code: number; data: Record<string, unknown>; stderr: string }> {
  const { code, stdout, stderr } = await quartermaster(
    ['webhook', ...args, '--account', 'acme', '--json'],
    settings,
  )
  return { code, data: stdout === '' ? {} : JSON.parse(stdout), stderr }
}

it('creates, resumes, tests, replays, pauses and deletes a webhook, which deliver sends', async () => {
  const created = await webhook(
    'create',
    'product',
    receiver.url,
    '--fields',
    'id,name',
    '--since',
    'beginning',
  )
  expect(created).toMatchObject({ code: 0, data: { status: 'pending', fields: ['id', 'name'] } })
  const id = String(created.data['id'])
  expect((await webhook('resume', id)).data).toMatchObject({ status: 'active' })
  expect(await webhook('test', id)).toMatchObject({ code: 0, data: { status: 204, error: null } })
  await write(client, acme, { upsert: { 1: 'one' } })

  const deliver = spawn(process.execPath, [bin, 'deliver'], {
    env: environmentWith(settings),
    stdio: 'ignore',
  })
  await passes(() =>
    expect(receiver.changes).toMatchObject([{ change: 'created', id: 1, record: { name: 'one' } }]),
  )
  const message = receiver.messages.at(-1)
  expect(message?.signature).toBe(message && expectedSignature(String(created.data['secret']), message))
  await passes(async () => {
    const { data } = await webhook('list')
    expect(data).toMatchObject({ webhooks: [{ id, status: 'active', delivered_version: 1, failures: 0 }] })
  })
  expect((await webhook('replay', id, '--since', '0')).data).toMatchObject({ delivered_version: 0 })
  await passes(() => expect(receiver.changes).toHaveLength(2))
  const [code] = deliver.kill('SIGTERM') ? await once(deliver, 'exit') : []
  expect(code).toBe(0)

  expect((await webhook('pause', id)).data).toMatchObject({ status: 'paused', reason: 'requested' })
  receiver.respond = () => ({ status: 500 })
  expect(await webhook('test', id)).toMatchObject({ code: 1, data: { status: 500, error: 'status' } })
  receiver.echo = () => ({ status: 200, body: 'no' })
  const failed = await webhook('resume', id)
  expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining('but not with the challenge')])
  expect(await webhook('delete', id)).toMatchObject({ code: 0, data: { id, deleted: true } })
  const gone = await webhook('pause', id)
  expect([gone.code, gone.stderr]).toEqual([3, expect.stringContaining('quartermaster webhook list')])
})

it('explains what is wrong', async () => {
  const forbidden = await webhook('create', 'product', 'https://127.0.0.1/')
  expect([forbidden.code, forbidden.stderr]).toEqual([
    1,
    expect.stringContaining('not on the public internet'),
  ])
  const filter = await webhook('create', 'product', receiver.url, '--filter', 'list_prise>1')
  expect([filter.code, filter.stderr]).toEqual([64, expect.stringContaining('list_prise')])
  const { QUARTERMASTER_WEBHOOK_SECRET: _, ...without } = settings
  const unset = await quartermaster(['deliver'], without)
  expect([unset.code, unset.stderr]).toEqual([
    1,
    expect.stringContaining('QUARTERMASTER_WEBHOOK_SECRET is not set'),
  ])
})
