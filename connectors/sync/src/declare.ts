import { Conflict, type Quartermaster, ScopeMissing } from '@quartermaster/client'
import type { ResourceName } from './source.ts'
import { Stop } from './stop.ts'
import type { Field } from './values.ts'

export interface Declaration extends Field {
  readonly resource: ResourceName
  readonly unique: boolean
  readonly label: string
}

interface Found {
  readonly missing: readonly Declaration[]
  /** Fields that are declared otherwise, in words. */
  readonly wrong: readonly string[]
}

/** Which of the fields the account lacks. */
export async function undeclared(
  qm: Pick<Quartermaster, 'manage'>,
  needed: readonly Declaration[],
): Promise<Found> {
  const { data } = await qm.manage.fields.list({ limit: 1000 })
  const declared = new Map(data.map((field) => [field.id, field]))
  const wrong = needed.flatMap(({ resource, name, kind, unique }) => {
    const found = declared.get(`${resource}.${name}`)
    if (found === undefined || (found.type === kind && (found.unique || !unique))) return []
    const is = `${found.type}${found.unique ? ', unique' : ''}`
    return [`${resource}.${name} is declared as ${is}, and must be ${kind}${unique ? ', unique' : ''}.`]
  })
  return { missing: needed.filter(({ resource, name }) => !declared.has(`${resource}.${name}`)), wrong }
}

/** Declares the fields that the account lacks. Returns their names. */
export async function declareFields(
  qm: Pick<Quartermaster, 'manage'>,
  needed: readonly Declaration[],
): Promise<readonly string[]> {
  const wayOn =
    'Give the key the scope account:manage, or let an administrator run check and declare the fields.'
  try {
    const { missing, wrong } = await undeclared(qm, needed)
    if (wrong.length > 0) throw new Stop('mapping_invalid', wrong.join(' '), 'Map to fields of other names.')
    for (const { resource, name, kind, unique, label } of missing) {
      try {
        await qm.manage.fields.create({ resource, name, type: kind, unique, label })
      } catch (error) {
        // A retry after a lost response, or another connector of the account.
        if (!(error instanceof Conflict && error.code === 'field_exists')) throw error
      }
    }
    return missing.map(({ resource, name }) => `${resource}.${name}`)
  } catch (error) {
    if (error instanceof ScopeMissing) throw new Stop('target_refused', error.message, wayOn)
    throw error
  }
}
