import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pack } from '../../../.ci/pack.ts'
import { type Context, type Stoppable, shared } from '../check.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

export const tsc7 = join(root, 'node_modules/typescript/bin/tsc')
/** Run as a program, because its JavaScript API sets NODE_ENV=production in this process. */
export const vite = join(root, 'node_modules/vite/bin/vite.js')
export const tsc59 = join(root, 'verification/node_modules/typescript/bin/tsc')

/** The archive that `npm run pack` creates of the client, and empty projects that install it. */
export class Packed implements Stoppable {
  readonly #folder: string
  readonly #archive: string

  private constructor(folder: string, archive: string) {
    this.#folder = folder
    this.#archive = archive
  }

  static async create(context: Context): Promise<Packed> {
    context.log('packing the client')
    const folder = mkdtempSync(join(tmpdir(), 'quartermaster-packed-'))
    const [archive = ''] = pack(['client'], folder)
    return new Packed(folder, archive)
  }

  /** Creates a folder with these files and installs the package into it, without network access. */
  async project(name: string, files: Readonly<Record<string, string>>): Promise<string> {
    const folder = join(this.#folder, name)
    mkdirSync(folder)
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
    await output(
      'npm',
      ['install', '--silent', '--offline', '--no-audit', '--no-fund', this.#archive],
      folder,
    )
    return folder
  }

  /** Installs a runtime other than Node for this run only: each is larger than all dependencies of the project. */
  async runtime(version: 'deno@2' | 'bun@1'): Promise<string> {
    const name = version.slice(0, version.indexOf('@'))
    const folder = join(this.#folder, `runtime-${name}`)
    mkdirSync(folder)
    writeFileSync(join(folder, 'package.json'), '{"private":true}')
    await output('npm', ['install', '--silent', '--no-audit', '--no-fund', version], folder)
    return join(folder, 'node_modules/.bin', name)
  }

  async stop(): Promise<void> {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

export const packed = shared((context) => Packed.create(context))

/** Runs a program and returns its stdout. If it fails, the error contains all of its output. */
export function output(program: string, args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { cwd }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(new Error(`${program} ${args.join(' ')}:\n${stdout}${stderr}`, { cause: error }))
    })
  })
}
