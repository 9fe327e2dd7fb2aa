/**
 * SQL text from our own code, values apart from it. A fragment is made only by the `sql` tag and by `identifier`, so
 * what came in from outside has no way into a statement but as a value, `$n`.
 */

/**
 * What is known beforehand of how a statement runs. `steady`: its best plan does not depend on its values, so it is
 * worth keeping prepared. `quick`: besides, it reads a few rows by their key, so others may queue behind it.
 */
export type Execution = 'generic' | 'pipelined'

/** What statements are for, in words of our own: few, however many accounts and filters there are. */
export type Operation =
  | 'account'
  | 'verify_key'
  | 'list'
  | 'record'
  | 'create'
  | 'idempotency'
  | 'view'
  | 'activity'
  | 'other'

/** What PostgreSQL is asked: the text with `$1`, `$2` …, and what they stand for. */
export interface Statement {
  readonly execution?: Execution | undefined
  /** What it is called where its time is told. */
  readonly operation: Operation
  readonly text: string
  readonly values: readonly unknown[]
}

/** Makes the statement of a text that was made once, from what its holes stand for this time. */
export type Template = (given: readonly unknown[]) => Statement

/** A value that travels beside the text. Used several times in a statement, one `Value` keeps one number. */
export class Value {
  readonly of: unknown
  constructor(of: unknown) {
    this.of = of
  }
}

export const value = (of: unknown): Value => new Value(of)

/** What a template is given each time. */
export const hole = (): Value => new Value(undefined)

/** Text and values in turn; private, so that only this file makes one. */
export class Fragment {
  readonly #parts: readonly (string | Value)[]

  private constructor(parts: readonly (string | Value)[]) {
    this.#parts = parts
  }

  /** Text beside text becomes one, so that a long fragment without values is a single part of those it is put into. */
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

  /** `holes` are the values that differ from one use to the next, in the order in which they will be given. */
  template(holes: readonly Value[], operation: Operation, execution?: Execution): Template {
    const { text, values } = this.#numbered()
    const places = values.map((v) => holes.indexOf(v))
    return (given) => ({
      execution,
      operation,
      text,
      values: values.map((v, i) => {
        const place = places[i] ?? -1
        return place < 0 ? v.of : given[place]
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

/** The name of a table, column or type of ours. The pattern is the guard: what passes it needs no quoting. */
export function identifier(name: string): Fragment {
  if (!/^[a-z_][a-z0-9_]*$/.test(name)) throw new Error(`not an identifier: ${JSON.stringify(name)}`)
  return Fragment.of([name], [])
}

export function join(
  parts: readonly Fragment[],
  separator: ', ' | ' and ' | ' or ' | ' || ' | ' union all ' | '',
): Fragment {
  if (parts.length === 0) return Fragment.of([''], [])
  return Fragment.of(['', ...Array<string>(parts.length - 1).fill(separator), ''], parts)
}
