/** A field of the account, and which of all declarations it is: a name may be declared again after it was deleted. */
export interface DeclaredField {
  readonly name: string
  readonly declaration: number
}

type State = readonly DeclaredField[]
type Members = readonly (readonly [name: string, value: unknown])[]

/** The fields of an account after each change. A change may be visible when it was sent, and must be when it was acknowledged. */
export class DeclaredStates {
  readonly #states: State[] = [[]]
  #floor = 0
  #declarations = 0

  /** The last acknowledged state. */
  get floor(): number {
    return this.#floor
  }

  get current(): State {
    return this.#states[this.#floor] ?? []
  }

  with(name: string): State {
    this.#declarations += 1
    return [...this.current, { name, declaration: this.#declarations }]
  }

  without(name: string): State {
    return this.current.filter((field) => field.name !== name)
  }

  async change(after: State, work: () => Promise<void>): Promise<void> {
    this.#states.push(after)
    await work()
    this.#floor = this.#states.length - 1
  }

  /** Whether the account lacked the field, as it was declared at `floor`, at a moment since then. */
  lacked(name: string, floor: number): boolean {
    return this.#states.slice(floor).some((state) => state.every((field) => field.name !== name))
  }

  /** Undefined if the members of all records are those of one state since `floor`, with values of its declarations. */
  faultOf(records: readonly Members[], floor: number): string | undefined {
    const states = this.#states.slice(floor)
    if (states.some((state) => records.every((members) => isOf(members, state)))) return undefined
    return `${JSON.stringify(records.slice(0, 3))} is none of ${JSON.stringify(states)}`
  }
}

function isOf(members: Members, state: State): boolean {
  return (
    members.length === state.length &&
    members.every(([name, value], i) => {
      const field = state[i]
      return field?.name === name && (value === null || value === String(field.declaration))
    })
  )
}
