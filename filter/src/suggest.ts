import type { FilterProblem } from './error.ts'
import { fromSql, suggestionCharsMax } from './sql.ts'
import { isSpace, opensList, type Token, tokens } from './tokens.ts'

// `(name["a` needs three repairs. With more than four, the suggestion is unlikely to be what was meant.
const repairsMax = 4

/**
 * The filter as it was most likely meant, or undefined. Syntax of SQL is translated first. Then each step repairs the first
 * problem that `check` finds. Only a text without a problem is returned.
 */
export function suggest(
  text: string,
  problem: FilterProblem,
  check: (candidate: string) => FilterProblem | undefined,
): string | undefined {
  if (text.length > suggestionCharsMax) return undefined
  const translated = fromSql(text)
  const remaining = translated === undefined ? problem : check(translated)
  if (remaining === undefined) return translated
  let candidate = translated ?? text
  let current = remaining
  for (let repairs = 0; repairs < repairsMax; repairs += 1) {
    const repaired = repair(candidate, current)
    if (repaired === undefined) return undefined
    const next = check(repaired)
    if (next === undefined) return repaired
    candidate = repaired
    current = next
  }
  return undefined
}

/** Repairs one problem, if there is one obvious repair. */
function repair(text: string, problem: FilterProblem): string | undefined {
  switch (problem.code) {
    case 'filter_field_expected':
      return dropJoin(text, problem.offset)
    case 'filter_quote_unclosed':
      return closeQuote(text, problem.offset)
    case 'filter_escape_unfinished':
      return doubleBackslashes(text, problem.offset)
    case 'filter_list_unclosed':
      return closeList(text, problem.offset)
    case 'filter_list_value_empty':
      return insert(text, problem.offset, '""')
    case 'filter_group_unclosed':
      return text + ')'.repeat(depthOf(tokens(text)))
    case 'filter_unexpected':
      return dropClosing(text, problem.offset)
    case 'filter_empty':
    case 'filter_operator_expected':
    case 'filter_too_many_conditions':
    case 'filter_too_many_values':
    case 'filter_too_deep':
    case 'filter_too_long':
      return undefined
    default:
      return problem.code satisfies never
  }
}

/** `a=1&&b=2`, `a=1&`, `&a=1`, `(a=1|)`: removes the `&` or `|` that joins nothing. */
function dropJoin(text: string, offset: number): string | undefined {
  const { before, here } = around(text, offset)
  const last = before.at(-1)
  if (isJoin(last) && (here === undefined || here.kind === 'close')) return remove(text, last)
  if (!isJoin(here)) return undefined
  const leads = last === undefined || last.kind === 'open'
  return leads || last.kind === here.kind ? remove(text, here) : undefined
}

/** Inserts the quote before the closing brackets, unless the value could also extend beyond a delimiter. */
function closeQuote(text: string, offset: number): string | undefined {
  const { before } = around(text, offset)
  const inList = listIsOpen(before)
  const body = text.slice(offset + 1)
  const delimiters = inList ? ['&', '|', '(', ','] : ['&', '|', '(']
  if (body.endsWith('\\"') || delimiters.some((delimiter) => body.includes(delimiter))) return undefined
  let end = trimmedEnd(text, text.length)
  for (let depth = depthOf(before); depth > 0 && text[end - 1] === ')'; depth -= 1)
    end = trimmedEnd(text, end - 1)
  if (inList && text[end - 1] === ']') end = trimmedEnd(text, end - 1)
  if (inList && text.slice(offset + 1, end).includes(']')) return undefined
  return insert(text, Math.max(end, offset + 1), '"')
}

/** Doubles all backslashes up to the end of the value: a Windows path has several. */
function doubleBackslashes(text: string, offset: number): string {
  let repaired = text.slice(0, offset)
  let at = offset
  while (at < text.length && text[at] !== '"') {
    const pair = text.slice(at, at + 2)
    if (pair === '\\\\' || pair === '\\"') {
      repaired += pair
      at += 2
    } else {
      repaired += text[at] === '\\' ? '\\\\' : text.charAt(at)
      at += 1
    }
  }
  return repaired + text.slice(at)
}

/** `id[1,2&active=true` lacks its bracket, while in `name[R&D,QA]` the `&` belongs to a value. */
function closeList(text: string, offset: number): string | undefined {
  if (around(text, offset).before.at(-1)?.kind !== 'value') return undefined
  const rest = text.slice(offset)
  const bracket = rest.search(/[[\]]/)
  if (rest[bracket] !== ']') return insert(text, offset, ']')
  return /[=*<>]/.test(rest.slice(0, bracket)) ? undefined : insert(text, offset, '\\')
}

/** Removes `)` only at the end: in `a="1"|b="2")&c="3"` a `(` may be missing instead. */
function dropClosing(text: string, offset: number): string | undefined {
  const { before, here, after } = around(text, offset)
  if (here?.kind !== 'close' || listIsOpen(before)) return undefined
  return after.every((token) => token.kind === 'close') ? text.slice(0, offset) : undefined
}

function around(text: string, offset: number): { before: Token[]; here: Token | undefined; after: Token[] } {
  const all = tokens(text)
  const index = all.findIndex((token) => token.offset + token.length > offset)
  const split = index === -1 ? all.length : index
  return { before: all.slice(0, split), here: all[split], after: all.slice(split + 1) }
}

function depthOf(part: readonly Token[]): number {
  return part.reduce((depth, { kind }) => depth + (kind === 'open' ? 1 : kind === 'close' ? -1 : 0), 0)
}

function listIsOpen(before: readonly Token[]): boolean {
  const bracket = before.findLast(({ kind }) => kind === 'operator' || kind === 'list-close')
  return bracket?.kind === 'operator' && opensList(bracket)
}

function isJoin(token: Token | undefined): token is Token & { kind: 'and' | 'or' } {
  return token?.kind === 'and' || token?.kind === 'or'
}

function trimmedEnd(text: string, from: number): number {
  let end = from
  while (end > 0 && isSpace(text.charAt(end - 1))) end -= 1
  return end
}

function insert(text: string, offset: number, added: string): string {
  return text.slice(0, offset) + added + text.slice(offset)
}

function remove(text: string, token: Token): string {
  return text.slice(0, token.offset) + text.slice(token.offset + token.length)
}
