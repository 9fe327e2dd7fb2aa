import type { Operator } from './ast.ts'
import { isLetter, isLetterOrDigit, skipSpace } from './tokens.ts'

type Comparison = Exclude<Operator, '[]' | '![]'>
export type Verb =
  | { readonly kind: 'compare' | 'like'; readonly operator: Comparison }
  | { readonly kind: Phrase }
type Phrase = 'in' | 'is' | 'between' | 'list' | 'not-list'

const compare = (operator: Comparison): Verb => ({ kind: 'compare', operator })

/** The words that other languages have for operators, and the operators that replace them. */
export const operatorWords: ReadonlyMap<string, string> = new Map([
  ['eq', '='],
  ['equals', '='],
  ['is', '='],
  ['ne', '!='],
  ['neq', '!='],
  ['gt', '>'],
  ['gte', '>='],
  ['ge', '>='],
  ['lt', '<'],
  ['lte', '<='],
  ['le', '<='],
  ['contains', '*'],
  ['like', '*'],
  ['ilike', '*'],
  ['in', '[a,b]'],
  ['between', '>= and <='],
  ['not', '!=, !* or ![a,b]'],
])

export const joinWords: ReadonlyMap<string, '&' | '|'> = new Map([
  ['and', '&'],
  ['or', '|'],
])

// Longest first. Only symbols that some other language has; a filter such as `name==x` is valid by itself.
export const symbols: readonly (readonly [string, Verb])[] = [
  ['!==', compare('!=')],
  ['===', compare('=')],
  ['! =', compare('!=')],
  ['! *', compare('!*')],
  ['> =', compare('>=')],
  ['< =', compare('<=')],
  ['==', compare('=')],
  ['<>', compare('!=')],
  ['=>', compare('>=')],
  ['=<', compare('<=')],
  ['!=', compare('!=')],
  ['!*', compare('!*')],
  ['>=', compare('>=')],
  ['<=', compare('<=')],
  ['![', { kind: 'not-list' }],
  ['[', { kind: 'list' }],
  ['=', compare('=')],
  ['*', compare('*')],
  ['>', compare('>')],
  ['<', compare('<')],
]

export const opposites: Readonly<Record<Comparison, Comparison>> = {
  '=': '!=',
  '!=': '=',
  '*': '!*',
  '!*': '*',
  '>': '<=',
  '<=': '>',
  '<': '>=',
  '>=': '<',
}

export const keywords = new Set(['NULL', 'TRUE', 'FALSE'])

export function verbOf(word: string): Verb | undefined {
  switch (word) {
    case 'in':
    case 'is':
    case 'between':
      return { kind: word }
    case 'like':
    case 'ilike':
      return { kind: 'like', operator: '*' }
    default:
      return compared.get(word)
  }
}

const compared = new Map(
  symbols.flatMap(([symbol, verb]) =>
    [...operatorWords].filter(([, operator]) => operator === symbol).map(([word]) => [word, verb]),
  ),
)

/** The letters, digits and `_` at this offset, if they begin with a letter. */
export function wordAt(text: string, from: number): string {
  if (!isLetter(text.charCodeAt(from))) return ''
  let end = from + 1
  while (end < text.length && isLetterOrDigit(text.charCodeAt(end))) end += 1
  return text.slice(from, end)
}

/** A string in single quotes, with two for one within it. */
export function sqlString(text: string, from: number): { text: string; end: number } | undefined {
  if (text[from] !== "'") return undefined
  let value = ''
  let copied = from + 1
  for (let at = text.indexOf("'", copied); at !== -1; at = text.indexOf("'", at + 2)) {
    value += text.slice(copied, at)
    if (text[at + 1] !== "'") return { text: value, end: at + 1 }
    copied = at + 1
  }
  return undefined
}

/** The end of a value in double quotes, as the filter language has them; undefined if there is none. */
export function quotedEnd(text: string, from: number): number | undefined {
  if (text[from] !== '"') return undefined
  for (let at = from + 1; at < text.length; at += text[at] === '\\' ? 2 : 1)
    if (text[at] === '"') return at + 1
  return undefined
}

/** The text of a pattern with `%` only at its ends. `_` and `\\` are ambiguous: an operator for patterns does not exist. */
export function withoutWildcards(pattern: string): string | undefined {
  const start = pattern.startsWith('%') ? 1 : 0
  const text = pattern.slice(start, pattern.endsWith('%') ? -1 : undefined)
  return text === '' || /[%_\\]/.test(text) ? undefined : text
}

/** Whether a condition follows: a name and an operator, possibly after `not` and parentheses. */
export function startsCondition(text: string, from: number): boolean {
  let at = skipSpace(text, from)
  let name = wordAt(text, at)
  while (text[at] === '(' || name.toLowerCase() === 'not') {
    at = skipSpace(text, at + Math.max(name.length, 1))
    name = wordAt(text, at)
  }
  if (name === '') return false
  at = skipSpace(text, at + name.length)
  if (symbols.some(([symbol]) => text.startsWith(symbol, at))) return true
  const word = wordAt(text, at).toLowerCase()
  const next = skipSpace(text, at + word.length)
  if (name.toLowerCase() === 'contains' && text[at] === '(') return true
  if (word === 'not') return verbOf(wordAt(text, next).toLowerCase()) !== undefined
  if (word === 'in') return text[next] === '(' || text[next] === '['
  if (word === 'is') return ['NULL', 'NOT', ...keywords].includes(wordAt(text, next).toUpperCase())
  return verbOf(word) !== undefined
}
