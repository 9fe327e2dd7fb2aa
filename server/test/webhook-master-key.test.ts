import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { documented } from '../../architecture/documented.ts'
import { stopAtEnd } from './at-end.ts'
import { quartermaster } from './command.ts'
import { account, connected, freshDatabase } from './database.ts'
import { passes } from './eventually.ts'
import { startTestService, type TestService } from './service.ts'
import { expectedSignature, type ReceivedMessage, Receiver } from './webhook-receiver.ts'

/** The operator changes the master key, and no receiver has to change its secret at that moment. */

const webhooks = '/manage/v1/webhooks'
const oldKey = 'the-old-master-key-has-32-characters-or-more'
const networks = { QUARTERMASTER_WEBHOOK_NETWORKS: '127.0.0.2' }
let service: TestService
const receiver = stopAtEnd(new Receiver())

const url = await freshDatabase()
const client = await connected(url)
const acme = await account(client, 'acme')
await receiver.start()

type Keys = Readonly<Record<string, string>>
const onlyOld: Keys = { QUARTERMASTER_WEBHOOK_SECRET: oldKey }

async function serveWith(keys: Keys): Promise<void> {
  await service?.close()
  service = await startTestService(url, { ...networks, ...keys })
}

async function post(path: string, body?: object) {
  const options =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const response = await service.request(acme, 'POST', `${webhooks}${path}`, options)
  const { data, detail }: { data: Record<string, string>; detail: string } = JSON.parse(
    JSON.stringify(response.body),
  )
  return { status: response.status, data, detail }
}

/** The settings after the documented commands. */
function changedKeys(): Keys {
  const print = 'printf "%s\\n%s\\n" "$QUARTERMASTER_WEBHOOK_SECRET" "$QUARTERMASTER_WEBHOOK_SECRET_PREVIOUS"'
  const env = { PATH: process.env['PATH'], ...onlyOld }
  const output = execFileSync('bash', ['-ec', `${documented('webhook-master-key')}\n${print}`], {
    env,
    encoding: 'utf8',
  })
  const [current = '', previous = ''] = output.trim().split('\n')
  expect(current).toMatch(/^[A-Za-z0-9+/]{43}=$/)
  expect(previous).toBe(oldKey)
  return { QUARTERMASTER_WEBHOOK_SECRET: current, QUARTERMASTER_WEBHOOK_SECRET_PREVIOUS: previous }
}

async function signaturesOf(id: string): Promise<{ message: ReceivedMessage; signatures: string[] }> {
  receiver.messages.length = 0
  expect((await post(`/${id}/test`)).data).toMatchObject({ status: 204 })
  const [message] = receiver.messages
  if (message === undefined) throw new Error('nothing was sent')
  return { message, signatures: message.signature.split(' ') }
}

async function doctorSays(keys: Keys): Promise<string[]> {
  const { stdout } = await quartermaster(['doctor', '--json'], { DATABASE_URL: url, ...networks, ...keys })
  const { findings }: { findings: { check: string; status: string; message: string }[] } = JSON.parse(stdout)
  return findings
    .filter(({ check }) => check === 'webhooks')
    .map(({ status, message }) => `${status}: ${message}`)
}

const createdWebhook = async () => {
  const { data } = await post('', { resource: 'product', url: receiver.url })
  expect((await post(`/${data['id']}/activate`)).status).toBe(200)
  return { id: data['id'] ?? '', secret: data['secret'] ?? '' }
}

