import { type Filter, FilterError, parse } from '@quartermaster/filter'
import type { ResourceName } from '../catalog/resources.ts'
import { limits } from '../limits/limits.ts'

/** What an entry of the request log has of a request. */
export interface LoggedTexts {
  readonly path: string
  readonly query: string | null
  readonly filter: string | null
  readonly error_detail: string | null
}

export const erasedText = '[erased]'

/** In a list of values: the record had more than can be searched for, so every entry of requests to its resource counts. */
export const everything = ''

/** The values that are searched for: as many as a search may take time for. */
export function boundedTerms(terms: readonly string[]): string[] {
  let characters = 0
  const bounded = terms.filter((term, i) => {
    characters += term.length
    return term !== everything && i < limits.erasureTermsMax && characters <= limits.erasureTermCharactersMax
  })
  return bounded.length === terms.length ? bounded : [everything, ...bounded]
}

/** The values of an erased record, prepared for a search through many entries. */
export class ErasedValues {
  readonly #resource: ResourceName
  readonly #values: ReadonlySet<string>
  /** What distinctive values begin with, as error messages repeat it, as it is and as JSON has it. */
  readonly #starts: readonly string[]
  /** Distinctive values one after the other, with a character between them that no text has. */
  readonly #joined: string
  readonly #isEverything: boolean
  /** Programs repeat their filters. */
  readonly #filters = new Map<string, boolean>()

  constructor(terms: readonly string[], resource: ResourceName) {
    this.#resource = resource
    this.#isEverything = terms.includes(everything)
    const folded = terms.filter((term) => term !== everything).map(fold)
    this.#values = new Set(folded)
    const starts = folded
      .filter(isDistinctive)
      .map((term) => term.slice(0, limits.errorEchoCharactersMax - 1))
      .flatMap((start) => [start, JSON.stringify(start).slice(1, -1)])
    this.#starts = [...new Set(starts)]
    this.#joined = folded.join('\0')
  }

  /**
   * The entry without these values; undefined if it has none. A filter is removed if one of its values is part of a value of the record, or
   * the other way round: `name*"ada love"` names Ada Lovelace. A filter that cannot be read, or was truncated, is removed from requests to
   * the resource.
   */
  removedFrom(texts: LoggedTexts): LoggedTexts | undefined {
    const parts = texts.path.split('/')
    const isToResource = parts.includes(this.#resource)
    const all = isToResource && this.#isEverything
    const hasFilter = texts.filter !== null && (all || this.#isInFilter(texts.filter, isToResource))
    const hasPath = all || this.#isIn(texts.path) || parts.some((part) => this.#values.has(fold(part)))
    const hasQuery = texts.query !== null && (all || this.#isIn(texts.query))
    const hasDetail = texts.error_detail !== null && (all || hasFilter || this.#isIn(texts.error_detail))
    if (!hasFilter && !hasPath && !hasQuery && !hasDetail) return undefined
    return {
      path: hasPath ? erasedText : texts.path,
      query: hasQuery ? erasedText : texts.query,
      filter: hasFilter ? erasedText : texts.filter,
      error_detail: hasDetail ? erasedText : texts.error_detail,
    }
  }

  /** Whether the text has one of the values: as it is, as JSON has it, or as an error message repeats the beginning of it. */
  #isIn(text: string): boolean {
    const folded = fold(text)
    return this.#starts.some((start) => folded.includes(start))
  }

  #isInFilter(filter: string, isToResource: boolean): boolean {
    const key = `${isToResource} ${filter}`
    const known = this.#filters.get(key)
    if (known !== undefined) return known
    const found = this.#isIn(filter) || this.#filtersBy(filter, isToResource)
    if (this.#filters.size < limits.erasureFiltersKnown) this.#filters.set(key, found)
    return found
  }

  #filtersBy(filter: string, isToResource: boolean): boolean {
    const values = valuesOf(filter)
    if (values === undefined) return isToResource
    return values
      .map(fold)
      .some((text) => this.#values.has(text) || (isDistinctive(text) && this.#joined.includes(text)))
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
