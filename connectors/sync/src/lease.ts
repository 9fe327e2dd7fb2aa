import { closeSync, openSync, readFileSync, rmSync, statSync, utimesSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const beatMs = 5_000
/** Longer than the longest pause of a process that is alive. */
const staleMs = 30_000
const settleMs = 100

/** At most one connector runs with a state file. The lease of one that was killed ends with its process, or after 30 s. */
export class Lease {
  readonly #path: string
  readonly #timer: NodeJS.Timeout

  private constructor(path: string) {
    this.#path = path
    this.#timer = setInterval(() => this.#beat(), beatMs)
    this.#timer.unref()
  }

  static async take(path: string, signal: AbortSignal, onWait: (holder: string) => void): Promise<Lease> {
    for (let waited = false; ; waited = true) {
      if (isFree(path)) rmSync(path, { force: true })
      try {
        const file = openSync(path, 'wx', 0o600)
        writeSync(file, String(process.pid))
        closeSync(file)
        // Two may have removed the file of the same dead process, the second one the new file of the first.
        await sleep(settleMs, undefined, { signal })
        if (holderOf(path) === String(process.pid)) return new Lease(path)
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
      }
      if (!waited) onWait(holderOf(path))
      await sleep(1000, undefined, { signal })
    }
  }

  release(): void {
    clearInterval(this.#timer)
    rmSync(this.#path, { force: true })
  }

  #beat(): void {
    try {
      utimesSync(this.#path, new Date(), new Date())
    } catch {
      // Somebody has removed the file. The next connector takes the lease, and both write the same rows.
    }
  }
}

function isFree(path: string): boolean {
  try {
    const pid = Number(holderOf(path))
    // In a container, the process before this one had the same id.
    return pid === process.pid || !isAlive(pid) || Date.now() - statSync(path).mtimeMs > staleMs
  } catch {
    return false
  }
}

function holderOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function isAlive(pid: number): boolean {
  // Written, but not yet filled.
  if (pid === 0) return true
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
