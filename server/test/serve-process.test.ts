import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { isOnlyQuartermaster } from '../bin/npm-script.js'
import { bin, type Environment, environmentWith } from './command.ts'
import { eventually } from './eventually.ts'
import { killGroupAtEnd } from './processes.ts'

/** `quartermaster serve` as a separate process. It listens even without a database. */

const root = fileURLToPath(new URL('../..', import.meta.url))

/** In its own process group, so that all child processes can be killed. */
async function listening(program: string, args: readonly string[], settings: Environment) {
  const child = spawn(program, args, {
    cwd: root,
    env: environmentWith({
      DATABASE_URL: 'postgres://unknown@127.0.0.1:1/none',
      QUARTERMASTER_SHUTDOWN_DELAY_MS: '0',
      ...settings,
    }),
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
  killGroupAtEnd(child)
  let stderr = ''
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
      if (stderr.includes('"listening"')) resolve()
    })
    child.once('exit', () => reject(new Error(`it ended: ${stderr}`)))
  })
  return { child, stderr: () => stderr }
}

describe.runIf(process.platform === 'linux')('serve', () => {
  it('exits with 0 on SIGTERM', async () => {
    const { child } = await listening(process.execPath, [bin, 'serve', '--port', '0'], {})
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  })

  it.each([
    ['stderr', {}],
    ['stdout', { QUARTERMASTER_LOG_DESTINATION: 'stdout' }],
  ])('writes its log to %s, and nothing to the other', async (destination, settings) => {
    const child = spawn(process.execPath, [bin, 'serve', '--port', '0'], {
      env: environmentWith({ DATABASE_URL: 'postgres://unknown@127.0.0.1:1/none', ...settings }),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    killGroupAtEnd(child)
    const output = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text))
    const ended = once(child, 'close')
    await eventually(() => JSON.stringify(output).includes('listening'))
    child.kill('SIGINT')
    await ended
    const [log, other] =
      destination === 'stdout' ? [output.stdout, output.stderr] : [output.stderr, output.stdout]
    const lines = log.trimEnd().split('\n')
    expect(lines.map((line) => [JSON.parse(line).level, JSON.parse(line).msg])).toEqual([
      ['info', 'listening'],
      ['info', 'stopping'],
      ['info', 'stopped'],
    ])
    expect(other).toBe('')
  })

  it('opens no debugger on SIGUSR1, and continues to serve', async () => {
    const { child, stderr } = await listening(process.execPath, [bin, 'serve', '--port', '0'], {})
    const port = /"port":(\d+)/.exec(stderr())?.[1]
    child.kill('SIGUSR1')
    for (let i = 0; i < 20; i++) expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200)
    const ended = once(child, 'close')
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    expect(stderr()).not.toContain('Debugger')
  })

  it('ends with the shell that npm has started: npm sends SIGTERM to the shell only', async () => {
    const { child, stderr } = await listening('npx', ['quartermaster', 'serve', '--port', '0'], {})
    // The server shares this stderr, so it closes when all processes have ended.
    const closed = once(child, 'close')
    child.kill('SIGTERM')
    await closed
    expect(stderr()).toContain('"msg":"stopped"')
  })

  it.each([
    ["'quartermaster' serve", true],
    ['PORT=80 QUARTERMASTER_LOG_LEVEL=warn quartermaster serve', true],
    ['node node_modules/.bin/quartermaster serve --port 80', true],
    ['node server/bin/quartermaster.js serve', true],
    ['', false],
    ['quartermaster serve &', false],
    ['nohup quartermaster serve', false],
    ['quartermaster migrate && quartermaster serve', false],
    ['pm2 start quartermaster', false],
    ['(quartermaster serve)', false],
  ])('the npm script %j runs nothing but quartermaster: %j', (script, expected) => {
    expect(isOnlyQuartermaster(script)).toBe(expected)
  })

  it('continues to serve after SIGTERM, not ready, until QUARTERMASTER_SHUTDOWN_DELAY_MS has passed', async () => {
    const { child, stderr } = await listening(process.execPath, [bin, 'serve', '--port', '0'], {
      QUARTERMASTER_SHUTDOWN_DELAY_MS: '8000',
    })
    const port = /"port":(\d+)/.exec(stderr())?.[1]
    const ended = once(child, 'exit')
    const began = performance.now()
    child.kill('SIGTERM')
    await eventually(() => stderr().includes('"stopping"'))
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`)
    expect([ready.status, await ready.json()]).toMatchObject([503, { detail: 'This process is stopping.' }])
    expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200)
    expect(await ended).toEqual([0, null])
    expect(performance.now() - began).toBeGreaterThan(7_900)
  })
})
