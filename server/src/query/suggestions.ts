import type { Collection } from '../catalog/collection.ts'
import { Failure, type Fault } from '../errors/errors.ts'
import { parseViewRequest } from './list-request.ts'
import { planList } from './plan.ts'

/** Faults that are corrected one after the other. With more, the result is unlikely to be what was meant. */
const repairsMax = 4

/**
 * Reads a request. The parser suggests a corrected text for one fault without knowing the fields, and the text may have others: the
 * syntax of `id[""]` is correct, but "" is not an integer. So each suggestion is corrected further until the service accepts it,
 * or omitted.
 */
export function withAcceptedSuggestions<T>(resource: Collection, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof Failure) || error.faults.every(({ suggestion }) => suggestion === undefined))
      throw error
    // Most faults share one suggestion.
    const accepted = new Map<string, string | undefined>()
    const faults = error.faults.map((fault) => {
      const { parameter, suggestion, ...rest } = fault
      if (suggestion === undefined || (parameter !== 'filter' && parameter !== 'fields')) return fault
      const key = `${parameter}=${suggestion}`
      if (!accepted.has(key)) accepted.set(key, acceptedText(resource, parameter, suggestion))
      const text = accepted.get(key)
      return text === undefined ? { parameter, ...rest } : { parameter, ...rest, suggestion: text }
    })
    throw new Failure(error.code, error.message, faults, error.cause)
  }
}

function acceptedText(
  resource: Collection,
  parameter: 'filter' | 'fields',
  suggestion: string,
): string | undefined {
  let text: string | undefined = suggestion
  for (let repairs = 0; text?.isWellFormed() === true && repairs < repairsMax; repairs += 1) {
    const faults = faultsOf(resource, parameter, text)
    if (faults.length === 0) return text
    text = faults.find((fault) => fault.suggestion !== undefined)?.suggestion
  }
  return undefined
}

function faultsOf(resource: Collection, parameter: string, text: string): readonly Fault[] {
  try {
    planList(resource, parseViewRequest(`${parameter}=${encodeURIComponent(text)}`, 'url'))
    return []
  } catch (error) {
    if (error instanceof Failure) return error.faults
    throw error
  }
}
