import { spawn, spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { passes } from './eventually.ts'

/** The receivers of the guide accept genuine messages only. */

const folder = fileURLToPath(new URL('../../examples/', import.meta.url))
const key = Buffer.alloc(32, 5)

async function start(
  program: string,
  args: readonly string[],
): Promise<{ url: string; output: () => string }> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  const port = typeof address === 'object' ? address?.port : undefined
  probe.close()
  await once(probe, 'close')
  const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: `whsec_${key.toString('base64')}` }
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  const url = `http://127.0.0.1:${port}/`
  while (!output.includes('waiting')) await once(child.stdout, 'data')
  return { url, output: () => output }
}

function signatureOf(id: string, timestamp: number, body: string, by: Buffer = key): string {
  return `v1,${createHmac('sha256', by).update(`${id}.${timestamp}.${body}`).digest('base64')}`
}

async function send(url: string, body: string, headers: Record<string, string>): Promise<[number, string]> {
  for (;;) {
    try {
      const response = await fetch(url, { method: 'POST', body, headers })
      return [response.status, await response.text()]
    } catch (error) {
      // The Python server prints before it listens.
      const cause = error instanceof Error ? error.cause : undefined
      if (!(cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED')) throw error
    }
  }
}

/** Runs the example with the sources of the client, which need not be built. */
const clientSource = new URL('../../client/test/client-source.ts', import.meta.url).href

describe.each([
  ['webhook-receiver.ts', process.execPath, ['--import', clientSource]],
  ['webhook-receiver.mjs', process.execPath, []],
  ['webhook-receiver.py', 'python3', []],
])('%s', (file, program, options) => {
  it('returns challenges, applies changes in order of versions, and rejects forgeries', async () => {
    const { url, output } = await start(program, [...options, `${folder}${file}`])
    const now = Math.floor(Date.now() / 1000)
    const headersOf = (body: string, timestamp = now, signature = signatureOf('msg_1', timestamp, body)) => ({
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signature,
    })
    const challenge = '{"type":"webhook.challenge","data":{"challenge":"abc"}}'
    expect(await send(url, challenge, headersOf(challenge))).toEqual([200, 'abc'])
    const changed = (version: number) =>
      `{"type":"product.changed","data":{"changes":[{"change":"updated","id":7,"version":${version},"record":{"name":"é"}}]}}`
    expect(await send(url, changed(3), headersOf(changed(3)))).toEqual([200, ''])
    expect(await send(url, changed(2), headersOf(changed(2)))).toEqual([200, ''])
    const rotating = `v1,AAAA ${signatureOf('msg_1', now, changed(4))}`
    expect(await send(url, changed(4), headersOf(changed(4), now, rotating))).toEqual([200, ''])
    // The output may arrive after the response.
    await passes(() => expect(output()).toContain('updated 7 at version 3\nupdated 7 at version 4\n'))
    expect(output()).not.toContain('version 2')

    const forged = changed(9)
    for (const headers of [
      headersOf(changed(8)),
      headersOf(forged, now, signatureOf('msg_1', now, forged, Buffer.alloc(32, 6))),
      headersOf(forged, now - 3600),
      headersOf(forged, now + 3600),
      headersOf(forged, now, ''),
      { ...headersOf(forged), 'webhook-id': 'msg_2' },
      {},
    ]) {
      expect((await send(url, forged, headers))[0]).toBe(401)
    }
    expect(output()).not.toContain('version 9')
  })
})

const hasPhp = spawnSync('php', ['--version']).status === 0

it.skipIf(!hasPhp)('webhook-receiver.php returns challenges, and rejects forgeries', async () => {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  const port = typeof address === 'object' ? address?.port : undefined
  probe.close()
  const env = { ...process.env, WEBHOOK_SECRET: `whsec_${key.toString('base64')}` }
  const child = spawn('php', ['-S', `127.0.0.1:${port}`, `${folder}webhook-receiver.php`], { env })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const now = Math.floor(Date.now() / 1000)
  const body = '{"type":"webhook.challenge","data":{"challenge":"abc"}}'
  const url = `http://127.0.0.1:${port}/`
  const headersOf = (timestamp: number, signature: string) => ({
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signature,
  })
  const genuine = signatureOf('msg_1', now, body)
  expect(await send(url, body, headersOf(now, `v1,AAAA ${genuine}`))).toEqual([200, 'abc'])
  const old = now - 3600
  for (const headers of [
    headersOf(now, signatureOf('msg_1', now, body, Buffer.alloc(32, 6))),
    headersOf(old, signatureOf('msg_1', old, body)),
    headersOf(now, ''),
    { ...headersOf(now, genuine), 'webhook-id': 'msg_2' },
  ])
    expect((await send(url, body, headers))[0]).toBe(401)
})
