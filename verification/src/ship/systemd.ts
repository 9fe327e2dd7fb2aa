import { execFile } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { documented } from '../../../architecture/documented.ts'
import type { Check } from '../check.ts'

const deploy = fileURLToPath(new URL('../../../deploy/', import.meta.url))
const program = fileURLToPath(new URL('../../../server/bin/quartermaster.js', import.meta.url))
const run = promisify(execFile)

/** systemd's own scale is 0 (isolated) to 10 (unsafe). What remains is the network, which the service needs. */
const exposureMax = 2

/** systemd accepts the units, and rates them as well isolated. */
export const systemdUnits: Check = {
  name: 'systemd_units',
  needs: ['systemd-analyze'],
  bound: `valid, exposure ≤ ${exposureMax}`,
  async run() {
    const folder = mkdtempSync(join(tmpdir(), 'quartermaster-units-'))
    try {
      const installedUnits = join(folder, 'etc/systemd/system')
      const warnings = await install(folder, installedUnits)
      const names = readdirSync(installedUnits)
      const files = names.map((name) => join(installedUnits, name))
      const exposures = await Promise.all(files.map(exposureOf))
      return {
        value: `${names.length} units, ${exposures.join(' and ')}`,
        samples: names.length,
        ok: names.length === 2 && warnings === '' && exposures.every((exposure) => exposure <= exposureMax),
        note: warnings,
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

/** Runs the commands of deploy/README.md with another root folder. Returns the warnings of `systemd-analyze verify`. */
async function install(folder: string, installedUnits: string): Promise<string> {
  const copy = join(folder, 'deploy')
  cpSync(join(deploy, 'systemd'), join(copy, 'systemd'), { recursive: true })
  mkdirSync(installedUnits, { recursive: true })
  // systemd-analyze verifies that the program exists.
  for (const name of readdirSync(join(copy, 'systemd'))) {
    const file = join(copy, 'systemd', name)
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replaceAll('ExecStart=/opt/', `ExecStart=${folder}/opt/`))
  }
  const bin = join(folder, 'opt/quartermaster/0.1.0/node_modules/.bin')
  mkdirSync(bin, { recursive: true })
  symlinkSync(program, join(bin, 'quartermaster'))
  const inFolder = (block: string) => block.replaceAll(/(^| )\/(etc|opt)\//gm, `$1${folder}/$2/`)
  await run('bash', ['-ec', inFolder(documented('systemd-current'))])
  const commands = inFolder(documented('systemd-install'))
  const env = { ...process.env, DATABASE_URL: 'postgres://login', DATABASE_OWNER_URL: 'postgres://owner' }
  const { stderr } = await run('bash', ['-ec', commands], { cwd: copy, env })
  for (const [name, url] of Object.entries({ 'database-url': 'login', 'database-owner-url': 'owner' })) {
    const file = join(folder, 'etc/quartermaster', name)
    const mode = (statSync(file).mode & 0o777).toString(8)
    if (mode !== '600' || readFileSync(file, 'utf8') !== `postgres://${url}\n`)
      throw new Error(`${file} has mode ${mode} and contains ${readFileSync(file, 'utf8')}`)
  }
  return stderr
}

async function exposureOf(file: string): Promise<number> {
  const { stdout } = await run('systemd-analyze', ['security', '--offline=true', '--no-pager', file])
  const found = /Overall exposure level[^:]*: ([\d.]+)/.exec(stdout)?.[1]
  if (found === undefined) throw new Error(`systemd-analyze printed no exposure level:\n${stdout}`)
  return Number(found)
}
