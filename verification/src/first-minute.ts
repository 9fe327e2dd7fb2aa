import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { documented } from '../../architecture/documented.ts'
import type { Check } from './check.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Ends commands that hang. Far longer than they take: installing the packages alone takes minutes on a busy machine. */
const minutesMax = 30

/** Runs the commands of the README's quick start on a clean clone of the current commit. */
export const firstMinute: Check = {
  name: 'first_minute',
  bound: 'a list, as in the README',
  run: (context) =>
    onCleanClone(async (folder) => {
      const script = documented('quickstart', folder)
      context.log('running the quick start of the README on a clean clone')
      const started = performance.now()
      const output = await bash(script, folder)
      const seconds = Math.round((performance.now() - started) / 1000)
      const listed = /"data":\[\{"id":1,/.test(output)
      return {
        value: listed ? `a list after ${seconds} s` : 'no list',
        samples: 1,
        ok: listed,
        ...(listed ? {} : { note: output.slice(-2000) }),
      }
    }),
}

/** Runs `work` in a clean clone of the current commit, and removes the clone afterwards. */
export async function onCleanClone<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-clone-'))
  try {
    execFileSync('git', ['clone', '--quiet', '--no-hardlinks', root, folder])
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export function bash(script: string, cwd: string): Promise<string> {
  // As in a new user's shell, without the Node, npm and database settings of this run.
  const path = (process.env['PATH'] ?? '').split(':').filter((part) => !part.startsWith(root))
  const inherited = Object.entries(process.env).filter(([name]) => !/^(?:npm_|DATABASE_|NODE$)/.test(name))
  const env = { ...Object.fromEntries(inherited), PATH: path.join(':') }
  const child = spawn('bash', ['-e', '-c', script], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: minutesMax * 60_000,
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  return new Promise((resolve, reject) => {
    child.once('close', (code) => {
      if (code === 0) resolve(output)
      else reject(new Error(`the commands exited with ${code}:\n${output.slice(-3000)}`))
    })
  })
}
