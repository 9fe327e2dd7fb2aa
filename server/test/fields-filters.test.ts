import { expect, it } from 'vitest'
import { compareOwnSet, lineOf, randomOwnSet } from '../../verification/src/fields/own-fields.ts'
import { Random } from '../../verification/src/random.ts'
import { account } from './database.ts'
import { freshService } from './service.ts'

/** The short form of the check `declared_fields`: random filters on random fields of an account, compared with the evaluator. */

const seed = 32
const rowsCount = 150
const filtersCount = 100
const { client, service } = await freshService()

it.each([1, 2])(
  'random filters on random fields find the records that the evaluator finds: %i',
  async (n) => {
    const random = new Random(seed, n)
    const set = randomOwnSet(random, rowsCount)
    const { resource, own, rows } = set
    const acme = await account(client, `random${n}`)
    const headers = { 'x-forwarded-host': `${acme.name}.localhost`, authorization: `Bearer ${acme.key}` }
    for (const { name, type } of own) {
      const declared = await service.post(acme, '/manage/v1/fields', { resource: 'company', name, type })
      expect(declared.status).toBe(201)
    }
    const url = `http://127.0.0.1:${service.port}${resource.path}`
    const sent = await fetch(`${url}/batch`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/x-ndjson' },
      body: rows.map((row) => `${lineOf(resource, row)}\n`).join(''),
    })
    expect(await sent.text()).toContain(`"inserted":${rows.length}`)
    const { compared, found, faults } = await compareOwnSet(
      set,
      random,
      filtersCount,
      async (query, accept) => {
        const response = await fetch(`${url}?${query}`, { headers: { ...headers, accept } })
        const text = await response.text()
        expect([query, response.status, text]).toEqual([query, 200, expect.anything()])
        return text
      },
    )
    expect(faults).toEqual([])
    expect(compared).toBeGreaterThan(filtersCount * 2)
    expect(found).toBeGreaterThan(filtersCount)
  },
)
