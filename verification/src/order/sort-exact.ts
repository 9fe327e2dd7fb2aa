import type { Filter } from '@quartermaster/filter'
import type { Check } from '../check.ts'
import { evaluate } from '../filter-proof/evaluate.ts'
import { condition, joined, randomFilter, textValue } from '../filter-proof/filters.ts'
import { type ProofAccount, proofFixture } from '../filter-proof/fixture.ts'
import { judgePage } from '../filter-proof/large-proof.ts'
import { type PlainRecord, type Resource, resources } from '../filter-proof/schema.ts'
import { encodeForm, write } from '../filter-proof/write.ts'
import { inParallel } from '../parallel.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { sorted } from './sorted.ts'

/** More than 20,000 matches are read in the order of an index, fewer are sorted. */
const largeRows = 25_000

interface Data {
  readonly account: ProofAccount
  readonly resource: Resource
  readonly rows: readonly PlainRecord[]
}

/** Pages, totals and the order of sorted lists and searches: every field, both directions, with and without filters, in accounts of three sizes. */
export const sortExact: Check = {
  name: 'sort_exact',
  bound: '0 different',
  async run(context) {
    const fixture = await proofFixture(context)
    const { product } = resources
    const large = await fixture.largeAccount(context.seed, product, largeRows)
    const small = fixture.accounts.flatMap((account): Data[] =>
      Object.values(resources).map((resource) => ({ account, resource, rows: account.rows[resource.name] })),
    )
    const count = context.size(100_000, 1_500)
    const differences: string[] = []
    let pages = 0
    const progress = context.progress('sorted pages', count)
    await inParallel(count, 16, async (index) => {
      const random = new Random(context.seed, 12, index)
      const { account, resource, rows } =
        index % 20 === 0 ? { ...large, resource: product } : random.pick(small)
      const order = { field: random.pick(resource.fields), isDescending: random.chance(0.5) }
      const filter = random.chance(0.3) ? undefined : randomFilter(random, resource, rows)
      const words = random.chance(0.3) ? randomWords(random, resource, rows) : []
      const text =
        (filter === undefined ? '' : `&filter=${encodeForm(write(filter, random), random)}`) +
        (words.length === 0 ? '' : `&search=${encodeForm(words.join(' '), random)}`)
      const found = filter === undefined ? rows : evaluate(filter, resource, rows)
      const expected = sorted(
        words.length === 0 ? found : evaluate(hasWords(words, resource), resource, found),
        order,
      )
      const limit = random.pick([1, 7, 100, 1000])
      const page = random.integer(1, Math.ceil(expected.length / limit) + 1)
      const sort = `${order.isDescending ? '-' : ''}${order.field.name}`
      const body = `fields=id&sort=${sort}&limit=${limit}&page=${page}${text}`
      const response = await fixture.send(account, resource.path, {
        method: 'QUERY',
        body,
        server: random.integer(0, 1),
      })
      const wrong = judgePage(expected, page, limit, response)
      if (wrong !== undefined)
        differences.push(`#${index} ${account.name} ${resource.name} ${wrong}\n  ${body}`)
      if (response.status === 200 && expected.length > limit) pages += 1
      progress.step()
    })
    progress.end()
    const first = differences.slice(0, 10).map((one) => one.slice(0, 1000))
    return {
      value: `${grouped(differences.length)} of ${grouped(count)}`,
      samples: Math.min(count, pages),
      ok: differences.length === 0 && pages > count / 20,
      note: [`${grouped(pages)} of lists with several pages`, ...first].join('\n'),
    }
  },
}

/** Parts of words that occur in a record, with letters in either case. */
function randomWords(random: Random, resource: Resource, rows: readonly PlainRecord[]): string[] {
  const record = random.pick(rows)
  const words = textFields(resource).flatMap(({ name }) => String(record[name] ?? '').split(/\s+/))
  const usable = words.filter((word) => word !== '' && !word.includes('\0') && word.isWellFormed())
  return Array.from({ length: Math.min(usable.length, random.integer(1, 3)) }, () => {
    const letters = Array.from(random.pick(usable))
    const start = random.integer(0, letters.length - 1)
    const part = letters.slice(start, start + random.integer(1, 6)).join('')
    return random.chance(0.5) ? part : part.toUpperCase().slice(0, 12)
  })
}

function textFields({ fields }: Resource) {
  return fields.filter(({ type }) => type === 'text')
}

function hasWords(words: readonly string[], resource: Resource): Filter {
  const each = words.map((word) =>
    joined(
      'or',
      textFields(resource).map(({ name }) => condition(name, '*', [textValue(word)])),
    ),
  )
  return joined('and', each)
}
