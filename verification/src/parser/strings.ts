import { FilterError, parse, print } from '@quartermaster/filter'
import type { Check } from '../check.ts'
import { withoutSpans } from '../filter-proof/cases.ts'
import { randomText } from '../filter-proof/rows.ts'
import { write } from '../filter-proof/write.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { randomFilterTree } from './print-identity.ts'

/** Whatever comes in, only a FilterError comes out, and it points into the text. */
export const parserStrings: Check = {
  name: 'parser_any_string',
  bound: '0 violations',
  async run(context) {
    const count = context.size(1_000_000, 150_000)
    const violations: string[] = []
    let refused = 0
    const progress = context.progress('strings', count)
    for (let index = 0; index < count; index += 1) {
      const text = randomString(new Random(context.seed, 5, index))
      const outcome = check(text)
      if (outcome === 'refused') refused += 1
      else if (outcome !== 'read')
        violations.push(`#${index} ${JSON.stringify(text.slice(0, 500))}: ${outcome}`)
      progress.step()
    }
    progress.end()
    // Both kinds have to be there in numbers, or one half of the claim was not looked at.
    const telling = refused > count / 20 && count - refused > count / 20
    const note = [`${grouped(refused)} refused, ${grouped(count - refused)} read`, ...violations.slice(0, 10)]
    return {
      value: `${grouped(violations.length)} of ${grouped(count)}`,
      ok: violations.length === 0 && telling,
      note: note.join('\n'),
    }
  },
}

type Verdict = 'read' | 'refused' | (string & {})

export function check(text: string, read: typeof parse = parse): Verdict {
  try {
    const filter = read(text)
    return withoutSpans(read(print(filter))) === withoutSpans(filter) ? 'read' : 'print changes it'
  } catch (error) {
    if (!(error instanceof FilterError)) return `threw ${String(error)}`
    const { offset, length, suggestion } = error.problem
    const inside =
      Number.isInteger(offset) &&
      Number.isInteger(length) &&
      offset >= 0 &&
      length >= 0 &&
      offset + length <= text.length
    if (!inside) return `points outside: ${offset}+${length} of ${text.length}`
    return suggestion === undefined || reads(suggestion, read)
      ? 'refused'
      : `suggests what is wrong: ${suggestion}`
  }
}

function reads(text: string, read: typeof parse): boolean {
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
  if (style < 0.15) return soup(random, [...reserved, ...words], 24)
  if (style < 0.25) return soup(random, reserved, 12)
  if (style < 0.3) return Array.from({ length: random.integer(0, 20) }, () => randomUnit(random)).join('')
  if (style < 0.31) return random.pick(reserved).repeat(random.integer(1, 3000))
  const text = write(randomFilterTree(random), random)
  return style < 0.4 ? text : mutated(random, text)
}

function soup(random: Random, from: readonly string[], most: number): string {
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
    const keep = random.chance(0.5)
    changed = random.chance(0.05)
      ? changed.slice(0, at)
      : changed.slice(0, at) + inserted + changed.slice(keep ? at : to)
  }
  return changed
}
