import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/** How integration tests start and stop what they need: see server/test/at-end.ts. */

const root = fileURLToPath(new URL('..', import.meta.url))
const files = globSync('{server,client}/test/*.test.ts', { cwd: root })
const filesWith = (pattern: RegExp) =>
  files.filter((file) => pattern.test(readFileSync(join(root, file), 'utf8'))).toSorted()

/** The files with a hook that starts something for one group of tests, and why it is not started at the top of the file. */
const startsInHook: Readonly<Record<string, string>> = {
  'server/test/doctor-connections.test.ts':
    'a server with TLS, and one behind PgBouncer if that is installed',
  'server/test/pgbouncer.test.ts': 'a server behind PgBouncer, if that is installed',
  'server/test/roles.test.ts': 'one connection for each role of a table of tests',
  'server/test/tls.test.ts': 'servers of which each group of tests needs one',
}

it('no integration test has a hook that stops what it has started', () => {
  expect(files.length).toBeGreaterThan(60)
  expect(filesWith(/\bafter(?:All|Each)\b/)).toEqual([])
})

it('at most ten integration tests have a hook that starts something, each with a reason', () => {
  expect(filesWith(/\bbeforeAll\b/)).toEqual(Object.keys(startsInHook).toSorted())
  expect(Object.keys(startsInHook).length).toBeLessThanOrEqual(10)
})
