import type { Operator, Span } from './ast.ts'

/**
 * A filter cut into tokens. It never throws: what fits nowhere becomes a `stray`, and a value carries its own flaw,
 * so that the parser can judge and an editor can colour a filter that is still being typed. White space between
 * tokens belongs to none, and no token is empty: a value that was left out (`name=`) has no token.
 */
export type Token = Mark | OperatorToken | ValueToken

export interface Mark extends Span {
  readonly kind: 'field' | 'and' | 'or' | 'open' | 'close' | 'comma' | 'list-close' | 'stray'
  readonly text: string
}

/** A comparison, or what opens a list: `[` or `![`. */
export interface OperatorToken extends Span {
  readonly kind: 'operator'
  readonly operator: Operator
}

export interface ValueToken extends Span {
  readonly kind: 'value'
  /** As meant: without quotes, escapes undone. */
  readonly text: string
  readonly flaw?: Flaw
}

/** `escape`: a backslash that escapes nothing. `quote`: no closing quote. The first one in the value. */
export interface Flaw extends Span {
  readonly kind: 'escape' | 'quote'
}

/** What is due next. The same characters mean different things: `*` is an operator, and ordinary in a value. */
type State = 'term' | 'operator' | 'value' | 'list-value' | 'list-next' | 'join'

// Longest first, so that `>=` is not read as `>` and a value.
const operatorTexts: readonly (readonly [string, Operator])[] = [
  ['!=', '!='],
  ['!*', '!*'],
  ['![', '![]'],
  ['>=', '>='],
  ['<=', '<='],
  ['=', '='],
  ['*', '*'],
  ['>', '>'],
  ['<', '<'],
  ['[', '[]'],
]

const markKinds = new Map<string, Mark['kind']>([
  ['&', 'and'],
  ['|', 'or'],
  ['(', 'open'],
  [')', 'close'],
  [',', 'comma'],
  [']', 'list-close'],
])

const breaks = new Set('&|(),]=!*<>[ \t\r\n')

export function tokens(text: string): Token[] {
  const found: Token[] = []
  let state: State = 'term'
  let depth = 0
  for (let at = skipSpace(text, 0); at < text.length; ) {
    const token = tokenAt(text, at, state, depth)
    found.push(token)
    state = stateAfter(token, state)
    if (token.kind === 'open') depth += 1
    if (token.kind === 'close' && depth > 0) depth -= 1
    at = skipSpace(text, token.offset + token.length)
  }
  return found
}

function tokenAt(text: string, at: number, state: State, depth: number): Token {
  if (state === 'value' || state === 'list-value') {
    if (text[at] === '"') return quoted(text, at)
    const value = bare(text, at, state === 'list-value', depth > 0)
    if (value.length > 0) return value
  }
  return (
    (state === 'term' ? fieldAt(text, at) : undefined) ??
    (state === 'operator' ? operatorAt(text, at) : undefined) ??
    markAt(text, at)
  )
}

function stateAfter(token: Token, state: State): State {
  switch (token.kind) {
    case 'field':
      return 'operator'
    case 'operator':
      return opensList(token) ? 'list-value' : 'value'
    case 'value':
      return state === 'list-value' ? 'list-next' : 'join'
    case 'comma':
      return state === 'list-next' ? 'list-value' : state
    case 'and':
    case 'or':
    case 'open':
      return 'term'
    case 'close':
    case 'list-close':
      return 'join'
    case 'stray':
      return state
    default:
      return token satisfies never
  }
}

function fieldAt(text: string, at: number): Mark | undefined {
  if (!isLetter(text.charCodeAt(at))) return undefined
  let end = at + 1
  while (end < text.length && isLetterOrDigit(text.charCodeAt(end))) end += 1
  return mark('field', text, at, end)
}

function operatorAt(text: string, at: number): OperatorToken | undefined {
  for (const [written, operator] of operatorTexts)
    if (text.startsWith(written, at))
      return { kind: 'operator', operator, offset: at, length: written.length }
  return undefined
}

export function opensList({ operator }: OperatorToken): boolean {
  return operator === '[]' || operator === '![]'
}

function markAt(text: string, at: number): Mark {
  const kind = markKinds.get(text.charAt(at))
  if (kind !== undefined) return mark(kind, text, at, at + 1)
  let end = at
  while (end < text.length && !breaks.has(text.charAt(end))) end += 1
  return mark('stray', text, at, Math.max(end, at + 1))
}

function mark(kind: Mark['kind'], text: string, at: number, end: number): Mark {
  return { kind, text: text.slice(at, end), offset: at, length: end - at }
}

/** From a character that is not white space up to the delimiter; white space before that is left out. */
function bare(text: string, start: number, inList: boolean, inGroup: boolean): ValueToken {
  let meant = ''
  let copied = start
  let end = start
  let parentheses = 0
  let at = start
  while (at < text.length) {
    const char = text.charAt(at)
    if (char === '&' || char === '|' || (inList && (char === ',' || char === ']'))) break
    if (inGroup && char === ')' && parentheses === 0) break
    if (char === '(') parentheses += 1
    if (char === ')') parentheses -= 1
    if (char === '\\') {
      if (at + 1 === text.length) {
        const flaw: Flaw = { kind: 'escape', offset: at, length: 1 }
        return {
          kind: 'value',
          text: meant + text.slice(copied),
          offset: start,
          length: at + 1 - start,
          flaw,
        }
      }
      meant += text.slice(copied, at)
      copied = at + 1
      at += 2
      end = at // an escaped space is part of the value, even as its last character
    } else {
      at += 1
      if (!isSpace(char)) end = at
    }
  }
  return { kind: 'value', text: meant + text.slice(copied, end), offset: start, length: end - start }
}

function quoted(text: string, start: number): ValueToken {
  let meant = ''
  let copied = start + 1
  let flaw: Flaw | undefined
  let at = start + 1
  while (at < text.length && text[at] !== '"') {
    if (text[at] !== '\\') {
      at += 1
      continue
    }
    const next = text[at + 1]
    if (next !== '"' && next !== '\\') {
      flaw ??= { kind: 'escape', offset: at, length: next === undefined ? 1 : 2 }
      at += 1
      continue
    }
    meant += text.slice(copied, at)
    copied = at + 1
    at += 2
  }
  meant += text.slice(copied, at)
  const closed = at < text.length
  if (!closed) flaw ??= { kind: 'quote', offset: start, length: text.length - start }
  const length = (closed ? at + 1 : at) - start
  return { kind: 'value', text: meant, offset: start, length, ...(flaw && { flaw }) }
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (at < text.length && isSpace(text.charAt(at))) at += 1
  return at
}

export function isSpace(char: string): boolean {
  return char === ' ' || char === '\t' || char === '\r' || char === '\n'
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95
}

function isLetterOrDigit(code: number): boolean {
  return isLetter(code) || (code >= 48 && code <= 57)
}
