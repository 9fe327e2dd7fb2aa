/** Who has written something: the people who use the local database, or other users of Quartermaster. */
export type Side = 'local' | 'remote'

/** A record as one side has it, without its id. */
export interface Row {
  /** The value of the unique field. */
  readonly key: string
  /** Names begin with the name that the record was created with, which never changes. */
  readonly name: string
  readonly value: string
}

interface Known {
  /** Who has written the value. */
  readonly editors: Set<Side>
  value: string
  isDeleted: boolean
}

/** What both sides must have at the end: it remembers what was written on each side, by the first name of each record. */
export class Expected {
  readonly #known = new Map<string, Known>()
  /** How many creates, changes and deletes were written on each side. */
  readonly counts: Record<Side, [creates: number, changes: number, deletes: number]> = {
    local: [0, 0, 0],
    remote: [0, 0, 0],
  }

  created(side: Side, name: string, value: string): void {
    this.#known.set(name, { editors: new Set([side]), value, isDeleted: false })
    this.counts[side][0] += 1
  }

  changed(side: Side, name: string, value: string): void {
    const known = this.#known.get(firstName(name))
    if (known === undefined) return
    known.editors.add(side)
    known.value = value
    this.counts[side][1] += 1
  }

  /** Call it before the delete: the other side may see it at once. */
  deleted(side: Side, name: string): void {
    const known = this.#known.get(firstName(name))
    if (known === undefined) return
    known.isDeleted = true
    this.counts[side][2] += 1
  }

  /** What is wrong with the rows at the end, and how many records must have the value that one side wrote last. */
  compare(local: readonly Row[], remote: readonly Row[]): { faults: string[]; certain: number } {
    const faults = differences(local, remote)
    const byName = Map.groupBy(remote, ({ name }) => firstName(name))
    for (const [name, rows] of byName)
      if (rows.length > 1) faults.push(`${name} is there ${rows.length} times`)
    let certain = 0
    for (const [name, { editors, value, isDeleted }] of this.#known) {
      if (isDeleted) continue
      const found = byName.get(name)?.[0]
      if (found === undefined) faults.push(`${name} is lost`)
      else if (editors.size === 1) {
        certain += 1
        if (found.value !== value) faults.push(`${name} has ${found.value}, not ${value}`)
      }
    }
    return { faults, certain }
  }
}

function firstName(name: string): string {
  return name.split(', ')[0] ?? ''
}

function differences(local: readonly Row[], remote: readonly Row[]): string[] {
  const text = ({ name, value }: Row) => `${name}: ${value}`
  const there = new Map(remote.map((row) => [row.key, text(row)]))
  const here = new Map(local.map((row) => [row.key, text(row)]))
  const keys = [...new Set([...here.keys(), ...there.keys()])]
  return keys
    .filter((key) => here.get(key) !== there.get(key))
    .map(
      (key) => `${key}: ${here.get(key) ?? 'nothing'} here, ${there.get(key) ?? 'nothing'} in Quartermaster`,
    )
}
