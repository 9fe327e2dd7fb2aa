import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Load } from '../intervals.ts'

const run = promisify(execFile)

export interface Script {
  /** SQL, with `:name` for variables. Each statement is sent separately. */
  readonly text: string
  readonly variables: Readonly<Record<string, string | number>>
}

/** How the statements are sent, and settings of the sessions, such as `jit=off`. */
export interface Session {
  readonly mode: 'prepared' | 'extended'
  readonly settings: readonly string[]
}

/**
 * Loads plain PostgreSQL: by default prepared statements over TCP, with the same number of clients as the service. pgbench counts the start of
 * its connections as a part of the seconds, though not of the rate. On a busy machine nothing may be left of a second, so it is
 * repeated with more.
 */
export async function pgbenchLoad(
  url: string,
  script: Script,
  clients: number,
  seconds: number,
  session?: Session,
): Promise<Load> {
  for (let allowed = seconds; allowed <= 8 * seconds; allowed *= 2) {
    const threads = Math.min(2, clients)
    const out = await pgbench(
      url,
      script,
      ['-c', `${clients}`, '-j', `${threads}`, '-T', `${allowed}`],
      session,
    )
    const requests = Number(/^number of transactions actually processed: (\d+)/m.exec(out)?.[1])
    const rate = Number(/^tps = ([\d.]+)/m.exec(out)?.[1])
    if (requests > 0 && rate > 0) return { requests, seconds: requests / rate }
  }
  throw new Error('pgbench completed no transactions')
}

/** The time of each of `count` consecutive transactions. */
export async function pgbenchTimesMs(url: string, script: Script, count: number): Promise<number[]> {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-bench-'))
  try {
    await pgbench(url, script, ['-c', '1', '-t', String(count), '-l', '--log-prefix', join(folder, 'log')])
    return readdirSync(folder)
      .flatMap((file) => readFileSync(join(folder, file), 'utf8').trim().split('\n'))
      .map((line) => Number(line.split(' ')[2]) / 1000)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function pgbench(
  url: string,
  { text, variables }: Script,
  args: readonly string[],
  { mode, settings }: Session = { mode: 'prepared', settings: [] },
): Promise<string> {
  const { hostname, port, username, pathname } = new URL(url)
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-bench-'))
  const file = join(folder, 'script.sql')
  const always = ['-n', '-M', mode, '-h', hostname, '-p', port, '-U', username, '-f', file]
  try {
    writeFileSync(file, text)
    const definitions = Object.entries(variables).flatMap(([name, value]) => ['-D', `${name}=${value}`])
    const options = settings.map((setting) => `-c ${setting}`).join(' ')
    const { stdout } = await run(program(), [...always, ...definitions, ...args, pathname.slice(1)], {
      env: { ...process.env, PGOPTIONS: options },
    })
    const failed = /number of failed transactions: (\d+)/.exec(stdout)?.[1]
    if (failed !== undefined && failed !== '0') throw new Error(`pgbench: ${failed} transactions failed`)
    return stdout
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function program(): string {
  const debian = '/usr/lib/postgresql/15/bin/pgbench'
  return existsSync(debian) ? debian : 'pgbench'
}
