import { describe, expect, it } from 'vitest'
import { createAccount } from '../src/accounts/account-changes.ts'
import { accountNamed, showAccount } from '../src/accounts/directory.ts'
import { generateKey, hashOfKey, scopes } from '../src/accounts/key-format.ts'
import { resources } from '../src/catalog/resources.ts'
import { operator } from '../src/cli/operator.ts'
import type { IdSource } from '../src/id-source.ts'
import { importRecords } from '../src/import/import-records.ts'
import { type IdSwitch, switchIds } from '../src/import/switch-ids.ts'
import { account } from './database.ts'
import { freshService } from './service.ts'

/** Who assigns ids: this service or another system such as an ERP. The ids that both assign must never meet. */

let number = 0
const key = generateKey()
const erp = { name: 'erp', key }

const { url, client, service } = await freshService()
const { accountId } = await createAccount(client, operator(), erp.name, 'external')
await client.query(
  `insert into api_key (account_id, key_id, hash, name, scopes) values ($1, 'k', decode($2, 'hex'), 'test', $3)`,
  [accountId, hashOfKey(key), scopes],
)

async function create(name: string): Promise<unknown> {
  const { status, body } = await service.post(erp, '/api/v1/resources/partner', { name })
  expect(status).toBe(201)
  return body
}

function load(...ids: number[]) {
  const records = ids.map((id) => ({ id, name: `of the ERP ${id}` }))
  return importRecords({ ownerUrl: url, account: erp.name, resource: 'partner', records })
}

it('the service assigns ids from 2^32 on, and the other system those below', async () => {
  await load(1, 2)
  expect(await create('Nordwind')).toEqual({ data: { id: 4294967296 } })
  // The id that the ERP assigns next: without a range of its own, the service would have used it.
  await load(3)
  expect(await create('Ostwind')).toEqual({ data: { id: 4294967297 } })
  const { rows } = await client.query<{ id: string; name: string }>(
    'select id, name from partner order by id',
  )
  expect(rows).toEqual([
    { id: '1', name: 'of the ERP 1' },
    { id: '2', name: 'of the ERP 2' },
    { id: '3', name: 'of the ERP 3' },
    { id: '4294967296', name: 'Nordwind' },
    { id: '4294967297', name: 'Ostwind' },
  ])
  const { tallies } = await showAccount(client, erp.name)
  expect(tallies.find(({ resource }) => resource === 'partner')).toMatchObject({
    total: 5,
    lastId: 4294967297,
    ids: 'external',
    senderIdsFrom: 1,
  })
})

it('rejects new rows with ids that this service assigns, and changes records that it has created', async () => {
  const rows = [
    { id: 4294967296, phone: '+49 40 1' },
    { id: 4294967299, name: 'not ours' },
  ]
  const response = await fetch(`http://127.0.0.1:${service.port}/api/v1/resources/partner/batch`, {
    method: 'POST',
    headers: {
      'x-forwarded-host': 'erp.localhost',
      authorization: `Bearer ${key}`,
      'content-type': 'application/x-ndjson',
    },
    body: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  })
  expect((await response.text()).split('\n').slice(0, 2)).toEqual([
    '{"line":2,"id":4294967299,"field":"id","reason":"is above 4294967295: this service assigns those ids, and no partner has it","value":"4294967299"}',
    '{"$end":{"read":2,"inserted":0,"updated":1,"unchanged":0,"deleted":0,"rejected":1}}',
  ])
})

