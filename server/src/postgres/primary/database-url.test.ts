import { expect, it } from 'vitest'
import { connectMs, replicaUrls, serverUrls } from './database-url.ts'

it.each([
  ['postgres://u:p@db:5432/q', ['postgres://u:p@db:5432/q']],
  ['postgresql://db', ['postgresql://db']],
  [
    'postgres://u:p%40x@db1:5432,db2:5433/q?sslmode=verify-full',
    [
      'postgres://u:p%40x@db1:5432/q?sslmode=verify-full',
      'postgres://u:p%40x@db2:5433/q?sslmode=verify-full',
    ],
  ],
  [
    'postgres://[::1]:5432,db2/q?target_session_attrs=read-write',
    ['postgres://[::1]:5432/q', 'postgres://db2/q'],
  ],
  ['postgres:///q?host=db1,db2&port=5432,5433', ['postgres://db1:5432/q', 'postgres://db2:5433/q']],
  ['postgres:///q?host=/run/postgresql&port=5433', ['postgres:///q?host=%2Frun%2Fpostgresql&port=5433']],
])('splits %s', (url, expected) => {
  expect(serverUrls(url)).toEqual(expected)
})

it.each([
  ['mysql://db/q', 'does not start with postgres://'],
  ['postgres://u:s3cret@db1:5432,:5433/q', 'a host and its port cannot be read'],
  ['postgres://db1:x/q', 'a host and its port cannot be read'],
  ['postgres:///q?host=a,b,c&port=1,2', '3 hosts and 2 ports'],
  ['postgres://db/q?connect_timeout=0', 'connect_timeout must be a number of seconds from 1 to 600'],
  ['postgres://db/q?connect_timeout=601', 'connect_timeout must be a number of seconds from 1 to 600'],
  ['postgres://db/q?connect_timeout=', 'connect_timeout must be a number of seconds from 1 to 600'],
  ['postgres://db/q?target_session_attrs=standby', 'connections always go to the primary'],
])('rejects %s', (url, reason) => {
  expect(() => serverUrls(url)).toThrow(reason)
  try {
    serverUrls(url)
  } catch (error) {
    expect(String(error)).not.toContain('s3cret')
  }
})

it('connect_timeout of any server replaces the default', () => {
  const timeouts = serverUrls('postgres://u:p@db1:5432,db2/q?sslmode=require&connect_timeout=10').map((url) =>
    connectMs(url, 3000),
  )
  expect(timeouts).toEqual([10_000, 10_000])
  expect(connectMs('postgres://db1/q', 3000)).toBe(3000)
})

it('replicas are named by several URLs, by several hosts of one, or both', () => {
  expect(replicaUrls('postgres://u@r1:5432,r2/q?target_session_attrs=standby  postgresql://u@r3/q ')).toEqual(
    ['postgres://u@r1:5432/q', 'postgres://u@r2/q', 'postgresql://u@r3/q'],
  )
})

it.each([
  ['postgres://r1/q,postgres://r2/q', 'two URLs must be separated by a space'],
  ['postgres://r1/q r2/q', 'does not start with postgres://'],
  ['postgres://r1/q?target_session_attrs=primary', 'connections always go to a standby'],
  [`postgres://${Array.from({ length: 17 }, (_, i) => `r${i}`).join(',')}/q`, 'it names 17 servers'],
])('rejects the replicas %s', (urls, reason) => {
  expect(() => replicaUrls(urls)).toThrow(reason)
})
