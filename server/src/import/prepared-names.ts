import type pg from 'pg'
import { limits } from '../limits/limits.ts'

const prepared = new WeakMap<pg.ClientBase, Map<string, string>>()

/** A statement that a connection runs again is prepared: planning takes a third of the time of a write of one record. */
export function preparedName(client: pg.ClientBase, text: string): string | undefined {
  const names = prepared.get(client) ?? new Map<string, string>()
  prepared.set(client, names)
  const name = names.get(text)
  if (name === undefined && names.size < limits.importStatementsMax)
    names.set(text, `import_${names.size + 1}`)
  return name
}
