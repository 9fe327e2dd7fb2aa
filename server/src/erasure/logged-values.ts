import { type Filter, FilterError, parse } from '@quartermaster/filter'
import { limits } from '../limits/limits.ts'

/** What an entry of the request log has of a request. */
export interface LoggedTexts {
  readonly path: string
  readonly query: string | null
  readonly filter: string | null
  readonly error_detail: string | null
}

export const erasedText = '[erased]'

/**
 * The entry without the values of an erased record; undefined if it has none. A filter is removed if one of its values is part of a value
 * of the record, or the other way round: `name*"ada love"` names Ada Lovelace. A filter that cannot be read, or was truncated, is removed
 * from requests to the resource.
 */
export function withoutTerms(
  texts: LoggedTexts,
  terms: readonly string[],
  resource: string,
): LoggedTexts | undefined {
  const folded = terms.map(fold)
  const isToResource = texts.path.split('/').includes(resource)
  const names = (text: string | null) => text !== null && namesAny(text, folded)
  const hasFilter =
    texts.filter !== null && (names(texts.filter) || filtersBy(texts.filter, folded, isToResource))
  const hasPath = names(texts.path) || texts.path.split('/').some((part) => folded.includes(fold(part)))
  const [hasQuery, hasDetail] = [names(texts.query), hasFilter || names(texts.error_detail)]
  if (!hasFilter && !hasPath && !hasQuery && !(hasDetail && texts.error_detail !== null)) return undefined
  return {
    path: hasPath ? erasedText : texts.path,
    query: hasQuery ? erasedText : texts.query,
    filter: hasFilter ? erasedText : texts.filter,
    error_detail: hasDetail && texts.error_detail !== null ? erasedText : texts.error_detail,
  }
}

/** As "contains" compares texts. */
function fold(text: string): string {
  return text.toLowerCase()
}

/** A letter or two occur everywhere, unless they are a name in a script without letters. */
function isDistinctive(text: string): boolean {
  return text.length > 2 || (text.length === 2 && text.charCodeAt(0) > 0x24f)
}

/** Whether the text has one of the terms: as it is, as JSON has it, or as an error message repeats the beginning of it. */
function namesAny(text: string, terms: readonly string[]): boolean {
  const folded = fold(text)
  return terms.some((term) => {
    if (!isDistinctive(term)) return false
    const start = term.slice(0, limits.errorEchoCharactersMax - 1)
    return folded.includes(start) || folded.includes(JSON.stringify(start).slice(1, -1))
  })
}

function filtersBy(filter: string, terms: readonly string[], isToResource: boolean): boolean {
  const values = valuesOf(filter)
  if (values === undefined) return isToResource
  return values
    .map(fold)
    .some((text) => terms.some((term) => term === text || (isDistinctive(text) && term.includes(text))))
}

/** The values of a filter; undefined if it cannot be read. */
function valuesOf(text: string): string[] | undefined {
  try {
    return textsIn(parse(text))
  } catch (error) {
    if (error instanceof FilterError) return undefined
    throw error
  }
}

function textsIn(filter: Filter): string[] {
  if (filter.kind !== 'condition') return filter.terms.flatMap(textsIn)
  return filter.values.flatMap((value) => (value.kind === 'text' ? [value.text] : []))
}
