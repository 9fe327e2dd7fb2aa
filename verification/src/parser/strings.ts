import { FilterError, parse, print } from '@quartermaster/filter'
import type { Check } from '../check.ts'
import { withoutSpans } from '../filter-proof/cases.ts'
import { randomText } from '../filter-proof/rows.ts'
import { write } from '../filter-proof/write.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { randomFilterTree } from './print-identity.ts'

/** Every string is either parsed or rejected with a FilterError whose span is inside the string. */
export const parserStrings: Check = {
  name: 'parser_any_string',
  bound: '0 violations',
  async run(context) {
    const count = context.size(1_000_000, 10_000)
    const violations: string[] = []
    let rejected = 0
    const progress = context.progress('strings', count)
    for (let index = 0; index < count; index += 1) {
      const text = randomString(new Random(context.seed, 5, index))
      const outcome = checkString(text)
      if (outcome === 'rejected') rejected += 1
      else if (outcome !== 'parsed')
        violations.push(`#${index} ${JSON.stringify(text.slice(0, 500))}: ${outcome}`)
      progress.step()
    }
    progress.end()
    // At least 5 % of each kind, or one half of the claim was not tested.
    const hasBothKinds = rejected > count / 20 && count - rejected > count / 20
    const note = [
      `${grouped(rejected)} rejected, ${grouped(count - rejected)} parsed`,
      ...violations.slice(0, 10),
    ]
    return {
      value: `${grouped(violations.length)} of ${grouped(count)}`,
      samples: Math.min(rejected, count - rejected),
      ok: violations.length === 0 && hasBothKinds,
      note: note.join('\n'),
    }
  },
}

type Verdict = 'parsed' | 'rejected' | (string & {})

export function checkString(text: string, read: typeof parse = parse): Verdict {
  try {
    const filter = read(text)
    return withoutSpans(read(print(filter))) === withoutSpans(filter) ? 'parsed' : 'printing changes it'
  } catch (error) {
    if (!(error instanceof FilterError)) return `threw ${String(error)}`
    const { offset, length, suggestion } = error.problem
    const inside =
      Number.isInteger(offset) &&
      Number.isInteger(length) &&
      offset >= 0 &&
      length >= 0 &&
      offset + length <= text.length
    if (!inside) return `the span is outside: ${offset}+${length} of ${text.length}`
    return suggestion === undefined || isParsed(suggestion, read)
      ? 'rejected'
      : `the suggested filter is invalid: ${suggestion}`
  }
}

function isParsed(text: string, read: typeof parse): boolean {
  try {
    read(text)
    return true
  } catch {
    return false
  }
}

const reserved = [
  '&',
  '|',
  '(',
  ')',
  '[',
  ']',
  '![',
  '!',
  '=',
  '!=',
  '*',
  '!*',
  '>',
  '>=',
  '<',
  '<=',
  ',',
  '"',
  '\\',
]
const words = [
  'name',
  'id',
  'null',
  'a',
  '1',
  ' ',
  '\t',
  '\n',
  'and',
  'or',
  '_',
  '\0',
  '\ud800',
  '\udc00',
  '😀',
  '\u2028',
]

export function randomString(random: Random): string {
  const style = random.next()
  if (style < 0.15) return randomTokens(random, [...reserved, ...words], 24)
  if (style < 0.25) return randomTokens(random, reserved, 12)
  if (style < 0.3) return Array.from({ length: random.integer(0, 20) }, () => randomUnit(random)).join('')
  if (style < 0.31) return random.pick(reserved).repeat(random.integer(1, 3000))
  const text = write(randomFilterTree(random), random)
  return style < 0.4 ? text : mutated(random, text)
}

function randomTokens(random: Random, from: readonly string[], most: number): string {
  return Array.from({ length: random.integer(0, most) }, () => random.pick(from)).join('')
}

function randomUnit(random: Random): string {
  return String.fromCharCode(random.chance(0.7) ? random.integer(0, 127) : random.integer(0, 0xffff))
}

function mutated(random: Random, text: string): string {
  let changed = text
  for (let left = random.pick([1, 1, 1, 2, 3, 6]); left > 0; left -= 1) {
    const at = random.integer(0, changed.length)
    const to = Math.min(changed.length, at + random.pick([1, 1, 1, 2, 5, 20]))
    const inserted = random.pick([
      () => '',
      () => random.pick(reserved),
      () => random.pick(words),
      () => randomText(random, 6),
      () => changed.slice(at, to).repeat(2),
    ])()
    const inserts = random.chance(0.5)
    changed = random.chance(0.05)
      ? changed.slice(0, at)
      : changed.slice(0, at) + inserted + changed.slice(inserts ? at : to)
  }
  return changed
}
