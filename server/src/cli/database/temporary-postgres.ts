import { execFileSync, spawn } from 'node:child_process'
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { majorVersion, postgresBinaries } from './find-postgres.ts'

export interface TemporaryPostgres {
  /** Connects as superuser to the database `postgres`. */
  readonly url: string
  readonly folder: string
  stop(): Promise<void>
}

/**
 * Starts a temporary PostgreSQL in a new folder on a free port. It is stopped and its folder deleted by `stop`, or when
 * this process ends, even if it is killed: a shell waits for the pipe to close, and then cleans up.
 */
export async function startTemporaryPostgres(
  settings: Record<string, string> = {},
  bin = postgresBinaries(),
): Promise<TemporaryPostgres> {
  const owner = serverUser()
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-postgres-'))
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid ?? owner.uid)
  const data = join(folder, 'data')
  const locale = localeOptions(process.platform, majorVersion(bin))
  try {
    execFileSync(
      join(bin, 'initdb'),
      ['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--no-sync', ...locale],
      { ...owner, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
    )
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
  const port = await freePort()
  const options = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder,
    ...settings,
  }
  const script =
    'folder=$1; shift; "$@" >"$folder/log" 2>&1 </dev/null & server=$!; cat >/dev/null; ' +
    'kill -INT $server; wait $server; rm -rf "$folder"'
  const shell = spawn(
    'sh',
    [
      '-c',
      script,
      'sh',
      folder,
      join(bin, 'postgres'),
      '-D',
      data,
      ...Object.entries(options).flatMap(([k, v]) => ['-c', `${k}=${v}`]),
    ],
    // In its own process group, so that Ctrl-C stops the service first, and then its database.
    { ...owner, cwd: folder, detached: true, stdio: ['pipe', 'ignore', 'ignore'] },
  )
  const ended = new Promise<void>((resolve) => shell.once('exit', () => resolve()))
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const stop = async () => {
    shell.ref()
    shell.stdin.end()
    await ended
  }
  try {
    await untilAccepting(url, join(folder, 'log'))
  } catch (error) {
    await stop()
    throw error
  }
  shell.unref()
  return { url, folder, stop }
}

/** Creates the database `name` from `template`, on the server of `url`. */
export async function cloneDatabase(url: string, name: string, template: string): Promise<string> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    await client.query(
      `create database ${client.escapeIdentifier(name)} template ${client.escapeIdentifier(template)}`,
    )
  } finally {
    await client.end()
  }
  return databaseUrl(url, name)
}

export function databaseUrl(url: string, name: string): string {
  const result = new URL(url)
  result.pathname = `/${name}`
  return result.href
}

/** PostgreSQL refuses to run as root, so root starts it as the user `postgres` of its package, or else as `nobody`. */
export function serverUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const user = userNamed('postgres') ?? userNamed('nobody')
  if (user !== undefined) return user
  throw new Error(
    'PostgreSQL does not run as root, and there is no user postgres or nobody to run it as. ' +
      'Run this command as another user, or set DATABASE_URL to an existing server.',
  )
}

function userNamed(name: string): { uid: number; gid: number } | undefined {
  const id = (flag: '-u' | '-g') =>
    Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }))
  try {
    return { uid: id('-u'), gid: id('-g') }
  } catch {
    return undefined
  }
}

/** A locale that sorts by bytes and folds the case of all letters. macOS has no C.UTF-8; PostgreSQL 17 has its own. */
export function localeOptions(platform: string, major: number): string[] {
  if (platform !== 'darwin') return ['--locale=C.UTF-8']
  return major >= 17
    ? ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
    : ['--locale=C', '--lc-ctype=UTF-8']
}

/** A port that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}

async function untilAccepting(url: string, log: string): Promise<void> {
  const deadline = Date.now() + 60_000
  for (;;) {
    const client = new pg.Client(url)
    try {
      await client.connect()
      await client.end()
      return
    } catch (error) {
      if (Date.now() > deadline) {
        throw new Error(`PostgreSQL did not start:\n${readFileSync(log, 'utf8').slice(-2000)}`, {
          cause: error,
        })
      }
      await sleep(50)
    }
  }
}
