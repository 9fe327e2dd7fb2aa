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
  | 'fields'
  | 'activity'
  | 'webhook'
  | 'other'

/** The text with `$1`, `$2` …, and their values. */
export interface Statement {
  readonly execution?: Execution | undefined
  readonly operation: Operation
  readonly text: string
  readonly values: readonly unknown[]
  /** Its text for a replica. Undefined unless it is a `StateStatement`. */
  readonly replicaText?: (() => string) | undefined
}

/** A statement with state columns: each row names the server that it was read from, and the state of the data there. */
export interface StateStatement extends Statement {
  readonly replicaText: () => string
}

/** The statement as one that many transactions repeat: PostgreSQL keeps its plan, which does not depend on the values. */
export function prepared(statement: Statement): Statement {
  return { ...statement, execution: 'generic' }
}

/** Returns a statement with a text that was built once and the values of its placeholders. */
export type Template = (values: readonly unknown[]) => Statement
export type StateTemplate = (values: readonly unknown[]) => StateStatement

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

/** The state columns of a statement: on the primary, and on a replica, which has others. */
class StateColumns {
  readonly primary: string
  readonly replica: string

  constructor(primary: string, replica: string) {
    this.primary = primary
    this.replica = replica
  }
}

/** Alternating text and values. The constructor is private, so that only this file creates fragments. */
export class Fragment {
  readonly #parts: readonly (string | Value | StateColumns)[]

  private constructor(parts: readonly (string | Value | StateColumns)[]) {
    this.#parts = parts
  }

  get hasState(): boolean {
    return this.#parts.some((part) => part instanceof StateColumns)
  }

  static state(primary: Fragment, replica: Fragment): Fragment {
    return new Fragment([new StateColumns(primary.statement().text, replica.statement().text)])
  }

  /** Adjacent texts are joined, so that a fragment without values is a single part of the fragment that contains it. */
  static of(strings: readonly string[], parts: readonly (Fragment | Value)[]): Fragment {
    const all: (string | Value | StateColumns)[] = []
    let text = ''
    for (const [i, before] of strings.entries()) {
      text += before
      const part = parts[i]
      for (const inner of part instanceof Fragment ? part.#parts : part === undefined ? [] : [part]) {
        if (typeof inner === 'string') {
          text += inner
        } else {
          all.push(text, inner)
          text = ''
        }
      }
    }
    all.push(text)
    return new Fragment(all)
  }

  statement(operation: Operation = 'other'): Statement {
    const { text, values, replicaText } = this.#numbered()
    return { operation, text, values: values.map((v) => v.of), replicaText }
  }

  /** `placeholders` are the values that differ between uses, in the order in which they are passed. */
  template(placeholders: readonly Value[], operation: Operation, execution?: Execution): Template {
    const { text, values, replicaText } = this.#numbered()
    const positions = values.map((v) => placeholders.indexOf(v))
    return (passed) => ({
      execution,
      operation,
      text,
      values: values.map((v, i) => {
        const position = positions[i] ?? -1
        return position < 0 ? v.of : passed[position]
      }),
      replicaText,
    })
  }

  #numbered(): { text: string; values: Value[]; replicaText: (() => string) | undefined } {
    const numbers = new Map<Value, number>()
    let text = ''
    const states: { readonly start: number; readonly columns: StateColumns }[] = []
    for (const part of this.#parts) {
      if (part instanceof Value) {
        if (!numbers.has(part)) numbers.set(part, numbers.size + 1)
        text += `$${numbers.get(part)}`
      } else if (part instanceof StateColumns) {
        states.push({ start: text.length, columns: part })
        text += part.primary
      } else {
        text += part
      }
    }
    const replicaText = states.length === 0 ? undefined : () => onReplica(text, states)
    return { text, values: [...numbers.keys()], replicaText }
  }
}

/** The text with what a replica evaluates instead. */
function onReplica(
  text: string,
  states: readonly { readonly start: number; readonly columns: StateColumns }[],
): string {
  let [result, from] = ['', 0]
  for (const { start, columns } of states) {
    result += text.slice(from, start) + columns.replica
    from = start + columns.primary.length
  }
  return result + text.slice(from)
}

/** A fragment with state columns, and so every fragment that contains it. */
export interface StateFragment extends Fragment {
  readonly hasState: true
  statement(operation?: Operation): StateStatement
  template(placeholders: readonly Value[], operation: Operation, execution?: Execution): StateTemplate
}

type FragmentOf<Part> = [Extract<Part, StateFragment>] extends [never] ? Fragment : StateFragment

export function sql<Parts extends readonly (Fragment | Value)[]>(
  strings: TemplateStringsArray,
  ...parts: Parts
): FragmentOf<Parts[number]>
export function sql(strings: TemplateStringsArray, ...parts: readonly (Fragment | Value)[]): Fragment {
  return Fragment.of(strings, parts)
}

/** The columns by which a row of the primary, or of a replica, names its server and its state. They have no values. */
export function state(primary: Fragment, replica: Fragment): StateFragment {
  const fragment = Fragment.state(primary, replica)
  if (isState(fragment)) return fragment
  throw new Error('not state columns')
}

function isState(fragment: Fragment): fragment is StateFragment {
  return fragment.hasState
}

/** The name of a table, column or type of our schema. A name that matches the pattern needs no quoting, unless it is a keyword. */
export function identifier(name: string): Fragment {
  return name === 'unique' ? Fragment.of(['"unique"'], []) : nameInText(name)
}

/** The same within a string of SQL. */
export function nameInText(name: string): Fragment {
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
  separator: ', ' | ' and ' | ' or ' | ' + ' | ' || ' | " || e'\\x1f' || " | ' union all ' | '',
): Fragment {
  if (parts.length === 0) return Fragment.of([''], [])
  return Fragment.of(['', ...Array<string>(parts.length - 1).fill(separator), ''], parts)
}
