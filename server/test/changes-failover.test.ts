import { expect, it } from 'vitest'
import { MovableAddress } from '../../verification/src/replication/movable-address.ts'
import type { PostgresNode } from '../../verification/src/replication/postgres-node.ts'
import { PrimaryAndStandby } from '../../verification/src/replication/primary-and-standby.ts'
import { withClient } from '../src/postgres/client.ts'
import { migrate } from '../src/postgres/migrations/migrate.ts'
import { stopAtEnd } from './at-end.ts'
import { changes, changesUrl, summary, type Write, write } from './changes-fixture.ts'
import { account } from './database.ts'
import { eventually } from './eventually.ts'
import { startTestService } from './service.ts'

/** Cursors of the change feed across failovers of the database. */

const cluster = stopAtEnd(await PrimaryAndStandby.start())
const url = cluster.primary.url('postgres')
await migrate(url)
const acme = await withClient(url, (client) => account(client, 'acme'))
const address = stopAtEnd(await MovableAddress.listen())
address.moveTo(cluster.primary.port, 'leave')
const service = await startTestService(`postgres://postgres@127.0.0.1:${address.port}/postgres`)

const writeOn = (node: PostgresNode, what: Write) =>
  withClient(node.url('postgres'), (client) => write(client, acme, what))

const statusSince = async (since: string) =>
  (await service.request(acme, 'GET', changesUrl({ since }))).status

it('cursors survive a failover that loses nothing, and expire if it loses what they have seen', async () => {
  await writeOn(cluster.primary, { upsert: { 1: 'one', 2: 'two', 3: 'three' } })
  const { cursor } = await changes(service, acme)
  const beginning = await changes(service, acme, { limit: 1 })

  // A client that waits through the failover. It may get 503 meanwhile, as any request.
  const next = async () => {
    for (;;) {
      const { status, body } = await service.request(acme, 'GET', changesUrl({ since: cursor, wait: 30 }))
      const text = JSON.stringify(body)
      if (status === 200 && text.includes('"deleted"')) return text
      expect([200, 503]).toContain(status)
    }
  }
  const waiting = next()
  await cluster.standby.caughtUpWith(cluster.primary)
  await cluster.promote()
  address.moveTo(cluster.primary.port, 'close')
  await writeOn(cluster.primary, { delete: [1] })
  expect(await waiting).toContain('{"change":"deleted","id":1,"version":2}')
  expect(summary(await changes(service, acme, { since: cursor }))).toEqual(['deleted 1 @2'])
  const rest = await changes(service, acme, { since: beginning.cursor })
  expect(summary(rest)).toEqual(['created 2 @1', 'created 3 @1', 'deleted 1 @2'])

  // A second failover, which loses version 3: the new primary writes another version 3.
  await cluster.rebuildStandby()
  await cluster.standby.caughtUpWith(cluster.primary)
  const old = await cluster.promote()
  await writeOn(old, { upsert: { 9: 'lost' } })
  const lost = await changes(service, acme, { since: rest.cursor })
  expect(summary(lost)).toEqual(['created 9 @3'])
  await writeOn(cluster.primary, { delete: [2] })
  address.moveTo(cluster.primary.port, 'close')
  await eventually(async () => (await statusSince(lost.cursor)) === 410)
  expect(summary(await changes(service, acme, { since: rest.cursor }))).toEqual(['deleted 2 @3'])
  expect(summary(await changes(service, acme, { since: cursor }))).toEqual(['deleted 1 @2', 'deleted 2 @3'])
})
