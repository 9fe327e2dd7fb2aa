import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../../acceptance', import.meta.url))

/**
 * Runs the acceptance tests on a database that is migrated already. Without `files`, all of them. Failed tests are not repeated as
 * by `.ci/suite`: the database has their accounts.
 */
export function runAcceptanceTests(
  databaseUrl: string,
  files: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ readonly output: string; readonly code: number | null }> {
  const child = spawn('npm', ['run', '--silent', 'once', '--', ...files], {
    cwd: folder,
    env: { ...process.env, ACCEPTANCE_DATABASE_URL: databaseUrl, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  return new Promise((resolve) => child.once('close', (code) => resolve({ output, code })))
}
