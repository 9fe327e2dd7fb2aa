/**
 * SQL text from our own code, separate from values. Only the `sql` tag and `identifier` create a fragment, so input can enter
 * a statement only as a parameter, `$n`.
 */

/**
 * How PostgreSQL should run a statement. `generic`: its best plan does not depend on its parameters, so it is prepared and
 * uses a generic plan. `pipelined`: in addition it only reads rows by their key, so other statements may queue behind it
 * on a pipelined connection. Without a value: a custom plan per execution.
 */
export type Execution = 'generic' | 'pipelined'

/** The purpose of a statement, as metrics and traces name it. A closed list, independent of accounts and filters. */
export type Operation =
  | 'account'
  | 'verify_key'
  | 'list'
  | 'record'
  | 'replica_check'
  | 'changes'
  | 'changes_check'
  | 'create'
  | 'update'
  | 'delete'
  | 'idempotency'
  | 'view'
  | 'activity'
  | 'webhook'
  | 'other'

/** The text with `$1`, `$2` …, and their values. */
export interface Statement {
  readonly execution?: Execution | undefined
  readonly operation: Operation
  readonly text: string
  readonly values: readonly unknown[]
}

/** Returns a statement with a text that was built once and the values of its placeholders. */
export type Template = (values: readonly unknown[]) => Statement

/** A parameter of a statement. If one `Value` occurs several times, all occurrences have the same number. */
export class Value {
  readonly of: unknown
  constructor(of: unknown) {
    this.of = of
  }
}

export const value = (of: unknown): Value => new Value(of)

/** A parameter whose value is passed each time the template is used. */
export const placeholder = (): Value => new Value(undefined)

/** Alternating text and values. The constructor is private, so that only this file creates fragments. */
export class Fragment {
  readonly #parts: readonly (string | Value)[]

  private constructor(parts: readonly (string | Value)[]) {
    this.#parts = parts
  }

  /** Adjacent texts are joined, so that a fragment without values is a single part of the fragment that contains it. */
  static of(strings: readonly string[], parts: readonly (Fragment | Value)[]): Fragment {
    const all: (string | Value)[] = []
    let text = ''
    for (const [i, before] of strings.entries()) {
      text += before
      const part = parts[i]
      for (const inner of part instanceof Fragment ? part.#parts : part === undefined ? [] : [part]) {
        if (inner instanceof Value) {
          all.push(text, inner)
          text = ''
        } else {
          text += inner
        }
      }
    }
    all.push(text)
    return new Fragment(all)
  }

  statement(operation: Operation = 'other'): Statement {
    const { text, values } = this.#numbered()
    return { operation, text, values: values.map((v) => v.of) }
  }

  /** `placeholders` are the values that differ between uses, in the order in which they are passed. */
  template(placeholders: readonly Value[], operation: Operation, execution?: Execution): Template {
    const { text, values } = this.#numbered()
    const positions = values.map((v) => placeholders.indexOf(v))
    return (passed) => ({
      execution,
      operation,
      text,
      values: values.map((v, i) => {
        const position = positions[i] ?? -1
        return position < 0 ? v.of : passed[position]
      }),
    })
  }

  #numbered(): { text: string; values: Value[] } {
    const numbers = new Map<Value, number>()
    let text = ''
    for (const part of this.#parts) {
      if (part instanceof Value) {
        if (!numbers.has(part)) numbers.set(part, numbers.size + 1)
        text += `$${numbers.get(part)}`
      } else {
        text += part
      }
    }
    return { text, values: [...numbers.keys()] }
  }
}

export function sql(strings: TemplateStringsArray, ...parts: readonly (Fragment | Value)[]): Fragment {
  return Fragment.of(strings, parts)
}

/** The name of a table, column or type of our schema. A name that matches the pattern needs no quoting. */
export function identifier(name: string): Fragment {
  if (!/^[a-z_][a-z0-9_]*$/.test(name)) throw new Error(`not an identifier: ${JSON.stringify(name)}`)
  return Fragment.of([name], [])
}

/** An integer of our own code, for a clause in which some databases accept no parameter. */
export function constant(integer: number): Fragment {
  if (!Number.isSafeInteger(integer)) throw new Error(`not an integer: ${integer}`)
  return Fragment.of([String(integer)], [])
}

export function join(
  parts: readonly Fragment[],
  separator: ', ' | ' and ' | ' or ' | ' || ' | " || e'\\x1f' || " | ' union all ' | '',
): Fragment {
  if (parts.length === 0) return Fragment.of([''], [])
  return Fragment.of(['', ...Array<string>(parts.length - 1).fill(separator), ''], parts)
}
