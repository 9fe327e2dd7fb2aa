import type { Condition, Filter, Span, TextValue, Value } from './ast.ts'
import { FilterError } from './error.ts'
import * as problem from './problem.ts'
import { suggest } from './suggest.ts'
import { type OperatorToken, opensList, type SimpleToken, Tokenizer, type ValueToken } from './tokens.ts'

export interface FilterBounds {
  readonly conditionsMax: number
  /** In all lists of the filter together. */
  readonly listValuesMax: number
  readonly depthMax: number
  /** UTF-8 bytes. */
  readonly lengthMax: number
}

/** The limits of every filter. The server additionally limits the length of a filter in a URL. */
export const filterBounds: FilterBounds = Object.freeze({
  conditionsMax: 200,
  listValuesMax: 1000,
  depthMax: 32,
  lengthMax: 65_536,
})

/** Throws only FilterError. Runs in time linear in the length of the text. */
export function parse(text: string, bounds: FilterBounds = filterBounds): Filter {
  const outcome = attempt(text, bounds)
  if (!(outcome instanceof FilterError)) return outcome
  const suggestion = suggest(text, outcome.problem, (candidate) => {
    const next = attempt(candidate, bounds)
    return next instanceof FilterError ? next.problem : undefined
  })
  throw suggestion === undefined ? outcome : new FilterError({ ...outcome.problem, suggestion })
}

function attempt(text: string, bounds: FilterBounds): Filter | FilterError {
  const excess = excessOver(text, bounds.lengthMax)
  if (excess !== undefined) return problem.tooLong(excess, bounds.lengthMax)
  try {
    return new Parser(text, bounds).filter()
  } catch (error) {
    if (error instanceof FilterError) return error
    throw error
  }
}

/** The part of the text beyond the limit, if any. */
function excessOver(text: string, bytesMax: number): Span | undefined {
  // A UTF-16 code unit takes at most 3 bytes of UTF-8, so for most filters the bytes need not be counted.
  if (text.length * 3 <= bytesMax) return undefined
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytesMax))
  return read < text.length ? { offset: read, length: text.length - read } : undefined
}

const joinExpected = ['"&"', '"|"']

/** A recursive descent parser, with one method per rule of the grammar. */
class Parser {
  readonly #text: string
  readonly #tokens: Tokenizer
  readonly #bounds: FilterBounds
  #found: problem.Found
  /** Where the last token that was read ends. */
  #end = 0
  #depth = 0
  #conditions = 0
  #listValues = 0

  constructor(text: string, bounds: FilterBounds) {
    this.#text = text
    this.#tokens = new Tokenizer(text)
    this.#bounds = bounds
    this.#found = this.#next()
  }

  filter(): Filter {
    const first = this.#found
    if (first.kind === 'end') throw problem.blank(this.#text)
    const filter = this.#or()
    const found = this.#found
    if (found.kind === 'end') return filter
    throw problem.unexpected(this.#text, found, [...joinExpected, 'the end of the filter'])
  }

  #or(): Filter {
    return this.#joined('or', () => this.#joined('and', () => this.#term()))
  }

  #joined(kind: 'and' | 'or', term: () => Filter): Filter {
    const start = this.#found.offset
    const first = term()
    if (this.#found.kind !== kind) return first
    const terms = [first]
    while (this.#found.kind === kind) {
      this.#read()
      terms.push(term())
    }
    return Object.freeze({ kind, terms: Object.freeze(terms), ...this.#spanFrom(start) })
  }

  #term(): Filter {
    const found = this.#found
    if (found.kind === 'field') return this.#condition(found)
    if (found.kind === 'open') return this.#group(found)
    throw problem.fieldExpected(this.#text, found)
  }

  #group(open: SimpleToken): Filter {
    if (this.#depth === this.#bounds.depthMax) throw problem.tooDeep(open, this.#bounds.depthMax)
    this.#depth += 1
    this.#read()
    const filter = this.#or()
    const found = this.#found
    if (found.kind === 'end') throw problem.groupUnclosed(this.#text, open, found)
    if (found.kind !== 'close') throw problem.unexpected(this.#text, found, [...joinExpected, '")"'])
    this.#depth -= 1
    this.#read()
    return filter
  }

  #condition(field: SimpleToken): Condition {
    if (this.#conditions === this.#bounds.conditionsMax)
      throw problem.tooManyConditions(field, this.#bounds.conditionsMax)
    this.#conditions += 1
    this.#read()
    const found = this.#found
    if (found.kind !== 'operator') throw problem.operatorExpected(this.#text, field.text, found)
    this.#read()
    const values = opensList(found) ? this.#list(found) : [this.#operand(found)]
    return Object.freeze({
      kind: 'condition',
      field: Object.freeze({ text: field.text, offset: field.offset, length: field.length }),
      operator: found.operator,
      values: Object.freeze(values),
      operatorSpan: Object.freeze({ offset: found.offset, length: found.length }),
      ...this.#spanFrom(field.offset),
    })
  }

  /** The value after a comparison operator. A missing value is the empty text. */
  #operand(operator: OperatorToken): Value {
    const found = this.#found
    if (found.kind === 'value') return this.#value(found)
    return textValue('', { offset: operator.offset + operator.length, length: 0 })
  }

  #list(open: OperatorToken): Value[] {
    const values: Value[] = []
    for (;;) {
      values.push(this.#listValue(open))
      const found = this.#found
      if (this.#endsList(found)) throw problem.listUnclosed(this.#text, open, found, ['","', '"]"'])
      if (found.kind !== 'comma' && found.kind !== 'list-close')
        throw problem.unexpected(this.#text, found, ['","', '"]"'])
      this.#read()
      if (found.kind === 'list-close') return values
    }
  }

  #listValue(open: OperatorToken): Value {
    const found = this.#found
    if (found.kind !== 'value') {
      if (found.kind === 'comma' || found.kind === 'list-close') throw problem.listValueEmpty(found)
      throw problem.listUnclosed(this.#text, open, found, ['a value'])
    }
    if (this.#listValues === this.#bounds.listValuesMax)
      throw problem.tooManyValues(found, this.#bounds.listValuesMax)
    this.#listValues += 1
    return this.#value(found)
  }

  #endsList(found: problem.Found): boolean {
    if (found.kind === 'close') return this.#depth > 0
    return found.kind === 'end' || found.kind === 'and' || found.kind === 'or'
  }

  #value(token: ValueToken): Value {
    if (token.flaw) throw problem.flawed(this.#text, token.flaw)
    this.#read()
    const { offset, length } = token
    // Compare the source text: with quotes or a backslash it is the text "null".
    const isNull = this.#text.slice(offset, offset + length) === 'null'
    return isNull ? Object.freeze({ kind: 'null', offset, length }) : textValue(token.text, token)
  }

  #read(): void {
    this.#end = this.#found.offset + this.#found.length
    this.#found = this.#next()
  }

  #next(): problem.Found {
    return this.#tokens.next() ?? { kind: 'end', offset: this.#text.length, length: 0 }
  }

  /** Ends with the last token that was read. */
  #spanFrom(start: number): Span {
    return { offset: start, length: this.#end - start }
  }
}

function textValue(text: string, { offset, length }: Span): TextValue {
  return Object.freeze({ kind: 'text', text, offset, length })
}
