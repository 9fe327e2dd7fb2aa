import { describe, expect, it } from 'vitest'
import { Growing, judge, Ledger } from './oracle.ts'
import { type ListRead, listText, missing, type OneRead, type Row } from './read.ts'

const row = (id: number, name: string): Row => ({
  id,
  name,
  is_company: false,
  is_customer: id % 2 === 0,
  email: null,
  phone: null,
})
const list: ListRead = { kind: 'list', page: 1, limit: 2, fields: ['id', 'name'], condition: undefined }
const first: OneRead = { kind: 'one', id: 1, fields: ['name'] }
const noop = async () => {}

async function ledger(): Promise<Ledger> {
  const oracle = new Ledger([row(1, 'a'), row(2, 'b'), row(3, 'c')])
  await oracle.write([[row(1, 'A'), row(2, 'B'), row(3, 'C'), row(4, 'D')]], noop)
  return oracle
}

describe('a ledger', () => {
  it('accepts the state acknowledged before the request was sent, and no older one', async () => {
    const oracle = await ledger()
    expect(judge(oracle, list, oracle.expected(1, list), oracle.floor)).toBe('right')
    expect(judge(oracle, list, oracle.expected(0, list), oracle.floor)).toBe('stale')
    expect(judge(oracle, list, oracle.expected(0, list), 0)).toBe('right')
  })

  it('reports a total with the records of another state as torn', async () => {
    const oracle = await ledger()
    const records = [row(1, 'A'), row(2, 'B')]
    expect(judge(oracle, list, listText(list, records, 4), 0)).toBe('right')
    expect(judge(oracle, list, listText(list, records, 3), 0)).toBe('torn')
    expect(judge(oracle, list, listText(list, [row(1, 'A'), row(2, 'b')], 4), 0)).toBe('torn')
  })

  it('accepts the states before and after a write in flight, until a response has shown it', async () => {
    const oracle = await ledger()
    const { promise, resolve } = Promise.withResolvers<void>()
    const writing = oracle.write([[row(2, 'B')]], () => promise)
    expect(judge(oracle, first, '{"data":{"name":"A"}}', oracle.floor)).toBe('right')
    expect(judge(oracle, first, missing, oracle.floor)).toBe('right')
    expect(judge(oracle, first, '{"data":{"name":"A"}}', oracle.floor)).toBe('stale')
    resolve()
    await writing
    expect([oracle.floor, oracle.lastId]).toEqual([2, 4])
  })

  it('applies a condition and paging', async () => {
    const oracle = await ledger()
    const even = { text: 'is_customer=true', matches: (one: Row) => one.is_customer }
    const read: ListRead = { ...list, page: 2, limit: 1, fields: ['id'], condition: even }
    expect(JSON.parse(oracle.expected(1, read))).toEqual({
      data: [{ id: 4 }],
      meta: { count: 1, total: 2 },
      pagination: { previousPage: 1, currentPage: 2, nextPage: null, totalPages: 2 },
    })
  })
})

describe('a growing account', () => {
  it('has at least the acknowledged creates and at most the sent ones', () => {
    const oracle = new Growing()
    for (const _ of Array(3)) oracle.begin()
    oracle.acknowledged(2, 'b')
    oracle.learn(1, 'a')
    expect([oracle.floor, oracle.ceiling]).toEqual([2, 3])
    const records = [row(1, 'a'), row(2, 'b')]
    expect(judge(oracle, list, listText(list, records, 3), 2)).toBe('right')
    expect(oracle.floor).toBe(3)
    expect(judge(oracle, list, listText(list, records, 2), 3)).toBe('stale')
    expect(judge(oracle, list, listText(list, records, 4), 3)).toBe('torn')
  })

  it('applies a range of ids and paging', () => {
    const oracle = new Growing()
    for (const id of [1, 2, 3, 4, 5]) {
      oracle.begin()
      oracle.acknowledged(id, `n${id}`)
    }
    const from: ListRead = { ...list, condition: { text: 'id>=3', matches: () => true }, page: 2 }
    const to: ListRead = { ...list, condition: { text: 'id<=3', matches: () => true }, page: 2 }
    expect(oracle.expected(5, from)).toBe(listText(from, [row(5, 'n5')], 3))
    expect(oracle.expected(5, to)).toBe(listText(to, [row(3, 'n3')], 3))
    expect(oracle.expected(2, to)).toBe(listText(to, [], 2))
  })

  it('counts an id that has two names', () => {
    const oracle = new Growing()
    oracle.learn(1, 'a')
    oracle.acknowledged(1, 'b')
    expect(oracle.duplicated).toBe(1)
  })
})
