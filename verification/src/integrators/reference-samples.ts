import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Context } from '../check.ts'

export interface Sample {
  readonly lang: string
  readonly label: string
  readonly source: string
}

const client = fileURLToPath(new URL('../../../client/', import.meta.url))

/** Runs every sample unchanged, in an empty folder, with only the environment variables that the reference names, after `before`. */
export async function runSamples(
  context: Context,
  samples: readonly Sample[],
  folder: string,
  environment: Readonly<Record<string, string>>,
  before: () => Promise<void>,
): Promise<{ count: number; faults: string[] }> {
  const built = await run('npm', ['run', '--silent', 'build'], client, {})
  if (built !== undefined) throw new Error(`The client cannot be built: ${built}`)
  const faults: string[] = []
  const progress = context.progress('samples', samples.length)
  for (const sample of samples) {
    await before()
    const fault = await runOne(sample, folder, environment)
    if (fault !== undefined) faults.push(`${sample.label}:\n${sample.source}\n${fault}`)
    progress.step()
  }
  progress.end()
  return { count: samples.length, faults }
}

function runOne(
  { lang, source }: Sample,
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const cwd = mkdtempSync(join(folder, 'sample-'))
  if (lang === 'Shell') return run('bash', ['-euc', source], cwd, environment)
  mkdirSync(join(cwd, 'node_modules/@quartermaster'), { recursive: true })
  symlinkSync(client, join(cwd, 'node_modules/@quartermaster/client'))
  writeFileSync(join(cwd, 'sample.mts'), source)
  return run(process.execPath, ['sample.mts'], cwd, environment)
}

/** Returns the error and the output if the program fails, otherwise undefined. */
function run(
  program: string,
  args: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const env = { PATH: process.env['PATH'] ?? '', HOME: cwd, ...environment }
    execFile(program, args, { cwd, env, timeout: 300_000 }, (error, stdout, stderr) => {
      resolve(error === null ? undefined : `${error.message}\n${stdout}${stderr}`)
    })
  })
}
