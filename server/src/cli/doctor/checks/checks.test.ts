import { describe, expect, test } from 'vitest'
import { clockFindings } from './clock.ts'
import { type DatabaseProperties, databaseFindings } from './database.ts'
import { extensionFinding } from './extensions.ts'
import { type PatroniState, patroniFindings, type Replication, replicationFindings } from './replication.ts'
import { type TallyCount, tallyFaults } from './tally-count.ts'

// States that a current PostgreSQL cannot be put into. The other tests of doctor are in server/test.

const good: DatabaseProperties = {
  name: 'erp',
  version: 150_004,
  versionText: '15.4',
  encoding: 'UTF8',
  ctype: 'C.UTF-8',
  foldingFault: undefined,
  standby: false,
  connections: 97,
}

function problems(properties: Partial<DatabaseProperties>, max = 16, processes?: number) {
  const findings = databaseFindings({ ...good, ...properties }, { max, processes })
  return findings.filter(({ status }) => status === 'problem').map(({ message, repair }) => [message, repair])
}

describe('a database', () => {
  test('that meets all requirements has no problem', () => {
    expect(problems({})).toEqual([])
  })

  test('of PostgreSQL 14 is too old', () => {
    expect(problems({ version: 140_011, versionText: '14.11' })).toEqual([
      ['PostgreSQL is 14.11; 15 or later is required.', 'Upgrade with pg_upgrade, or use another server.'],
    ])
  })

  test('that is a standby accepts no writes', () => {
    expect(problems({ standby: true })).toEqual([
      ['The server is a standby, which accepts no writes.', 'Set the URL to the primary.'],
    ])
  })

  test('allows fewer connections than a process may open', () => {
    expect(problems({ connections: 17 }, 10)).toEqual([
      [
        'One serving process can open 30 connections; PostgreSQL allows 17.',
        'Set QUARTERMASTER_DATABASE_POOL_MAX to 3 or less, or raise max_connections.',
      ],
    ])
  })

  test('counts the connections of all processes, and of one more during a rolling restart', () => {
    expect(problems({ connections: 90 }, 10, 2)).toEqual([])
    expect(problems({ connections: 97 }, 10, 3)).toEqual([
      [
        '3 serving processes, and one more during a rolling restart, can open 120 connections; PostgreSQL allows 97.',
        'Set QUARTERMASTER_DATABASE_POOL_MAX to 7 or less, or raise max_connections.',
      ],
    ])
    expect(problems({ connections: 17 }, 1, 2).map(([, repair]) => repair)).toEqual([
      'Raise max_connections.',
    ])
  })
})

describe('an extension', () => {
  const missing = { name: 'pg_trgm', installed: false }

  test('that is not available on the server is reported with its package', () => {
    const finding = extensionFinding({ ...missing, available: false }, false)
    expect(finding.status).toBe('problem')
    expect(finding.repair).toContain('apt-get install postgresql-contrib')
    expect(finding.repair).toContain('create extension pg_trgm;')
  })

  test('that was dropped must be created again', () => {
    expect(extensionFinding({ ...missing, available: true }, true)).toMatchObject({
      status: 'problem',
      repair: 'create extension pg_trgm;',
    })
  })

  test('that the first migration will create is ok', () => {
    expect(extensionFinding({ ...missing, available: true }, false).status).toBe('ok')
  })
})

describe('a Patroni cluster', () => {
  const members = ['leader', 'sync_standby', 'replica'].map((role) => ({ role }))
  const config = { ttl: 20, loop_wait: 5, retry_timeout: 5, synchronous_mode: true, failsafe_mode: true }
  const right: PatroniState = { config, cluster: { members }, version: '4.0.6' }
  const replication: Replication = {
    commit: 'on',
    synchronous: '"n2"',
    standbys: 2,
    walSenders: 10,
    patroni: true,
    address: '10.0.0.11',
  }
  const repairs = (change: Partial<PatroniState>) =>
    patroniFindings({ ...right, ...change }).map(({ repair }) => repair)

  test('with the documented settings has no problem', () => {
    expect(patroniFindings(right).map(({ status }) => status)).toEqual(['ok'])
    expect(repairs({ config: { ...config, synchronous_mode: 'quorum' }, version: '4.1.0' })).toEqual([
      undefined,
    ])
    expect(replicationFindings(replication)).toEqual([])
  })

  test.each<[string, Partial<PatroniState>, string[]]>([
    ['of Patroni 3', { version: '3.0.2' }, ['Upgrade Patroni on all nodes, after patronictl pause.']],
    [
      'with the defaults of Patroni',
      { config: {} },
      [
        'patronictl edit-config --set synchronous_mode=true',
        'patronictl edit-config --set failsafe_mode=true',
      ],
    ],
    [
      'with a short ttl',
      { config: { ...config, retry_timeout: 10 } },
      ['patronictl edit-config --set ttl=25'],
    ],
    [
      'with a primary only, paused',
      { cluster: { members: members.slice(0, 1), pause: true } },
      [
        'patronictl list, and start the standbys that are not streaming.',
        'Start the nodes that are down, or add some, so that there are 3.',
        'patronictl resume',
      ],
    ],
  ])('%s', (_name, change, expected) => {
    expect(repairs(change)).toEqual(expected)
  })

  test('needs connections to copy the data to a standby, and commits that wait', () => {
    const findings = replicationFindings({ ...replication, walSenders: 3, commit: 'off' })
    expect(findings.map(({ repair }) => repair)).toEqual([
      'patronictl edit-config --pg synchronous_commit=on',
      'patronictl edit-config --pg max_wal_senders=6',
    ])
  })
})

describe('a tally', () => {
  const tally: TallyCount = {
    resource: 'product',
    version: 4,
    total: 3,
    last_id: 7,
    own_last_id: null,
    counted: 3,
    max_id: 7,
    max_version: 4,
  }

  test.each<[string, Partial<TallyCount>, string[]]>([
    ['that matches is correct', {}, []],
    ['may be ahead of the highest id and version', { last_id: 9, version: 8 }, []],
    ['with another total', { total: 2 }, ['total is 2, but there are 3 records']],
    ['with a last id that is behind', { last_id: 6 }, ['last_id is 6, but the highest id is 7']],
    ['with a version that is behind', { version: 3 }, ['version is 3, but a record has 4']],
    ['whose row is missing', { version: null, total: null, last_id: null }, ['the row is missing']],
  ])('%s', (_name, change, expected) => {
    expect(tallyFaults({ ...tally, ...change })).toEqual(expected)
  })
})

describe('the clocks', () => {
  const statusOf = (database: number) => clockFindings(database, 10_000, 14_000).map(({ status }) => status)

  test('agree within the time of the answer, and a second more', () => {
    expect([9_000, 10_000, 13_999, 15_000].map(statusOf)).toEqual([['ok'], ['ok'], ['ok'], ['ok']])
  })

  test('of a database that is ahead or behind are a warning', () => {
    expect([8_900, 15_100].map(statusOf)).toEqual([['warning'], ['warning']])
    expect(clockFindings(20_500, 10_000, 14_000)[0]?.message).toContain('is 6.5 s ahead of this machine')
    expect(clockFindings(4_000, 10_000, 14_000)[0]?.message).toContain('is 6.0 s behind this machine')
  })
})
