import { LRUCache } from 'lru-cache'
import { type FieldDefinition, withOwnFields } from '../catalog/own-fields.ts'
import { type Resource, type ResourceName, resources } from '../catalog/resources.ts'
import { limits } from '../limits/limits.ts'
import type { Database } from '../postgres/database.ts'
import { failingOver } from '../postgres/sqlstate.ts'
import type { AccountScope } from '../scope.ts'
import { placeholder, type StateStatement, sql } from '../sql.ts'
import { stateColumns, type TallyState } from '../tally-state.ts'

/** A resource with the fields of an account, as they were in one snapshot. */
export interface CurrentResource {
  readonly resource: Resource
  readonly schema: number
}

export interface DefinitionsRow extends TallyState {
  readonly schema: string
  /** A JSON array. */
  readonly fields: string
}

/**
 * The fields that accounts have declared. They are cached by their version, which every key verification reads with the tally, so that
 * a process notices a change with the next request. An account that never declared any has the version 0, for which nothing is read.
 */
export class Definitions {
  readonly #database: Database
  readonly #cached = new LRUCache<string, Resource>({ max: limits.ownFieldsCached })
  /** The last version that was requested of each account and resource. */
  readonly #latest = new LRUCache<string, Resource>({ max: limits.ownFieldsCached })
  readonly #reads = new Map<string, Promise<Resource>>()

  constructor(database: Database) {
    this.#database = database
  }

  /** The resource with the fields of this version or a later one. A promise only if they are not cached. */
  of(scope: AccountScope, { name }: Resource, schema: number): Resource | Promise<Resource> {
    if (schema === 0) return resources[name]
    const key = `${nameOf(scope, name)} ${schema}`
    const cached = this.#cached.get(key)
    return cached ?? this.#reads.get(key) ?? this.#read(scope, name, schema, key)
  }

  /** What the next request probably needs, for a read before the version is known. */
  latest(scope: AccountScope, { name }: Resource): Resource {
    return this.#latest.get(nameOf(scope, name)) ?? resources[name]
  }

  /** Reads the current version. */
  async current(scope: AccountScope, { name }: Resource): Promise<CurrentResource> {
    const nodes = this.#database.nodeOf(scope)
    const current = await readDefinitions((statement) => nodes.read<DefinitionsRow>(statement), scope, name)
    this.#add(scope, name, current)
    return current
  }

  #read(scope: AccountScope, name: ResourceName, schema: number, key: string): Promise<Resource> {
    const read = async () => {
      try {
        const current = await this.current(scope, resources[name])
        // The version was read from a server that has lost it since.
        if (current.schema < schema) throw failingOver()
        return current.resource
      } finally {
        this.#reads.delete(key)
      }
    }
    const result = read()
    this.#reads.set(key, result)
    return result
  }

  #add(scope: AccountScope, name: ResourceName, { resource, schema }: CurrentResource): void {
    if (schema === 0) return
    this.#cached.set(`${nameOf(scope, name)} ${schema}`, resource)
    this.#latest.set(nameOf(scope, name), resource)
  }
}

function nameOf({ accountId }: AccountScope, name: ResourceName): string {
  return `${accountId} ${name}`
}

/** The resource of an account with its own fields, as `run` reads them. */
export async function readDefinitions(
  run: (statement: StateStatement) => Promise<DefinitionsRow[]>,
  scope: AccountScope,
  name: ResourceName,
): Promise<CurrentResource> {
  const [row] = await run(template([scope.accountId, name]))
  if (row === undefined) throw new Error(`the account ${scope.accountId} has no tally of ${name}`)
  const schema = Number(row.schema)
  const definitions: FieldDefinition[] = JSON.parse(row.fields)
  return { schema, resource: withOwnFields(resources[name], `${scope.accountId}.${schema}`, definitions) }
}

const [account, resource] = [placeholder(), placeholder()]

/** Version and fields from one snapshot. */
const template = sql`select ${stateColumns}, t.schema, (
  select coalesce(json_agg(json_build_object('number', f.number, 'name', f.name, 'type', f.type, 'label', f.label, 'unique', f.unique_state) order by f.number), '[]')::text
  from field f where f.account_id = ${account}::bigint and f.resource = ${resource}::text and f.state = 'stored'
) as fields
from tally t where t.account_id = ${account}::bigint and t.resource = ${resource}::text`.template(
  [account, resource],
  'fields',
  'pipelined',
)
