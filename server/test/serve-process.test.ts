import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { bin, type Environment, environmentWith } from './command.ts'

/** `quartermaster serve` as a process of its own. It listens without a database, too. */

const started: ChildProcess[] = []
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

async function serve(settings: Environment): Promise<ChildProcess> {
  const child = spawn(process.execPath, [bin, 'serve', '--port', '0'], {
    env: environmentWith({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', ...settings }),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  started.push(child)
  let said = ''
  const listening = new Promise<ChildProcess>((resolve, reject) => {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text
      if (said.includes('"listening"')) resolve(child)
    })
    child.once('exit', () => reject(new Error(`it ended: ${said}`)))
  })
  return listening
}

function commandLine({ pid }: ChildProcess): string[] {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
}

describe.runIf(process.platform === 'linux')('serve', () => {
  it('keeps the young generation small, in the process that was started, which ends as it is told', async () => {
    const child = await serve({})
    expect(commandLine(child)).toContain('--max-semi-space-size=8')
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  })

  it('leaves a size that the operator chose', async () => {
    const child = await serve({ NODE_OPTIONS: '--max-semi-space-size=32' })
    expect(commandLine(child).join(' ')).not.toContain('semi-space')
  })
})
