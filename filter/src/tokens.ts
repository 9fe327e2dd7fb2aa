import type { Operator, Span } from './ast.ts'

/**
 * The tokens of a filter. The tokenizer never throws, so that an editor can highlight a filter while it is being typed:
 * text that is not allowed in its position becomes a `stray` token, and a malformed value has a `flaw`, which the parser
 * reports. White space between tokens belongs to no token. No token is empty: a missing value (`name=`) has no token.
 */
export type Token = SimpleToken | OperatorToken | ValueToken

export interface SimpleToken extends Span {
  readonly kind: 'field' | 'and' | 'or' | 'open' | 'close' | 'comma' | 'list-close' | 'stray'
  readonly text: string
}

/** A comparison operator, or the start of a list: `[` or `![`. */
export interface OperatorToken extends Span {
  readonly kind: 'operator'
  readonly operator: Operator
}

export interface ValueToken extends Span {
  readonly kind: 'value'
  /** The value without quotes and escapes. */
  readonly text: string
  readonly flaw?: Flaw
}

/** The first error in a value. `escape`: a backslash that escapes nothing. `quote`: no closing quote. */
export interface Flaw extends Span {
  readonly kind: 'escape' | 'quote'
}

/** What the grammar expects next. It decides the meaning of a character: `*` is an operator, but ordinary in a value. */
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

const punctuation = new Map<string, SimpleToken['kind']>([
  ['&', 'and'],
  ['|', 'or'],
  ['(', 'open'],
  [')', 'close'],
  [',', 'comma'],
  [']', 'list-close'],
])

const strayEnds = new Set('&|(),]=!*<>[ \t\r\n')

export function tokens(text: string): Token[] {
  const tokenizer = new Tokenizer(text)
  const found: Token[] = []
  for (let token = tokenizer.next(); token !== undefined; token = tokenizer.next()) found.push(token)
  return found
}

/** Reads a token at a time, so that a filter beyond a limit costs no more than one at the limit. */
export class Tokenizer {
  readonly #text: string
  #at: number
  #state: State = 'term'
  #depth = 0

  constructor(text: string) {
    this.#text = text
    this.#at = skipSpace(text, 0)
  }

  /** Undefined at the end of the text. */
  next(): Token | undefined {
    if (this.#at === this.#text.length) return undefined
    const token = tokenAt(this.#text, this.#at, this.#state, this.#depth)
    this.#state = stateAfter(token, this.#state)
    if (token.kind === 'open') this.#depth += 1
    if (token.kind === 'close' && this.#depth > 0) this.#depth -= 1
    this.#at = skipSpace(this.#text, token.offset + token.length)
    return token
  }
}

function tokenAt(text: string, at: number, state: State, depth: number): Token {
  if (state === 'value' || state === 'list-value') {
    if (text[at] === '"') return quoted(text, at)
    const value = unquoted(text, at, state === 'list-value', depth > 0)
    if (value.length > 0) return value
  }
  return (
    (state === 'term' ? fieldAt(text, at) : undefined) ??
    (state === 'operator' ? operatorAt(text, at) : undefined) ??
    punctuationAt(text, at)
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

function fieldAt(text: string, at: number): SimpleToken | undefined {
  if (!isLetter(text.charCodeAt(at))) return undefined
  let end = at + 1
  while (end < text.length && isLetterOrDigit(text.charCodeAt(end))) end += 1
  return simpleToken('field', text, at, end)
}

function operatorAt(text: string, at: number): OperatorToken | undefined {
  for (const [symbol, operator] of operatorTexts)
    if (text.startsWith(symbol, at)) return { kind: 'operator', operator, offset: at, length: symbol.length }
  return undefined
}

export function opensList({ operator }: OperatorToken): boolean {
  return operator === '[]' || operator === '![]'
}

function punctuationAt(text: string, at: number): SimpleToken {
  const kind = punctuation.get(text.charAt(at))
  if (kind !== undefined) return simpleToken(kind, text, at, at + 1)
  let end = at
  while (end < text.length && !strayEnds.has(text.charAt(end))) end += 1
  return simpleToken('stray', text, at, Math.max(end, at + 1))
}

function simpleToken(kind: SimpleToken['kind'], text: string, at: number, end: number): SimpleToken {
  return { kind, text: text.slice(at, end), offset: at, length: end - at }
}

/** An unquoted value: from `start` up to the next delimiter, without trailing white space. */
function unquoted(text: string, start: number, inList: boolean, inGroup: boolean): ValueToken {
  let value = ''
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
          text: value + text.slice(copied),
          offset: start,
          length: at + 1 - start,
          flaw,
        }
      }
      value += text.slice(copied, at)
      copied = at + 1
      at += 2
      end = at // an escaped space is part of the value, even as its last character
    } else {
      at += 1
      if (!isSpace(char)) end = at
    }
  }
  return { kind: 'value', text: value + text.slice(copied, end), offset: start, length: end - start }
}

function quoted(text: string, start: number): ValueToken {
  let value = ''
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
    value += text.slice(copied, at)
    copied = at + 1
    at += 2
  }
  value += text.slice(copied, at)
  const closed = at < text.length
  if (!closed) flaw ??= { kind: 'quote', offset: start, length: text.length - start }
  const length = (closed ? at + 1 : at) - start
  return { kind: 'value', text: value, offset: start, length, ...(flaw && { flaw }) }
}

export function skipSpace(text: string, from: number): number {
  let at = from
  while (at < text.length && isSpace(text.charAt(at))) at += 1
  return at
}

export function isSpace(char: string): boolean {
  return char === ' ' || char === '\t' || char === '\r' || char === '\n'
}

export function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95
}

export function isLetterOrDigit(code: number): boolean {
  return isLetter(code) || (code >= 48 && code <= 57)
}
