import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { limits } from '../server/src/limits/limits.ts'
import { defaultLimits, type Limits } from '../server/src/limits/passed-limits.ts'

/** A limit that a test passes to the service is the one that the service uses, everywhere. */

const source = fileURLToPath(new URL('../server/src/', import.meta.url))
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith('limits/'),
)

/** The only files that read the defaults. */
const readers = [
  // Start a process, and pass the limits to its parts.
  'cli/operator-api/operator-service.ts',
  'delivery-service.ts',
  'service.ts',
  // Commands that are processes of their own. `doctor` counts the connections of services with the defaults.
  'cli/commands/changes-command.ts',
  'cli/commands/erase-command.ts',
  'cli/commands/webhook-command.ts',
  'cli/doctor/checks/database.ts',
  'cli/doctor/checks/replicas.ts',
  'citus/distribute.ts',
  // The admin port, which receives no request of a client.
  'http/admin-server.ts',
]

it('a limit is either a constant or passed', () => {
  expect(Object.keys(defaultLimits).filter((name) => name in limits)).toEqual([])
})

it('a constant cannot be passed, and a passed limit cannot be read as a constant', () => {
  // @ts-expect-error: otherwise a test could pass it without any effect
  const constant: Partial<Limits> = { pageRecordsMax: 1 }
  // @ts-expect-error: otherwise a part could ignore what a test passes
  expect(limits.writeMsMax).toBeUndefined()
  expect(constant).toBeDefined()
})

it('only what starts a process reads the defaults', () => {
  const found = files.filter((file) => readFileSync(join(source, file), 'utf8').includes('defaultLimits'))
  expect(found.toSorted()).toEqual(readers.toSorted())
})
