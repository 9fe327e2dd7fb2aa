import { describe, expect, test } from 'vitest'
import { type Answer, create, encoded, partners, problemIn, products, send } from './client.ts'

const form = { 'content-type': 'application/x-www-form-urlencoded' }
const query = (body: string) => send(products, { method: 'QUERY', headers: form, body })
const answerBytesMax = 64 * 1024

/** Requests that are wrong in as many places as fit into them, or repeat as much as they can. */
const wrong: readonly (readonly [what: string, ask: () => Promise<Answer>])[] = [
  ['unknown parameters without a key', () => send(`/livez?${'x&'.repeat(8_000)}`, { key: null })],
  ['unknown parameters of a list', () => send(`${products}?${'x&'.repeat(8_000)}`)],
  ['unknown parameters of one record', () => send(`${products}/1?${'x&'.repeat(8_000)}`)],
  ['unknown parameters of a create', () => send(`${partners}?${'x&'.repeat(8_000)}`, { method: 'POST' })],
  ['unknown parameters in a body', () => query('x&'.repeat(130_000))],
  ['a parameter repeated', () => query('limit=1&'.repeat(30_000))],
  ['control characters in unknown parameters', () => query(`${'%01'.repeat(100)}&`.repeat(800))],
  ['unknown fields', () => query(`fields=${'x,'.repeat(85_000)}x`)],
  ['fields that are nearly known', () => query(`fields=${'nane,'.repeat(50_000)}nane`)],
  ['unknown fields in a URL', () => send(`${products}?fields=${'nane,'.repeat(3_000)}nane`)],
  ['unknown fields in a filter', () => query(`filter=${encoded(`${'nane=1&'.repeat(199)}nane=1`)}`)],
  [
    'long unknown fields in a filter',
    () => query(`filter=${encoded(`${`${'n'.repeat(300)}=1&`.repeat(199)}n=1`)}`),
  ],
  ['list values of another type', () => query(`filter=${encoded(`active[${'yes,'.repeat(999)}yes]`)}`)],
  ['a long text for a date', () => query(`filter=${encoded(`write_date>${'T'.repeat(65_000)}`)}`)],
  [
    'members that are not taken',
    () => create(`{${Array.from({ length: 6_000 }, (_, n) => `"m${n}":1`).join()}}`),
  ],
]

describe('B15: the answer to bad input is small', () => {
  for (const [what, ask] of wrong) {
    test(`[B15] ${what}`, async () => {
      const answer = await ask()
      const { errors, detail } = problemIn(answer, 400)
      expect(errors?.length).toBeGreaterThan(0)
      expect(errors?.length).toBeLessThanOrEqual(50)
      expect(Buffer.byteLength(answer.text)).toBeLessThan(answerBytesMax)
      expect(detail.length).toBeLessThan(1_000)
    })
  }

  test('[B15] the detail tells how many faults there are', async () => {
    const { detail, errors } = problemIn(await query('x&'.repeat(130_000)), 400)
    expect(detail).toContain('129999 more')
    expect(errors).toHaveLength(50)
  })
})

describe('B16: links', () => {
  const linkOf = async (path: string) => String((await send(path)).headers['link'])

  test('[B16] nothing of the URL of the first who asks is in the answer that others get', async () => {
    // Each list is one that no other test asks for: the first request is the one whose answer is kept.
    for (const [limit, target] of [
      [31, `http://evil.example${products}`],
      [32, `${products}/`],
      [33, `http://evil.example${products}/`],
    ] as const) {
      const expected = `<${products}?page=1&limit=${limit}>; rel="first", <${products}?page=1&limit=${limit}>; rel="last"`
      expect(await linkOf(`${target}?limit=${limit}`)).toBe(expected)
      expect(await linkOf(`${products}?limit=${limit}`)).toBe(expected)
    }
  })

  test('[B16] a filter in other words has the same links', async () => {
    const links = [
      await linkOf(`${products}?limit=5&fields=id,id&filter=${encoded('  name*"e"  |(active=true)')}`),
      await linkOf(`${products}?limit=5&fields=id&filter=${encoded('name*e|active=true')}`),
    ]
    expect(links[0]).toContain(
      `<${products}?fields=id&filter=${encoded('name*e|active=true')}&page=1&limit=5>`,
    )
    expect(links[1]).toBe(links[0])
  })

  test('[B16] a fragment in the path is refused, not passed over', async () => {
    for (const path of [`${products}#>;rel="x",<//evil.example/?limit=3`, `${products}#`, '/livez#x']) {
      const answer = await send(path)
      expect(problemIn(answer, 400).code).toBe('request_invalid')
      expect(answer.headers['link']).toBeUndefined()
    }
    // Where a filter begins it is a character as any other.
    expect((await send(`${products}?filter=name=C#`)).status).toBe(200)
  })
})
