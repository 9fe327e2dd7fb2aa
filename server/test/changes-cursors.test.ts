import { describe, expect, it } from 'vitest'
import {
  allChanges,
  changes,
  changesPath,
  changesUrl,
  summary,
  withProducts,
  write,
} from './changes-fixture.ts'
import { account, type TestAccount } from './database.ts'
import { freshService } from './service.ts'

/** Requests that the change feed rejects: invalid parameters, and cursors that do not fit or have expired. */

let accounts = 0

const { client, service } = await freshService()

const newAccount = () => account(client, `cursor${++accounts}`)

const accountWith = async (count: number) => withProducts(client, await newAccount(), count)

describe('what is wrong gets 400', () => {
  it.each([
    ['since=', 'cursor_invalid', 'since'],
    ['since=x', 'cursor_invalid', 'since'],
    ['since=NOW', 'cursor_invalid', 'since'],
    ['limit=0', 'limit_invalid', 'limit'],
    ['limit=1001', 'limit_invalid', 'limit'],
    ['limit=99999999999999999999', 'limit_invalid', 'limit'],
    ['limit=1e2', 'limit_invalid', 'limit'],
    ['wait=31', 'wait_invalid', 'wait'],
    ['wait=-1', 'wait_invalid', 'wait'],
    ['wait=1.5', 'wait_invalid', 'wait'],
    ['wait=', 'wait_invalid', 'wait'],
    ['fields=nane', 'field_unknown', 'fields'],
    ['filter=nane=1', 'field_unknown', 'filter'],
    ['page=2', 'parameter_unknown', 'page'],
    ['after_id=2', 'parameter_unknown', 'after_id'],
    ['since=now&since=now', 'parameter_repeated', 'since'],
  ])('%s: %s', async (query, code, parameter) => {
    const acme = await newAccount()
    const { status, body } = await service.request(acme, 'GET', `${changesPath}?${query}`)
    expect([status, body]).toMatchObject([
      400,
      { code: 'request_invalid', errors: [{ code, parameter, message: expect.any(String) }] },
    ])
  })

  it('a cursor of another account, resource or filter', async () => {
    const [acme, other] = [await newAccount(), await newAccount()]
    const { cursor } = await changes(service, acme, { filter: 'active=true' })
    const requests = [
      [other, changesUrl({ since: cursor, filter: 'active=true' }), 'another account'],
      [acme, changesUrl({ since: cursor }), 'another filter'],
      [acme, changesUrl({ since: cursor, filter: 'active=false' }), 'another filter'],
      [acme, `/api/v1/resources/partner/changes?since=${cursor}`, 'the resource product'],
    ] as const
    for (const [who, path, reason] of requests) {
      const { status, body } = await service.request(who, 'GET', path)
      expect([status, body]).toMatchObject([
        400,
        {
          errors: [{ code: 'cursor_mismatch', parameter: 'since', message: expect.stringContaining(reason) }],
        },
      ])
    }
    // The same filter in another notation is the same feed.
    await changes(service, acme, { since: cursor, filter: '(active=true)' })
  })

  it('other methods get 405, other keys 401 and 403', async () => {
    const acme = await newAccount()
    for (const method of ['POST', 'PATCH', 'DELETE', 'PUT']) {
      const { status, headers } = await service.request(acme, method, changesPath)
      expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, QUERY'])
    }
    const reader = await account(client, `cursor${++accounts}`, ['partner:read'])
    expect((await service.request(reader, 'GET', changesPath)).status).toBe(403)
    expect((await service.request({ ...acme, key: reader.key }, 'GET', changesPath)).status).toBe(401)
  })

  it('QUERY takes the parameters in its body', async () => {
    const acme = await accountWith(2)
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const { body } = await service.request(acme, 'QUERY', changesPath, { headers, body: 'filter=name=p2' })
    expect(body).toMatchObject({ data: [{ change: 'created', id: 2 }] })
  })
})

describe('a cursor expires', () => {
  const expired = async (acme: TestAccount, since: string) => {
    const response = await service.request(acme, 'GET', changesUrl({ since }))
    expect([response.status, response.body]).toMatchObject([410, { code: 'cursor_expired' }])
    expect(response.headers.get('link')).toBe(`<${changesPath}?limit=100>; rel="first"`)
  }
  const setTally = (acme: TestAccount, set: string) =>
    client.query(`update tally set ${set} where account_id = $1 and resource = 'product'`, [acme.accountId])

  /** What the first write after a failover does to the tally at version 1. */
  const newLineage =
    'lineages = 88 || lineages, lineage_starts = 1 || lineage_starts, writer_xid = pg_current_xact_id()::xid'

  it('if deletions after it were trimmed', async () => {
    const acme = await accountWith(3)
    const { cursor } = await changes(service, acme)
    await write(client, acme, { delete: [1] })
    const later = await changes(service, acme)
    await setTally(acme, 'changes_from = 2, writer_xid = pg_current_xact_id()::xid')
    await expired(acme, cursor)
    expect((await changes(service, acme, { since: later.cursor })).data).toEqual([])
  })

  it('if another program wrote: whatever that deleted is not known', async () => {
    const acme = await accountWith(3)
    const { cursor } = await changes(service, acme)
    await client.query('delete from product where account_id = $1 and id = 2', [acme.accountId])
    await setTally(acme, 'version = version + 1, total = total - 1')
    await expired(acme, cursor)
    const fresh = await changes(service, acme)
    expect(summary(fresh)).toEqual(['created 1 @1', 'created 3 @1'])
    await changes(service, acme, { since: fresh.cursor })
  })

  it('if its writes were lost; earlier cursors stay valid', async () => {
    const acme = await accountWith(3)
    const first = await changes(service, acme)
    await write(client, acme, { delete: [1] })
    const lost = await changes(service, acme, { since: first.cursor })
    expect(summary(lost)).toEqual(['deleted 1 @2'])
    // A failover to a server that has not received version 2, and another write of that version.
    await client.query('delete from tombstone where account_id = $1', [acme.accountId])
    await setTally(acme, `version = 1, writer_xid = pg_current_xact_id()::xid`)
    await expired(acme, lost.cursor)
    await setTally(acme, newLineage)
    await write(client, acme, { delete: [3] })
    await expired(acme, lost.cursor)
    expect(summary(await changes(service, acme, { since: first.cursor }))).toEqual(['deleted 3 @2'])
  })

  it('a client that reads from the beginning during a lost write receives the deletion that replaced it', async () => {
    const acme = await accountWith(3)
    await write(client, acme, { upsert: { 2: 'lost' } })
    const first = await changes(service, acme, { limit: 1 })
    expect(summary(first)).toEqual(['created 1 @1'])
    await client.query(`update product set version = 1, name = 'p2' where account_id = $1 and id = 2`, [
      acme.accountId,
    ])
    await setTally(acme, `version = 1, ${newLineage}`)
    await write(client, acme, { delete: [1] })
    const rest = await allChanges(service, acme, { since: first.cursor, limit: 1 })
    expect(rest.flatMap(summary)).toEqual(['created 2 @1', 'created 3 @1', 'deleted 1 @2'])
  })
})
