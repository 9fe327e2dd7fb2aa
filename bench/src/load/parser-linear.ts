import { type FilterBounds, FilterError, filterBounds, parse } from '@quartermaster/filter'
import type { Check } from '../../../verification/src/check.ts'

/** Texts of about `length` characters that take a quadratic parser long. */
const shapes: Record<string, (length: number) => string> = {
  opening: (length) => '('.repeat(length),
  closing: (length) => ')'.repeat(length),
  'nested groups': (length) => `${'('.repeat(length / 2)}a=1${')'.repeat(length / 2)}`,
  'groups in a value': (length) => `(a=${'('.repeat(length / 2)}${')'.repeat(length / 2)})`,
  backslashes: (length) => `a=${'\\'.repeat(length)}`,
  'quoted backslashes': (length) => `a="${'\\'.repeat(length)}"`,
  'quoted escapes of plain characters': (length) => `a="${'\\x'.repeat(length / 2)}"`,
  quotes: (length) => `a=${'"'.repeat(length)}`,
  'quoted quotes': (length) => `a="${'\\"'.repeat(length / 2)}"`,
  'unclosed quote': (length) => `a="${'x'.repeat(length)}`,
  'unclosed quotes': (length) => 'a="&'.repeat(length / 4),
  commas: (length) => `a[${','.repeat(length)}]`,
  'list of ones': (length) => `a[${'1,'.repeat(length / 2)}1]`,
  'unclosed list': (length) => `a[${'1,'.repeat(length / 2)}`,
  'opening brackets': (length) => `a${'['.repeat(length)}`,
  'unclosed lists': (length) => 'a[1&'.repeat(length / 4),
  conditions: (length) => `${'a=1&'.repeat(length / 4)}a=1`,
  '| and &': (length) => `${'a=1|b=2&'.repeat(length / 8)}a=1`,
  joins: (length) => '&'.repeat(length),
  'long name': (length) => 'a'.repeat(length),
  'long value': (length) => `a=${'x'.repeat(length)}`,
  spaces: (length) => ' '.repeat(length),
  'spaces in a value': (length) => `a=x${' '.repeat(length)}x`,
  'spaces within quotes': (length) => `a="${' '.repeat(length)}"x`,
  'stray words': (length) => `a="1"${' and'.repeat(length / 4)}`,
  exclamation: (length) => `a${'!'.repeat(length)}`,
}

// With the normal bounds most of these texts are rejected early, which hides the parsing time. The bound of the depth
// remains, because the parser is recursive.
const wide: FilterBounds = {
  conditionsMax: Number.MAX_SAFE_INTEGER,
  listValuesMax: Number.MAX_SAFE_INTEGER,
  depthMax: filterBounds.depthMax,
  lengthMax: 10_000_000,
}

// Eight times this length is just below the limit of 64 KB.
const length = 8_000
const times = 8
const boundRatio = 3

/** The time per character of a text of length 8 n divided by that of length n. A quadratic parser has the ratio 8. */
export const parserLinear: Check = {
  name: 'parser_linear',
  bound: `at most ${boundRatio} × per character`,
  async run(context) {
    const rounds = context.size(41, 15)
    const ratios: { name: string; ratio: number }[] = []
    const progress = context.progress('shapes of text', Object.keys(shapes).length * 2)
    for (const [name, shape] of Object.entries(shapes)) {
      for (const [kind, bounds] of [
        ['', filterBounds],
        [' without bounds', wide],
      ] as const) {
        ratios.push({
          name: `${name}${kind}`,
          ratio: ratioOf(shape(length), shape(length * times), bounds, rounds),
        })
        progress.step()
      }
    }
    progress.end()
    ratios.sort((a, b) => b.ratio - a.ratio)
    const worst = ratios[0]?.ratio ?? Number.POSITIVE_INFINITY
    const note = ratios.slice(0, 5).map(({ name, ratio }) => `${ratio.toFixed(2)} ${name}`)
    return {
      value: `${worst.toFixed(2)} at worst`,
      samples: ratios.length,
      ok: worst <= boundRatio,
      note: note.join('\n'),
    }
  },
}

/** Uses the minimum of several rounds, because other work of the machine only adds time. Both lengths alternate. */
export function ratioOf(
  short: string,
  long: string,
  bounds: FilterBounds,
  rounds: number,
  read = parse,
): number {
  let shortMs = Number.POSITIVE_INFINITY
  let longMs = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round += 1) {
    shortMs = Math.min(shortMs, timed(times, short, bounds, read))
    longMs = Math.min(longMs, timed(1, long, bounds, read))
  }
  return longMs / long.length / (shortMs / times / short.length)
}

/** Parses the short text repeatedly, so that both lengths take about the same time and the clock is precise enough. */
function timed(repeats: number, text: string, bounds: FilterBounds, read: typeof parse): number {
  const started = performance.now()
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    try {
      read(text, bounds)
    } catch (error) {
      if (!(error instanceof FilterError)) throw error
    }
  }
  return performance.now() - started
}
