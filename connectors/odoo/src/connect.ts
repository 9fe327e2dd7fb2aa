import { type OwnFields, Quartermaster } from '@quartermaster/client'
import { type ResourceName, resourceNames, type State, Stop } from '@quartermaster/sync'
import type { Config } from './config.ts'
import { models } from './default-mapping.ts'
import { type Mapping, mappingOf, type OdooFields } from './mapping.ts'
import { OdooApi, OdooError } from './odoo-api.ts'
import type { OdooContext } from './odoo-source.ts'

export interface Credentials {
  readonly odooKey: string
  readonly quartermasterKey: string
  readonly signal: AbortSignal
  /** For requests to Quartermaster. Default: the global one. */
  readonly fetch?: typeof fetch | undefined
}

export interface Company {
  readonly id: number
  readonly name: string
}

/** What the connector knows of an Odoo after it has connected. */
export interface Connected {
  readonly api: OdooApi
  readonly qm: Quartermaster<'string', OwnFields>
  readonly version: number
  readonly context: OdooContext
  readonly companies: readonly Company[]
  readonly mappings: readonly Mapping[]
  /** When the last of the user's keys expires, in milliseconds; undefined: never, or not known. */
  readonly keyExpires: number | undefined
}

const attributes = ['type', 'string', 'store', 'readonly', 'company_dependent']
const acceptWayOn =
  'If this is what you want, pass --accept-database once: everything is read again, and more than 1 % of deletes still needs --allow-deletes.'
const dayMs = 86_400_000
export const keyWarningDays = 14

export async function connect(
  config: Config,
  { odooKey, quartermasterKey, signal, fetch: sent = fetch }: Credentials,
): Promise<Connected> {
  const api = new OdooApi({ ...config.odoo, apiKey: odooKey, signal })
  const version = await api.version()
  if (version < 19)
    throw new Stop(
      'mapping_invalid',
      `This is Odoo ${version}, which does not have the JSON-2 API.`,
      'Odoo 19 is the oldest version that the connector reads.',
    )
  const { uid } = await api.call('res.users', 'context_get', {})
  const companies = await companiesOf(api)
  const context: OdooContext = {
    active_test: false,
    lang: config.odoo.lang,
    tz: 'UTC',
    allowed_company_ids: allowedOf(config, companies),
    uid,
  }
  const mappings: Mapping[] = []
  for (const resource of resourceNames) {
    const one = config.resources[resource]
    if (one === undefined) continue
    const found = await fieldsOf(api, models[resource])
    const inherited = resource === 'product' ? await fieldsOf(api, 'product.template') : {}
    mappings.push(mappingOf(resource, one, found, inherited))
  }
  const own: Record<string, Record<string, Mapping['fields'][number]['kind']>> = {}
  for (const { resource, fields } of mappings)
    own[resource] = Object.fromEntries(
      fields.filter(({ name }) => name.startsWith('x_')).map(({ name, kind }) => [name, kind]),
    )
  // With every digit: a double would round a price here, and the copy would seem to differ from Odoo.
  const qm = new Quartermaster<'string', OwnFields>({
    baseUrl: config.quartermaster.url,
    apiKey: quartermasterKey,
    decimals: 'string',
    fields: own,
    fetch: (input, init) => sent(input, init),
  })
  return { api, qm, version, context, companies, mappings, keyExpires: await keyExpiresOf(api) }
}

async function fieldsOf(api: OdooApi, model: string): Promise<OdooFields> {
  return await api.call(model, 'fields_get', { attributes })
}

async function companiesOf(api: OdooApi): Promise<readonly Company[]> {
  return await api.call('res.company', 'search_read', {
    domain: [],
    fields: ['name'],
    order: 'id',
    load: null,
  })
}

function allowedOf({ odoo }: Config, visible: readonly Company[]): readonly number[] {
  const lacking = (odoo.companies ?? []).filter((id) => !visible.some((company) => company.id === id))
  if (lacking.length > 0)
    throw new Stop(
      'companies_shrank',
      `The connector's user does not see company ${lacking.join(', ')} of odoo.companies.`,
      'Give the company to the user in Odoo, or take it out of odoo.companies.',
    )
  return odoo.companies ?? visible.map(({ id }) => id)
}

/** The user may read its own keys, without the keys themselves. Which of them is ours is not known. */
async function keyExpiresOf(api: OdooApi): Promise<number | undefined> {
  try {
    const keys: { expiration_date: string | false }[] = await api.call('res.users.apikeys', 'search_read', {
      domain: [],
      fields: ['expiration_date'],
    })
    const dates = keys.map(({ expiration_date: date }) =>
      date === false ? Number.POSITIVE_INFINITY : Date.parse(`${date.replace(' ', 'T')}Z`),
    )
    const last = Math.max(...dates)
    return Number.isFinite(last) ? last : undefined
  } catch (error) {
    if (error instanceof OdooError) return undefined
    throw error
  }
}

/** Compares the Odoo of now with that of the state, and stores what identifies it. */
export async function guard(
  { api, context }: Pick<Connected, 'api' | 'context'>,
  config: Config,
  state: State,
  log: (line: string) => void,
): Promise<void> {
  const companies = await companiesOf(api)
  const found: Record<string, string> = {
    users: await birthsOfUsers(api, context.uid),
    companies: companies.map(({ id }) => id).join(','),
  }
  const before = state.identity
  if (before['users'] !== undefined && before['users'] !== found['users'])
    throw new Stop(
      'database_changed',
      'This is another database than before: its users were created at other times.',
      acceptWayOn,
    )
  const lost = (before['companies'] ?? '')
    .split(',')
    .filter((id) => id !== '' && !found['companies']?.split(',').includes(id))
  if (lost.length > 0)
    throw new Stop(
      'companies_shrank',
      `The connector's user no longer sees company ${lost.join(', ')}, and none of its records.`,
      `Give it back to the user in Odoo. ${acceptWayOn}`,
    )
  context.allowed_company_ids = allowedOf(config, companies)
  state.identity = found
  const expires = await keyExpiresOf(api)
  if (expires === undefined) return
  const days = (expires - Date.now()) / dayMs
  if (days < 1)
    throw new Stop(
      'key_expires',
      `The API key of Odoo expires on ${new Date(expires).toISOString()}.`,
      'Create a new key for the connector’s user, and start the connector with it.',
    )
  if (days < keyWarningDays) log(`The API key of Odoo expires in ${Math.floor(days)} days.`)
}

/** Those of the first user and ours: they differ in any database that is not a copy of this one. */
async function birthsOfUsers(api: OdooApi, uid: number): Promise<string> {
  const users: { id: number; create_date: string }[] = await api.call('res.users', 'search_read', {
    domain: [['id', 'in', [1, uid]]],
    fields: ['create_date'],
    order: 'id',
    context: { active_test: false },
  })
  return users.map(({ id, create_date: born }) => `${id} ${born}`).join(', ')
}

export function mappingFor(mappings: readonly Mapping[], resource: ResourceName): Mapping | undefined {
  return mappings.find((mapping) => mapping.resource === resource)
}
