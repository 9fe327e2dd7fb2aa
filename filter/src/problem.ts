import type { Span } from './ast.ts'
import { FilterError, type FilterErrorCode } from './error.ts'
import { joinWords, operatorWords } from './sql-words.ts'
import type { Flaw, Token } from './tokens.ts'

/** The token at which parsing stopped, or the end of the filter. */
export type Found = Token | (Span & { readonly kind: 'end' })

const operatorPhrases = ['=', '!=', '*', '!*', '>', '>=', '<', '<=', '[', '!['].map(phrase)

export function blank(text: string): FilterError {
  const at = { offset: 0, length: text.length }
  return problem(
    'filter_empty',
    at,
    ['a field name', '"("'],
    'The filter is empty. Leave it out, or write a condition.',
  )
}

export function fieldExpected(text: string, found: Found): FilterError {
  const isDoubled =
    (found.kind === 'and' || found.kind === 'or') && text[found.offset - 1] === text[found.offset]
  const hint = isDoubled ? ` Write a single ${describe(text, found)}.` : ''
  const message = `Expected a field name at the start of a condition, but found ${describe(text, found)}.${hint}`
  return problem('filter_field_expected', found, ['a field name', '"("'], message)
}

export function operatorExpected(text: string, field: string, found: Found): FilterError {
  const message = `Expected an operator after the field name "${excerpt(field)}", but found ${describe(text, found)}.${operatorHint(field, found)}`
  return problem('filter_operator_expected', found, operatorPhrases, message)
}

export function flawed(text: string, flaw: Flaw): FilterError {
  if (flaw.kind === 'quote') {
    const message =
      'The quoted value has no closing quote. Write \\" for a quote within it, and a plain quote at its end.'
    return problem('filter_quote_unclosed', flaw, ['a closing quote'], message)
  }
  if (flaw.length === 1) {
    const message = 'The filter ends after a backslash. Write two backslashes for a literal backslash.'
    return problem('filter_escape_unfinished', flaw, ['a character after the backslash'], message)
  }
  const written = excerpt(text.slice(flaw.offset, flaw.offset + flaw.length))
  const message = `Unknown escape sequence "${written}" within quotes. Write \\\\ for a backslash and \\" for a quote.`
  return problem('filter_escape_unfinished', flaw, ['"\\\\"', '"\\""'], message)
}

export function listUnclosed(
  text: string,
  open: Span,
  found: Found,
  expected: readonly string[],
): FilterError {
  const message =
    `The list that opens at offset ${open.offset} is not closed: expected ${either(expected)}, ` +
    `but found ${describe(text, found)}. Put a value that contains "&", "|" or ")" in quotes.`
  return problem('filter_list_unclosed', found, expected, message)
}

export function listValueEmpty(found: Span): FilterError {
  const message =
    'A value is missing in the list. Write "" for the empty text, or remove the comma or the list.'
  return problem('filter_list_value_empty', found, ['a value'], message)
}

export function groupUnclosed(text: string, open: Span, found: Found): FilterError {
  const message = `The parenthesis that opens at offset ${open.offset} is not closed: expected ")", but found ${describe(text, found)}.`
  return problem('filter_group_unclosed', found, ['"&"', '"|"', '")"'], message)
}

export function unexpected(text: string, found: Found, expected: readonly string[]): FilterError {
  const join = found.kind === 'stray' ? joinWords.get(found.text.toLowerCase()) : undefined
  const hint = join !== undefined && expected.includes(phrase(join)) ? ` Write ${join} instead.` : ''
  const message = `Expected ${either(expected)}, but found ${describe(text, found)}.${hint}`
  return problem('filter_unexpected', found, expected, message)
}

export function tooManyConditions(at: Span, max: number): FilterError {
  return limitExceeded('filter_too_many_conditions', at, 'conditions', max)
}

export function tooManyValues(at: Span, max: number): FilterError {
  return limitExceeded('filter_too_many_values', at, 'values in all its lists together', max)
}

export function tooDeep(at: Span, max: number): FilterError {
  return limitExceeded('filter_too_deep', at, 'levels of parentheses', max)
}

export function tooLong(at: Span, max: number): FilterError {
  return limitExceeded('filter_too_long', at, 'bytes of UTF-8', max)
}

/** What to write instead of a word of SQL or OData. */
function operatorHint(field: string, found: Found): string {
  const word = found.kind === 'stray' ? found.text.toLowerCase() : ''
  const symbols = operatorWords.get(word)
  if (symbols !== undefined) return ` Write ${symbols} instead.`
  const isNot = field.toLowerCase() === 'not' && (found.kind === 'stray' || found.kind === 'open')
  return isNot ? ` The language has no "not": write ${operatorWords.get('not')} in the condition.` : ''
}

function limitExceeded(code: FilterErrorCode, at: Span, unit: string, max: number): FilterError {
  const limit = `at most ${max} ${unit}`
  return problem(
    code,
    at,
    [limit],
    `A filter can have ${limit}; this one exceeds the limit at offset ${at.offset}.`,
  )
}

function problem(code: FilterErrorCode, at: Span, expected: readonly string[], message: string): FilterError {
  return new FilterError({ code, message, offset: at.offset, length: at.length, expected })
}

function describe(text: string, found: Found): string {
  if (found.kind === 'end') return 'the end of the filter'
  return phrase(excerpt(text.slice(found.offset, found.offset + found.length)))
}

function either(phrases: readonly string[]): string {
  return new Intl.ListFormat('en', { type: 'disjunction' }).format(phrases)
}

function phrase(text: string): string {
  return `"${text}"`
}

/** Shortens quoted input, so that a message stays one readable line. Counts code points, so that no surrogate pair is split. */
function excerpt(text: string): string {
  const chars = Array.from(text.slice(0, 64))
  return chars.length > 24 ? `${chars.slice(0, 24).join('')}…` : text
}
