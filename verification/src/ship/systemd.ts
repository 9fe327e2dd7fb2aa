import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Check } from '../check.ts'
import { requiring } from './programs.ts'

const units = fileURLToPath(new URL('../../../deploy/systemd/', import.meta.url))
const program = fileURLToPath(new URL('../../../server/bin/quartermaster.js', import.meta.url))
const run = promisify(execFile)

/** systemd's own scale is 0 (isolated) to 10 (unsafe). What remains is the network, which the service needs. */
const exposureMax = 2

/** systemd accepts the units, and rates them as well isolated. */
export const systemdUnits: Check = requiring(['systemd-analyze'], {
  name: 'systemd_units',
  bound: `valid, exposure ≤ ${exposureMax}`,
  async run() {
    const folder = mkdtempSync(join(tmpdir(), 'quartermaster-units-'))
    try {
      const names = readdirSync(units).filter((name) => name.endsWith('.service'))
      // systemd-analyze verifies that the program exists.
      for (const name of names) {
        const text = readFileSync(join(units, name), 'utf8')
        writeFileSync(join(folder, name), text.replaceAll('/usr/local/bin/quartermaster', program))
      }
      const files = names.map((name) => join(folder, name))
      const { stderr: warnings } = await run('systemd-analyze', ['verify', ...files])
      const exposures = await Promise.all(files.map(exposureOf))
      return {
        value: `${names.length} units, ${exposures.join(' and ')}`,
        ok: names.length === 2 && warnings === '' && exposures.every((exposure) => exposure <= exposureMax),
        note: warnings,
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
})

async function exposureOf(file: string): Promise<number> {
  const { stdout } = await run('systemd-analyze', ['security', '--offline=true', '--no-pager', file])
  const found = /Overall exposure level[^:]*: ([\d.]+)/.exec(stdout)?.[1]
  if (found === undefined) throw new Error(`systemd-analyze printed no exposure level:\n${stdout}`)
  return Number(found)
}
