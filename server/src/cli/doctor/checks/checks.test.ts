import { describe, expect, test } from 'vitest'
import { type DatabaseFacts, judgeDatabase } from './database.ts'
import { judgeExtension } from './extensions.ts'
import { type TallyCount, tallyFaults } from './tally-count.ts'

// What a real PostgreSQL of today cannot be made to show is judged from its facts; the rest is in server/test.

const good: DatabaseFacts = {
  name: 'erp',
  version: 150_004,
  shown: '15.4',
  encoding: 'UTF8',
  ctype: 'C.UTF-8',
  folds: true,
  standby: false,
  connections: 97,
}

function faults(context: Partial<DatabaseFacts>, pool = 16) {
  const findings = judgeDatabase({ ...good, ...context }, pool)
  return findings.filter(({ status }) => status === 'problem').map(({ message, repair }) => [message, repair])
}

describe('a database', () => {
  test('as it should be has no fault', () => {
    expect(faults({})).toEqual([])
  })

  test('of PostgreSQL 14 is too old', () => {
    expect(faults({ version: 140_011, shown: '14.11' })).toEqual([
      ['PostgreSQL is 14.11; 15 or later is needed.', 'Upgrade with pg_upgrade, or use another server.'],
    ])
  })

  test('that is a standby takes no writes', () => {
    expect(faults({ standby: true })).toEqual([
      ['It is a standby: nothing can be written there.', 'Set the URL to the primary.'],
    ])
  })

  test('with fewer connections than a process may make', () => {
    expect(faults({ connections: 17 }, 10)).toEqual([
      [
        'A process that serves may make 27 connections; PostgreSQL has 17.',
        'Set DATABASE_POOL_MAX to 5 or less, or raise max_connections.',
      ],
    ])
  })
})

describe('an extension', () => {
  const missing = { name: 'pg_trgm', installed: false }

  test('that the server does not have is named with its package', () => {
    const finding = judgeExtension({ ...missing, available: false }, false)
    expect(finding.status).toBe('problem')
    expect(finding.repair).toContain('apt-get install postgresql-contrib')
    expect(finding.repair).toContain('create extension pg_trgm;')
  })

  test('that was dropped is to be made again', () => {
    expect(judgeExtension({ ...missing, available: true }, true)).toMatchObject({
      status: 'problem',
      repair: 'create extension pg_trgm;',
    })
  })

  test('that the first migration will make is right', () => {
    expect(judgeExtension({ ...missing, available: true }, false).status).toBe('ok')
  })
})

describe('a tally', () => {
  const tally: TallyCount = {
    resource: 'product',
    version: 4,
    total: 3,
    last_id: 7,
    counted: 3,
    max_id: 7,
    max_version: 4,
  }

  test.each<[string, Partial<TallyCount>, string[]]>([
    ['that agrees is right', {}, []],
    ['may be ahead of ids and versions', { last_id: 9, version: 8 }, []],
    ['with another total', { total: 2 }, ['total is 2, there are 3 records']],
    ['with a last id that is behind', { last_id: 6 }, ['last_id is 6, the highest id is 7']],
    ['with a version that is behind', { version: 3 }, ['version is 3, a record has 4']],
    ['that is not there', { version: null, total: null, last_id: null }, ['there is no tally']],
  ])('%s', (_name, change, expected) => {
    expect(tallyFaults({ ...tally, ...change })).toEqual(expected)
  })
})
