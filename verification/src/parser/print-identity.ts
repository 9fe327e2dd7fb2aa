import { type Filter, operators, parse, print } from '@quartermaster/filter'
import type { Check } from '../check.ts'
import { withoutSpans } from '../filter-proof/cases.ts'
import { condition, nullValue, randomTree, textValue } from '../filter-proof/filters.ts'
import { randomText } from '../filter-proof/rows.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'

/** Parsing the printed text of any tree returns the same tree, whatever its fields and values. */
export const printIdentity: Check = {
  name: 'parse_print_identity',
  bound: '0 differ',
  async run(context) {
    const count = context.size(100_000, 5_000)
    const differing: string[] = []
    const progress = context.progress('trees', count)
    for (let index = 0; index < count; index += 1) {
      const wrong = difference(randomFilterTree(new Random(context.seed, 4, index)))
      if (wrong !== undefined) differing.push(`#${index} ${wrong}`)
      progress.step()
    }
    progress.end()
    const ok = differing.length === 0
    const value = `${grouped(differing.length)} of ${grouped(count)}`
    return { value, samples: count, ok, ...(!ok && { note: differing.slice(0, 10).join('\n') }) }
  },
}

export function difference(filter: Filter): string | undefined {
  const printed = print(filter)
  try {
    const read = parse(printed)
    if (withoutSpans(read) === withoutSpans(filter)) return undefined
    return `${printed} was parsed as ${print(read)}`
  } catch (error) {
    return `${printed}: ${error instanceof Error ? error.message : String(error)}`
  }
}

export function randomFilterTree(random: Random): Filter {
  const conditions = random.chance(0.02) ? random.integer(20, 200) : random.integer(1, 8)
  let valuesLeft = 1000 - conditions
  return randomTree(random, conditions, 30, () => {
    const name = random.pick(['name', 'id', 'null', 'list_price', '_', 'A1', 'zqx_9', 'true'])
    const operator = random.pick(operators)
    const isList = operator === '[]' || operator === '![]'
    const count = isList
      ? Math.min(valuesLeft, random.chance(0.02) ? random.integer(2, 500) : random.integer(1, 4))
      : 1
    if (isList) valuesLeft -= count
    const values = Array.from({ length: Math.max(1, count) }, () =>
      random.chance(0.1) ? nullValue : textValue(randomText(random, 12)),
    )
    return condition(name, operator, values)
  })
}
