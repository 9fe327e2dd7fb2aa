import pg, { DatabaseError } from 'pg'
import { expect, it } from 'vitest'
import { markDistributed } from './citus/client-topology.ts'
import { failureOf } from './sqlstate.ts'

const distributed = new pg.Client()
markDistributed(distributed)

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
  expect(failureOf(internalErrorOf(message), distributed).code).toBe('database_unavailable')
  expect(failureOf(internalErrorOf(message), new pg.Client()).code).toBe('internal')
})

it.each(['unrecognized node type: 372', 'cache lookup failed for type 17'])(
  'the internal error "%s" is a defect',
  (message) => {
    expect(failureOf(internalErrorOf(message), distributed).code).toBe('internal')
  },
)