it('signs with secrets of both master keys until each webhook is rotated', async () => {
  await serveWith(onlyOld)
  const [first, second] = [await createdWebhook(), await createdWebhook()]
  // As a process of an earlier version left it: paused, so that no delivery records its master key.
  await client.query('update webhook set master_key = null where id = $1', [second.id])

  const both = changedKeys()
  await serveWith(both)
  for (const { id, secret } of [first, second]) {
    const { message, signatures } = await signaturesOf(id)
    expect(signatures).toHaveLength(2)
    expect(signatures[0]).toBe(expectedSignature(secret, message))
  }
  expect(await doctorSays(both)).toEqual([
    expect.stringMatching(/^ok: 2 webhooks have a secret of the previous master key \([0-9a-f]{16}\)/),
  ])
  const fingerprint = /\(([0-9a-f]{16})\)/.exec((await doctorSays(both))[0] ?? '')?.[1] ?? ''
  await post(`/${second.id}/activate`)
  const listed = await client.query(documented('webhooks-to-rotate'), [fingerprint])
  expect(listed.rows).toEqual(
    [first.id, second.id].toSorted().map((webhook) => ({ account: 'acme', webhook })),
  )

  const rotated = (await post(`/${first.id}/rotate`)).data['secret'] ?? ''
  const { message, signatures } = await signaturesOf(first.id)
  expect(signatures).toEqual([expectedSignature(rotated, message), expectedSignature(first.secret, message)])
  expect(await doctorSays(both)).toEqual([
    expect.stringContaining('ok: 1 webhook has a secret of the previous'),
  ])
  await post(`/${second.id}/rotate`)
  expect(await doctorSays(both)).toEqual([
    expect.stringContaining('ok: Every webhook has a secret of the current'),
  ])
  await client.query(`update webhook set rotated_at = now() - interval '25 hours'`)
  expect(await doctorSays(both)).toEqual([expect.stringContaining('ok: No webhook needs the previous')])

  const { QUARTERMASTER_WEBHOOK_SECRET_PREVIOUS: _, ...onlyNew } = both
  await serveWith(onlyNew)
  const later = await signaturesOf(first.id)
  expect(later.signatures).toEqual([expectedSignature(rotated, later.message)])
  expect(await doctorSays(onlyNew)).toEqual([])
})

it('never signs with a secret that the receiver does not know', async () => {
  await client.query('delete from webhook')
  await serveWith(onlyOld)
  const { id, secret } = await createdWebhook()
  const lost: Keys = { QUARTERMASTER_WEBHOOK_SECRET: 'another-master-key-of-32-characters-or-more' }
  await serveWith(lost)
  receiver.messages.length = 0
  expect(await post(`/${id}/test`)).toMatchObject({
    status: 501,
    detail: expect.stringContaining('Rotate the secret'),
  })
  const created = await service.request(acme, 'POST', '/api/v1/inventory/product', {
    body: '{"name":"x"}',
    headers: { 'content-type': 'application/json' },
  })
  expect(created.status).toBe(201)
  await passes(async () => {
    const { rows } = await client.query('select error from delivery where kind = $1 and webhook_id = $2', [
      'changes',
      id,
    ])
    expect(rows[0]).toEqual({ error: 'secret' })
  })
  expect(receiver.messages).toEqual([])
  expect(await doctorSays(lost)).toEqual([
    expect.stringContaining(
      'problem: 1 webhook has a secret that is derived from a master key that is not set',
    ),
  ])

  // Nothing was lost: with the master key, the same changes are sent with the old secret.
  await client.query('update webhook set due_at = now()')
  await serveWith(onlyOld)
  await passes(() => expect(receiver.changes).toHaveLength(1))
  const message = receiver.messages.at(-1)
  expect(message?.signature).toBe(message && expectedSignature(secret, message))
})

it('rejects a previous master key without a current one, and two equal ones', async () => {
  for (const keys of [{}, onlyOld]) {
    const { stderr, stdout } = await quartermaster(['config'], {
      ...keys,
      QUARTERMASTER_WEBHOOK_SECRET_PREVIOUS: oldKey,
    })
    expect(stdout + stderr).toMatch(/QUARTERMASTER_WEBHOOK_SECRET_PREVIOUS is (?:set, but|the same key as)/)
    expect(stdout + stderr).not.toContain(oldKey)
  }
})
