import { execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

export interface ThrowawayPostgres {
  /** As its superuser; the database `postgres`. */
  readonly url: string
  readonly folder: string
  stop(): Promise<void>
}

/**
 * Starts a PostgreSQL of its own in a new folder on a free port. It ends, and its folder goes, with `stop` or with
 * this process, however that ends: a shell in between waits for the pipe to close.
 */
export async function startThrowawayPostgres(
  settings: Record<string, string> = {},
): Promise<ThrowawayPostgres> {
  const bin = postgresBinaries()
  const owner = serverUser()
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-postgres-'))
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid ?? owner.uid)
  const data = join(folder, 'data')
  try {
    execFileSync(
      join(bin, 'initdb'),
      ['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8', '--no-sync'],
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
    // A group of its own: Ctrl-C ends the service first, and then the database under it.
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
    await accepting(url, join(folder, 'log'))
  } catch (error) {
    await stop()
    throw error
  }
  shell.unref()
  return { url, folder, stop }
}

/** A database of its own beside the one `url` names, made from `template`. */
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
  const other = new URL(url)
  other.pathname = `/${name}`
  return other.href
}

/** A PostgreSQL on PATH comes first, so that whoever has several can choose; Debian installs its own off PATH. */
export function postgresBinaries(): string {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian)
    ? readdirSync(debian)
        .filter((v) => Number(v) >= 15)
        .toSorted((a, b) => Number(a) - Number(b))
        .map((v) => join(debian, v, 'bin'))
    : []
  const candidates = [...(process.env['PATH'] ?? '').split(delimiter), ...versions]
  const found = candidates.find((folder) =>
    ['postgres', 'initdb'].every((name) => existsSync(join(folder, name))),
  )
  if (found === undefined) {
    throw new Error(
      'No PostgreSQL 15 or later was found on this machine. Install it (Debian: apt-get install postgresql), ' +
        'or set DATABASE_URL to one that runs elsewhere.',
    )
  }
  return found
}

/** PostgreSQL refuses to run as root: Debian's user `postgres` runs it then. */
export function serverUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  return { uid: idOfPostgres('-u'), gid: idOfPostgres('-g') }
}

function idOfPostgres(flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
}

/** A port that nobody listened on a moment ago. */
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

async function accepting(url: string, log: string): Promise<void> {
  const until = Date.now() + 30_000
  for (;;) {
    const client = new pg.Client(url)
    try {
      await client.connect()
      await client.end()
      return
    } catch (error) {
      if (Date.now() > until) {
        throw new Error(`PostgreSQL did not start:\n${readFileSync(log, 'utf8').slice(-2000)}`, {
          cause: error,
        })
      }
      await sleep(50)
    }
  }
}
