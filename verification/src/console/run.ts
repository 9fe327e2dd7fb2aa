import { execFile } from 'node:child_process'

export interface RunOptions {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
}

/** Runs a program and returns its stdout. Rejects with its output if it fails. */
export function run(
  program: string,
  args: readonly string[],
  { cwd, env = {} }: RunOptions,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 }
    execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout)
      reject(new Error(`${program} ${args.join(' ')}: ${error.message}\n${stdout}${stderr}`.slice(0, 20_000)))
    })
  })
}
