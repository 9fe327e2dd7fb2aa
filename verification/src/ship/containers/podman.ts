import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Stoppable } from '../../check.ts'
import { installed } from '../programs.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const programs = ['podman', 'buildah', 'mmdebstrap', 'runc', 'catatonit']

/** How the image must run: with a read-only root and without privileges. */
const containerOptions = [
  '--network=host',
  '--read-only',
  '--cap-drop=all',
  '--security-opt=no-new-privileges',
  '--memory=512m',
]

/** Why this machine cannot build and run images, or undefined if it can. */
export function whyNoContainers(): string | undefined {
  const missing = programs.filter((name) => installed(name) === undefined)
  if (missing.length > 0) return `no ${missing.join(', ')} here`
  if (process.getuid?.() !== 0) return 'not root'
  const podman = new Podman()
  try {
    return podman.whyNotStarting()
  } finally {
    podman.clean()
  }
}

/** An overlay cannot be the upper layer of another one, for example if this machine is itself a container. */
function isOverlay(folder: string): boolean {
  return statfsSync(folder).type === 0x794c7630
}

/** Podman and buildah with their own storage in a temporary folder: no image or container of the machine is touched. */
export class Podman implements Stoppable {
  readonly folder: string
  /** Makes podman, buildah and podman-compose use the storage and the settings of this folder. */
  readonly environment: Readonly<Record<string, string>>

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'quartermaster-podman-'))
    this.environment = {
      CONTAINERS_STORAGE_CONF: join(this.folder, 'storage.conf'),
      CONTAINERS_CONF: join(this.folder, 'containers.conf'),
      // Podman has systemd run health checks. Without systemd it prints an error for each container.
      DISABLE_HC_SYSTEMD: 'true',
    }
    // The default limits of Podman are higher than those that the machine may permit.
    writeFileSync(
      join(this.folder, 'containers.conf'),
      `[containers]
default_ulimits = ["nofile=20000:20000", "nproc=30000:30000"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = "${this.folder}/tmp"
`,
    )
    writeFileSync(
      join(this.folder, 'storage.conf'),
      `[storage]
driver = "${isOverlay(this.folder) ? 'vfs' : 'overlay'}"
graphroot = "${this.folder}/storage"
runroot = "${this.folder}/run"
`,
    )
    process.once('exit', () => this.clean())
  }

  /** Tries to use namespaces and mounts, and to start an empty pod. Returns the error if something is not permitted here. */
  whyNotStarting(): string | undefined {
    const attempts = [
      ['unshare', '--mount', '--pid', '--fork', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'],
      ['podman', 'pod', 'create', '--network=host', '--name=empty'],
      ['podman', 'pod', 'start', 'empty'],
    ] as const
    for (const [program, ...args] of attempts) {
      const { status, stderr } = spawnSync(program, args, { env: this.#allVariables(), encoding: 'utf8' })
      if (status !== 0) return `no containers here: ${stderr.trim().split('\n').at(-1)}`
    }
    return undefined
  }

  /** Runs podman and returns its stdout. */
  run(...args: readonly string[]): Promise<string> {
    return this.#output('podman', args)
  }

  /** Runs a script of the checkout, whose buildah uses this storage. */
  script(
    path: string,
    args: readonly string[],
    variables: Readonly<Record<string, string>>,
  ): Promise<string> {
    return this.#output('bash', [join(root, path), ...args], variables)
  }

  /** Runs commands in the checkout, whose podman and buildah use this storage. */
  bash(commands: string, variables: Readonly<Record<string, string>>): Promise<string> {
    return this.#output('bash', ['-euc', commands], variables)
  }

  /** The arguments of `podman run` for a container of this image with these settings. */
  containerArguments(image: string, settings: Readonly<Record<string, string>>): string[] {
    const variables = Object.entries(settings).map(([name, value]) => `--env=${name}=${value}`)
    return [...containerOptions, ...variables, image]
  }

  async stop(): Promise<void> {
    this.clean()
  }

  /** Synchronous, because it also runs when the process exits. */
  clean(): void {
    if (!existsSync(this.folder)) return
    for (const kind of [['pod'], []]) {
      const args = [...kind, 'rm', '--all', '--force', '--time=0']
      spawnSync('podman', args, { env: this.#allVariables(), stdio: 'ignore' })
    }
    const mounts = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .flatMap((line) => line.split(' ')[1] ?? [])
    for (const mount of mounts.filter((path) => path.startsWith(`${this.folder}/`)).toReversed())
      spawnSync('umount', ['--lazy', mount], { stdio: 'ignore' })
    rmSync(this.folder, { recursive: true, force: true })
  }

  #allVariables(): NodeJS.ProcessEnv {
    return { ...process.env, ...this.environment }
  }

  #output(
    program: string,
    args: readonly string[],
    variables: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const env = { ...this.#allVariables(), ...variables }
    return new Promise((resolve, reject) => {
      execFile(program, args, { cwd: root, env, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
        if (error === null) resolve(stdout)
        else reject(new Error(`${program} ${args.join(' ')}:\n${stdout}${stderr}`, { cause: error }))
      })
    })
  }
}