/** A new account, and what programs and its administrator do with its partners. */
async function newAccount(ids?: IdSource) {
  const acme = await account(client, `ids-${++number}`, scopes, ids)
  const headers = { 'x-forwarded-host': `${acme.name}.localhost`, authorization: `Bearer ${acme.key}` }
  const path = `http://127.0.0.1:${service.port}/api/v1/resources/partner`
  const tally = async () => {
    const { tallies } = await showAccount(client, acme.name)
    const {
      total,
      lastId,
      ids: source,
      senderIdsFrom,
    } = tallies.find(({ resource }) => resource === 'partner') ?? {}
    return { total, lastId, ids: source, senderIdsFrom }
  }
  return {
    ...acme,
    tally,
    create: async () => {
      const body = '{"name":"Created here"}'
      const response = await fetch(path, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
      })
      return Number(response.headers.get('location')?.split('/').at(-1))
    },
    batch: async (rows: readonly object[], query = '') => {
      const response = await fetch(`${path}/batch${query}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/x-ndjson' },
        body: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
      })
      const lines = (await response.text()).trim().split('\n')
      return lines.map((line): Record<string, unknown> => JSON.parse(line))
    },
    switchTo: async (to: IdSwitch['to'], from?: number) =>
      switchIds(client, operator(), await accountNamed(client, acme.name), resources.partner, {
        to,
        ...(from === undefined ? {} : { from }),
      }),
    names: async () => {
      const { rows } = await client.query<{ id: string; name: string }>(
        'select id, name from partner where account_id = $1 order by id',
        [acme.accountId],
      )
      return rows.map(({ id, name }) => `${id} ${name}`)
    },
    audit: async () => {
      const { rows } = await client.query<Record<string, string>>(
        `select subject, details, actor from audit where account_id = $1 and action = 'account.ids' order by at, id`,
        [acme.accountId],
      )
      return rows
    },
  }
}

const end = (counts: object) => ({
  $end: { read: 1, inserted: 0, updated: 0, unchanged: 0, deleted: 0, rejected: 0, ...counts },
})

describe('a resource without ids', () => {
  it('becomes external by its first batch, whose result says so', async () => {
    const acme = await newAccount()
    expect(await acme.tally()).toMatchObject({ ids: 'unassigned' })
    expect(await acme.batch([{ id: 7, name: 'Of the ERP' }])).toEqual([
      end({ inserted: 1, idsNow: 'external' }),
    ])
    expect(await acme.tally()).toEqual({ total: 1, lastId: 7, ids: 'external', senderIdsFrom: 1 })
    expect(await acme.batch([{ id: 8, name: 'Of the ERP' }])).toEqual([end({ inserted: 1 })])
    expect(await acme.create()).toBe(4294967296)
    expect(await acme.audit()).toEqual([
      { subject: 'partner', details: 'external, by the first rows with ids', actor: 'key' },
    ])
  })

  it('does not become external by a batch that inserts nothing', async () => {
    const acme = await newAccount()
    const lines = await acme.batch([{ id: 7, name: 'x'.repeat(600) }, { $delete: 8 }])
    expect(lines.at(-1)).toEqual(end({ read: 2, unchanged: 1, rejected: 1 }))
    expect(await acme.tally()).toMatchObject({ ids: 'unassigned' })
    expect(await acme.create()).toBe(1)
    expect(await acme.tally()).toMatchObject({ ids: 'service' })
  })
})

describe('a resource whose ids this service assigns', () => {
  it('rejects rows with ids, whether a record has them or not, so that one mistyped id moves nothing', async () => {
    const acme = await newAccount()
    expect([await acme.create(), await acme.create()]).toEqual([1, 2])
    const [one, unknown, deletion, last] = await acme.batch([
      { id: 1, name: 'Another partner' },
      { id: 70, name: 'Mistyped' },
      { $delete: 2 },
    ])
    const reason =
      'is not yours: this service assigns the ids of partners in this account. Send partners that you read here with mode=update. ' +
      'If another system assigns ids, an administrator can switch with "quartermaster account ids"'
    expect(one).toEqual({ line: 1, id: 1, field: 'id', reason, value: '1' })
    expect(unknown).toEqual({ line: 2, id: 70, field: 'id', reason, value: '70' })
    expect(deletion).toEqual({ line: 3, id: 2, field: '$delete', reason, value: '2' })
    expect(last).toEqual(end({ read: 3, rejected: 3 }))
    expect(await acme.create()).toBe(3)
    expect(await acme.names()).toEqual(['1 Created here', '2 Created here', '3 Created here'])
  })

  it('accepts changes and deletes of records that were read here, with mode=update', async () => {
    const acme = await newAccount()
    await acme.create()
    await acme.create()
    const rows = [{ id: 1, name: 'Changed' }, { $delete: 2 }, { id: 3, name: 'New' }, { $delete: 4 }]
    expect(await acme.batch(rows, '?mode=update')).toEqual([
      {
        line: 3,
        id: 3,
        field: 'id',
        reason: 'is unknown: no partner has it, and mode=update inserts none',
        value: '3',
      },
      end({ read: 4, updated: 1, deleted: 1, unchanged: 1, rejected: 1 }),
    ])
    expect(await acme.names()).toEqual(['1 Changed'])
    // A stale row does not bring a deleted record back, and its id is not used again.
    expect(await acme.batch([{ id: 2, name: 'Stale' }], '?mode=update')).toMatchObject([
      { line: 1 },
      end({ rejected: 1 }),
    ])
    expect(await acme.batch([{ id: 2, name: 'Stale' }])).toMatchObject([{ line: 1 }, end({ rejected: 1 })])
    expect(await acme.create()).toBe(3)
  })

  it('can be decided before there is an id', async () => {
    const acme = await newAccount('service')
    expect(await acme.tally()).toMatchObject({ ids: 'service' })
    expect(await acme.batch([{ id: 7, name: 'x' }])).toMatchObject([{ line: 1 }, end({ rejected: 1 })])
    expect(await acme.create()).toBe(1)
  })
})

describe('an administrator', () => {
  it('switches a resource to another system, which then assigns the ids after those assigned here', async () => {
    const acme = await newAccount()
    await acme.create()
    await acme.create()
    await acme.switchTo('external')
    expect(await acme.tally()).toEqual({ total: 2, lastId: 2, ids: 'external', senderIdsFrom: 3 })
    const reason =
      'is below 3: this service assigned those ids before another system did. Send partners that you read here with mode=update'
    expect(
      await acme.batch([{ id: 1, name: 'Another partner' }, { id: 3, name: 'Of the ERP' }, { $delete: 2 }]),
    ).toEqual([
      { line: 1, id: 1, field: 'id', reason, value: '1' },
      { line: 3, id: 2, field: '$delete', reason, value: '2' },
      end({ read: 3, inserted: 1, rejected: 2 }),
    ])
    expect(await acme.batch([{ id: 1, name: 'Changed' }], '?mode=update')).toEqual([end({ updated: 1 })])
    expect(await acme.create()).toBe(4294967296)
    expect(await acme.audit()).toEqual([
      {
        subject: 'partner',
        details: 'external: another system assigns ids 3 to 4294967295, this service those from 4294967296',
        actor: 'operator',
      },
    ])
  })

  it('states that the existing ids are those of the other system', async () => {
    const acme = await newAccount()
    await acme.create()
    await acme.switchTo('external', 1)
    expect(await acme.batch([{ id: 1, name: 'Of the ERP' }])).toEqual([end({ updated: 1 })])
  })

  it('switches back while no record has an id of the other system, and no id is used twice', async () => {
    const acme = await newAccount()
    expect(await acme.create()).toBe(1)
    await acme.switchTo('external')
    await acme.batch([{ id: 5, name: 'Mistyped' }])
    await expect(acme.switchTo('service')).rejects.toThrow(
      `The partner 5 of ${acme.name} has an id of the other system. This service can assign the ids again only when no partner has one: delete those first. Nothing was changed.`,
    )
    await acme.batch([{ $delete: 5 }])
    await acme.switchTo('service')
    expect(await acme.tally()).toMatchObject({ ids: 'service' })
    expect(await acme.create()).toBe(6)
    await acme.switchTo('external')
    expect(await acme.create()).toBe(4294967296)
    await acme.switchTo('service')
    expect(await acme.create()).toBe(4294967297)
    await acme.switchTo('external')
    expect(await acme.tally()).toMatchObject({ senderIdsFrom: 7 })
    expect(await acme.create()).toBe(4294967298)
  })

  it('keeps the positions of clients in the change feed', async () => {
    const acme = await newAccount()
    await acme.create()
    const lineages = () =>
      client.query(`select lineages from tally where account_id = $1 and resource = 'partner'`, [
        acme.accountId,
      ])
    const before = (await lineages()).rows
    await acme.switchTo('external')
    await acme.create()
    expect((await lineages()).rows).toEqual(before)
  })
})

it('another system may re-create its own id, but not one that this service assigned', async () => {
  const acme = await newAccount('external')
  await acme.batch([{ id: 7, name: 'Of the ERP' }])
  expect(await acme.create()).toBe(4294967296)
  await acme.batch([{ $delete: 7 }, { $delete: 4294967296 }])
  expect(
    await acme.batch([
      { id: 7, name: 'Again' },
      { id: 4294967296, name: 'Stale' },
    ]),
  ).toMatchObject([{ line: 2, field: 'id' }, end({ read: 2, inserted: 1, rejected: 1 })])
  expect(await acme.names()).toEqual(['7 Again'])
})

it('rejects other modes and parameters', async () => {
  const acme = await newAccount()
  for (const [query, code] of [
    ['?mode=load', 'choice_invalid'],
    ['?mode=', 'choice_invalid'],
    ['?mode=update&mode=update', 'parameter_repeated'],
    ['?modes=update', 'parameter_unknown'],
  ]) {
    expect(await acme.batch([], query)).toMatchObject([{ status: 400, errors: [{ code }] }])
  }
})
