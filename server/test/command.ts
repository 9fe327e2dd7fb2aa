import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const bin = fileURLToPath(new URL('../bin/quartermaster.js', import.meta.url))

export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export type Environment = Readonly<Record<string, string>>

/** Tests start hundreds of commands: this halves the CPU time of each. */
const compileCache = fileURLToPath(new URL('../../node_modules/.cache/commands', import.meta.url))

/** The environment of a command: PATH and these settings, nothing else of this process. */
export function environmentWith(settings: Environment): Record<string, string> {
  const { PATH = '' } = process.env
  return { PATH, NO_COLOR: '1', NODE_COMPILE_CACHE: compileCache, ...settings }
}

/** Runs `quartermaster` as a process with this standard input, and waits for its end. */
export function quartermaster(
  args: readonly string[],
  settings: Environment,
  input?: string,
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [bin, ...args],
      { env: environmentWith(settings) },
      (error, stdout, stderr) => {
        resolve({
          code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1,
          stdout,
          stderr,
        })
      },
    )
    if (input !== undefined) child.stdin?.end(input)
  })
}
