import { chmodSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { attempt, removeNetwork } from './network.ts'

const prefix = 'quartermaster-chaos-'

/** Creates the folder of a run, and names the process that must remove it. */
export function createRunFolder(suffix: string): string {
  const folder = join(tmpdir(), prefix + suffix)
  mkdirSync(folder)
  // The user postgres must be able to enter it.
  chmodSync(folder, 0o755)
  writeFileSync(join(folder, 'owner'), `${process.pid} ${startOf(process.pid)}`)
  return folder
}

/** Removes the network of a run with all its processes, its file systems and its folder. */
export function removeRun(suffix: string): void {
  const folder = join(tmpdir(), prefix + suffix)
  removeNetwork(suffix)
  for (const disk of globSync(join(folder, '*/disk'))) attempt('umount', '-l', disk)
  rmSync(folder, { recursive: true, force: true })
}

/** Removes what runs have left behind that were killed before they could. */
export function removeAbandonedRuns(): void {
  for (const folder of globSync(join(tmpdir(), `${prefix}*`))) {
    const owner = join(folder, 'owner')
    const [pid = '', start] = existsSync(owner) ? readFileSync(owner, 'utf8').split(' ') : []
    if (start !== undefined && startOf(Number(pid)) !== start)
      removeRun(basename(folder).slice(prefix.length))
  }
}

/** When the process was started: together with its id, this identifies it. */
function startOf(pid: number): string {
  const file = `/proc/${pid}/stat`
  if (!existsSync(file)) return ''
  const afterName = readFileSync(file, 'utf8').split(') ').at(-1) ?? ''
  return afterName.split(' ')[19] ?? ''
}
