import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installed } from '../../ship/programs.ts'
import { attempt, rateLimit, run } from './network.ts'

const tools = fileURLToPath(new URL('../../../../.tools/', import.meta.url))
const python = '/usr/bin/python3'

/** The program that is needed, and the Debian package that has it. */
const programs: Readonly<Record<string, string>> = {
  etcd: 'etcd-server',
  catatonit: 'catatonit',
  haproxy: 'haproxy',
  'redis-server': 'redis-server',
  faketime: 'faketime',
  iptables: 'iptables',
  ip: 'iproute2',
  tc: 'iproute2',
  pgrep: 'procps',
  setpriv: 'util-linux',
  mount: 'mount',
  strace: 'strace',
  curl: 'curl',
}
/** The Python modules that Patroni imports, and their packages. */
const modules: Readonly<Record<string, string>> = {
  cdiff: 'python3-cdiff',
  etcd: 'python3-etcd',
  psycopg2: 'python3-psycopg2',
  click: 'python3-click',
  dateutil: 'python3-dateutil',
  prettytable: 'python3-prettytable',
  psutil: 'python3-psutil',
  urllib3: 'python3-urllib3',
  yaml: 'python3-yaml',
}

/** A machine without a network must not wait for minutes. */
const fromNetwork = ['-o', 'Acquire::Retries=1', '-o', 'Acquire::http::Timeout=15']
const installMsMax = 180_000

/** Installs what is missing. Returns why the cluster cannot be built on this machine, or undefined if it can. */
export function prepareMachine(): string | undefined {
  if (process.getuid?.() !== 0) return 'not root, so no network namespaces'
  // Debian has these programs in folders that the PATH of a shell may lack.
  process.env['PATH'] = [process.env['PATH'], '/usr/sbin', '/sbin', '/usr/bin', '/bin'].join(delimiter)
  const missing = missingPackages()
  if (missing.length > 0) installPackages(missing)
  const stillMissing = missing.length > 0 ? missingPackages() : []
  if (stillMissing.length > 0) return `no ${stillMissing.join(', ')}`
  if (!existsSync('/usr/lib/postgresql/15/bin/postgres')) return 'no PostgreSQL 15'
  const forbidden = forbiddenHere()
  if (forbidden !== undefined) return `${forbidden} is not allowed`
  if (!existsSync(join(tools, 'patroni4')) && !downloadPatroni()) return 'no Patroni 4'
  verifyPatroni()
  return undefined
}

/** Throws if a program of Patroni does not start, as without a module that it imports: this is no property of the machine. */
function verifyPatroni(): void {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-patroni-'))
  try {
    installPatroni(folder)
    run(join(folder, 'patroni'), '--version')
    run(join(folder, 'patronictl'), 'version')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function missingPackages(): string[] {
  const absent = Object.entries(programs).filter(([program]) => installed(program) === undefined)
  const importable = Object.entries(modules).filter(
    ([name]) => spawnSync(python, ['-c', `import ${name}`], { stdio: 'ignore' }).status !== 0,
  )
  return [...new Set([...absent, ...importable].map(([, debian]) => debian))]
}

function installPackages(names: readonly string[]): void {
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const apt = (...args: readonly string[]) =>
    spawnSync('apt-get', ['-q', '-y', ...fromNetwork, ...args], {
      env: environment,
      stdio: 'ignore',
      timeout: installMsMax,
    }).status === 0
  const install = () => apt('install', '--no-install-recommends', ...names)
  if (!install() && apt('update')) install()
}

/** What the machine does not permit, as in many containers. */
function forbiddenHere(): string | undefined {
  const name = `qmctry${process.pid}`
  const link = `qmctry${process.pid}v`
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-try-'))
  const works = (program: string, ...args: readonly string[]) =>
    spawnSync(program, args, { stdio: 'ignore' }).status === 0
  try {
    if (!works('ip', 'netns', 'add', name)) return 'a network namespace'
    const inside = (...command: readonly string[]) => works('ip', 'netns', 'exec', name, ...command)
    if (!inside('true')) return 'a process in a network namespace'
    if (!inside('iptables', '-w', '-A', 'INPUT', '-s', '192.0.2.1', '-j', 'DROP'))
      return 'iptables in a network namespace'
    if (!works('ip', 'link', 'add', name, 'type', 'bridge')) return 'a bridge'
    if (!works('ip', 'link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name))
      return 'a virtual network interface'
    if (!works('tc', 'qdisc', 'add', 'dev', link, ...rateLimit(256)))
      return 'limiting the rate of an interface'
    if (!works('mount', '-t', 'tmpfs', 'tmpfs', folder)) return 'mounting a file system'
    return undefined
  } finally {
    attempt('umount', folder)
    attempt('ip', 'link', 'del', link)
    attempt('ip', 'link', 'del', name)
    attempt('ip', 'netns', 'del', name)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Debian 12 has Patroni 3.0, which can lose acknowledged writes. The package of Debian 13 runs with the Python of Debian 12, too. */
function downloadPatroni(): boolean {
  const folder = join(tools, 'patroni4.part')
  const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'
  const options = [
    `Dir::Etc::sourcelist=${folder}/sources.list`,
    'Dir::Etc::sourceparts=-',
    `Dir::State::lists=${folder}/lists`,
    `Dir::Cache=${folder}/cache`,
    'APT::Sandbox::User=root',
  ].flatMap((option) => ['-o', option])
  const apt = (...args: readonly string[]) =>
    spawnSync('apt-get', ['-q', ...fromNetwork, ...options, ...args], {
      cwd: folder,
      stdio: 'ignore',
      timeout: installMsMax,
    })
  try {
    rmSync(folder, { recursive: true, force: true })
    for (const name of ['lists/partial', 'cache/archives/partial'])
      mkdirSync(join(folder, name), { recursive: true })
    writeFileSync(join(folder, 'sources.list'), `deb [signed-by=${keyring}] ${mirror()} trixie main\n`)
    apt('update')
    apt('download', 'patroni')
    const [file] = globSync('patroni_4*.deb', { cwd: folder })
    if (file === undefined) return false
    run('dpkg', '-x', join(folder, file), join(folder, 'x'))
    renameSync(join(folder, 'x/usr/lib/python3/dist-packages'), join(tools, 'patroni4'))
    return true
  } catch {
    return false
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function mirror(): string {
  const files = globSync(['/etc/apt/sources.list', '/etc/apt/sources.list.d/*.{list,sources}'])
  const texts = files.map((file) => readFileSync(file, 'utf8')).join('\n')
  return /https?:\/\/\S+\/debian\/?(?=\s|$)/m.exec(texts)?.[0] ?? 'http://deb.debian.org/debian'
}

/** Writes `patroni` and `patronictl` into the folder, from where the user postgres can run them. */
export function installPatroni(folder: string): void {
  cpSync(join(tools, 'patroni4'), join(folder, 'patroni4'), { recursive: true })
  for (const [name, module] of [
    ['patroni', 'patroni'],
    ['patronictl', 'patroni.ctl'],
  ] as const) {
    const start = module === 'patroni' ? '-m patroni' : `-c 'from patroni.ctl import ctl; ctl()'`
    writeFileSync(
      join(folder, name),
      `#!/bin/sh\nPYTHONPATH='${folder}/patroni4' exec ${python} ${start} "$@"\n`,
    )
    chmodSync(join(folder, name), 0o755)
  }
  run('chmod', '-R', 'a+rX', join(folder, 'patroni4'))
}
