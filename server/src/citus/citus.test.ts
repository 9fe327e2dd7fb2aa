import { DatabaseError } from 'pg'
import { expect, it } from 'vitest'
import { singleServer } from '../postgres/layout.ts'
import { failureOf } from '../postgres/sqlstate.ts'
import { lockTally } from '../writes/tick.ts'
import { citus } from './citus.ts'
import { lockTallyWithSeries } from './lock-tally.ts'

const onCitus = { layout: citus }

function internalErrorOf(message: string): DatabaseError {
  return Object.assign(new DatabaseError(message, message.length, 'error'), { code: 'XX000' })
}

it.each([
  'could not find valid entry for shard 102015',
  'could not find valid entry for shard placement 31',
  'there is a shard placement in node group 2 but there are no nodes in that group',
  'connection to the remote node postgres@worker1:5432 failed',
  'server closed the connection unexpectedly',
  'could not open relation with OID 17012',
])('on Citus, the internal error "%s" is temporary', (message) => {
  expect(failureOf(internalErrorOf(message), onCitus).code).toBe('database_unavailable')
  expect(failureOf(internalErrorOf(message), { layout: singleServer }).code).toBe('internal')
})

it.each(['unrecognized node type: 372', 'cache lookup failed for type 17'])(
  'the internal error "%s" is a defect',
  (message) => {
    expect(failureOf(internalErrorOf(message), onCitus).code).toBe('internal')
  },
)

it('replaces an operation only if its form differs', () => {
  const other = () => {}
  expect(citus.form(lockTally)).toBe(lockTallyWithSeries)
  expect(citus.form(other)).toBe(other)
  expect(singleServer.form(lockTally)).toBe(lockTally)
})

it('checks the accounts of other workers while one is away', async () => {
  const check = async (accounts: readonly { readonly accountId: string }[]) => {
    if (accounts.some(({ accountId }) => accountId === '2')) throw new Error('The worker is away.')
    return accounts.map(({ accountId }) => accountId)
  }
  const accounts = ['1', '2', '3'].map((accountId) => ({ accountId }))
  expect(await citus.checkAccounts(accounts, check)).toEqual(['1', '3'])
  await expect(singleServer.checkAccounts(accounts, check)).rejects.toThrow('away')
})
