import { Failure, type Fault } from '../../errors/errors.ts'
import { excerpt, Faults } from '../../errors/faults.ts'
import type { OperatorRoute } from './operator-route.ts'

/** The query parameters of a call. Unknown and repeated ones are rejected. */
export function queryOf(raw: string, { query = {} }: OperatorRoute): ReadonlyMap<string, string> {
  const known = Object.keys(query)
  const faults = new Faults()
  const found = new Map<string, string>()
  const fault = (parameter: string, code: Fault['code'], message: string) =>
    faults.add(() => ({ parameter: excerpt(parameter), code, message, expected: known }))
  for (const [name, value] of new URLSearchParams(raw)) {
    if (!known.includes(name))
      fault(name, 'parameter_unknown', `There is no parameter ${JSON.stringify(excerpt(name))} here.`)
    else if (found.has(name))
      fault(name, 'parameter_repeated', `The parameter ${name} occurs more than once.`)
    found.set(name, value)
  }
  faults.throwIfAny()
  return found
}

export function integerIn(
  query: ReadonlyMap<string, string>,
  name: string,
  { min, max, standard }: { readonly min: number; readonly max: number; readonly standard: number },
): number {
  const text = query.get(name)
  if (text === undefined) return standard
  const number = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN
  if (number >= min && number <= max) return number
  throw wrongValue(name, `an integer from ${min} to ${max}`)
}

export function choiceIn<T extends string>(
  query: ReadonlyMap<string, string>,
  name: string,
  choices: readonly [T, ...T[]],
): T {
  const text = query.get(name) ?? choices[0]
  const found = choices.find((choice) => choice === text)
  if (found === undefined) throw wrongValue(name, choices.join(' or '))
  return found
}

export function wrongValue(parameter: string, expected: string): Failure {
  const message = `${parameter} must be ${expected}.`
  return new Failure('request_invalid', message, [
    { parameter, code: 'choice_invalid', message, expected: [expected] },
  ])
}
