import type { Condition, Filter, Value } from '@quartermaster/filter'
import type { Random } from '../random.ts'

/**
 * Writes a filter in a random style: with quotes, backslashes or neither, with white space and unneeded parentheses. It shares
 * no code with the printer, so that an error of the printer cannot hide one of the parser.
 */
export function write(filter: Filter, random: Random): string {
  return writeTerm(filter, random, 0)
}

const depthMax = 32

function writeTerm(filter: Filter, random: Random, depth: number): string {
  const addsParentheses = depth + heightOf(filter) < depthMax && random.chance(0.03)
  return addsParentheses ? group(filter, random, depth) : writeBare(filter, random, depth)
}

function group(filter: Filter, random: Random, depth: number): string {
  return `(${space(random)}${writeBare(filter, random, depth + 1)}${space(random)})`
}

function writeBare(filter: Filter, random: Random, depth: number): string {
  if (filter.kind === 'condition') return writeCondition(filter, random, depth > 0)
  const sign = filter.kind === 'and' ? '&' : '|'
  return filter.terms
    .map((term) => {
      const needed = filter.kind === 'and' ? term.kind !== 'condition' : term.kind === 'or'
      return needed ? group(term, random, depth) : writeTerm(term, random, depth)
    })
    .join(`${space(random)}${sign}${space(random)}`)
}

/** An upper bound for the levels of parentheses that a term needs. */
function heightOf(filter: Filter): number {
  return filter.kind === 'condition' ? 1 : 2 + Math.max(...filter.terms.map(heightOf))
}

function writeCondition({ field, operator, values }: Condition, random: Random, inGroup: boolean): string {
  if (operator === '[]' || operator === '![]') {
    const list = values.map(
      (value) => `${space(random)}${writeValue(value, random, true, inGroup)}${space(random)}`,
    )
    return `${field.text}${operator.slice(0, -1)}${list.join(',')}]`
  }
  const [value] = values
  if (value === undefined) throw new Error('the condition has no value')
  const written = writeValue(value, random, false, inGroup)
  // `>` followed by an unquoted `=5` would be parsed as `>=`.
  const separator = /[=!<>*]$/.test(operator) && /^[=*[]/.test(written) ? ' ' : space(random)
  return `${field.text}${operator}${separator}${written}`
}

function writeValue(value: Value, random: Random, inList: boolean, inGroup: boolean): string {
  if (value.kind === 'null') return 'null'
  const { text } = value
  const mayBeEmpty = text === '' && !inList
  if (mayBeEmpty && random.chance(0.5)) return ''
  if (text === '' || random.chance(0.35)) return `"${text.replace(/["\\]/g, '\\$&')}"`
  return bare(text, random, inList, inGroup)
}

function bare(text: string, random: Random, inList: boolean, inGroup: boolean): string {
  if (text === 'null') return '\\null'
  const allowsParentheses = !inGroup || isBalanced(text)
  const characters = Array.from(text)
  return characters
    .map((character, at) => {
      const edge = at === 0 || at === characters.length - 1
      // Escaping one parenthesis of a pair would leave the other one unbalanced.
      const isUnneeded = random.chance(0.01) && character !== '(' && character !== ')'
      const escaped = mustEscape(character, at, edge, inList, allowsParentheses) || isUnneeded
      return escaped ? `\\${character}` : character
    })
    .join('')
}

function mustEscape(
  unit: string,
  at: number,
  edge: boolean,
  inList: boolean,
  allowsParentheses: boolean,
): boolean {
  if (unit === '\\' || unit === '&' || unit === '|') return true
  if (unit === '"') return at === 0
  if (unit === ',' || unit === ']') return inList
  if (unit === '(' || unit === ')') return !allowsParentheses
  return edge && /\s/u.test(unit)
}

function isBalanced(text: string): boolean {
  let depth = 0
  for (const unit of text) {
    if (unit === '(') depth += 1
    if (unit === ')') depth -= 1
    if (depth < 0) return false
  }
  return depth === 0
}

function space(random: Random): string {
  return random.chance(0.06) ? random.pick([' ', '  ', '\t', ' \n', '\r\n']) : ''
}

/** Percent-encodes everything that can be encoded; a space becomes `+` or `%20`. */
export function encodeForm(text: string, random: Random): string {
  return encodeURIComponent(text).replace(/%20/g, () => random.pick(['%20', '+']))
}

// Characters that a request line cannot contain or that have a meaning there: white space, control and non-ASCII
// characters, `%` and `+`, which are decoded, and `#`, where a URL ends.
const neverRaw = /[^\x21-\x7e]|[%+#]/gu

/**
 * Encodes only what it must. An `&` stays raw, unless it is first, last, next to another `&` (empty parts are ignored) or
 * before the name of a parameter.
 */
export function encodeRaw(text: string): string {
  return text
    .replace(neverRaw, (character) => encodeURIComponent(character))
    .replace(/^&|&(?=&|$|(?:fields|filter|page|limit)(?:=|&|$))/g, '%26')
}
