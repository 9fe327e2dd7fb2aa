import { Failure, type Fault } from '../../errors/errors.ts'
import { excerpt, Faults } from '../../errors/faults.ts'
import type { IdSource } from '../../id-source.ts'
import { limits } from '../../limits/limits.ts'
import { isOrigin } from '../cors-origins.ts'
import { checkAccountName, type LimitParameters } from '../directory.ts'
import { type Scope, scopes } from '../key-format.ts'

/** The state that an account should have: what is left out is not changed. */
export interface AccountDescription {
  readonly status?: 'active' | 'suspended'
  /** Only for a new account: later, the first write decides. */
  readonly ids?: IdSource
  readonly limits: LimitParameters
  readonly corsOrigins?: readonly string[]
  readonly keys: readonly DescribedKey[]
}

/** The account should have an active key of this name. */
export interface DescribedKey {
  readonly name: string
  readonly scopes: readonly Scope[]
  /** Of a new key. */
  readonly expiresAt: Date | null
}

export interface NamedDescription extends AccountDescription {
  readonly name: string
}

/** The members of limits in JSON, the highest value of each, and the lowest. */
export const limitMembers = {
  requests_per_minute: { of: 'requestsPerMinute', min: 1, max: limits.requestsPerMinuteMax },
  key_requests_per_minute: { of: 'keyRequestsPerMinute', min: 1, max: limits.requestsPerMinuteMax },
  records_max: { of: 'recordsMax', min: 0, max: limits.quotaMax },
  idempotency_results_max: { of: 'idempotencyResultsMax', min: 0, max: limits.quotaMax },
  audit_rows_max: { of: 'auditRowsMax', min: 0, max: limits.quotaMax },
} as const satisfies Readonly<Record<string, { of: keyof LimitParameters; min: number; max: number }>>

const statuses = ['active', 'suspended'] as const
const idSources = ['unassigned', 'service', 'external'] as const
const memberNames = ['status', 'ids', ...Object.keys(limitMembers), 'cors_origins', 'keys']

type JsonObject = Readonly<Record<string, unknown>>

/** The accounts of a file: `{"accounts": [{"name": "globex", …}, …]}`. */
export function describedAccounts(json: unknown): NamedDescription[] {
  const faults = new Faults()
  const list = isObject(json) ? json['accounts'] : undefined
  if (!Array.isArray(list)) {
    throw new Failure(
      'body_invalid',
      'The file must be a JSON object such as {"accounts": [{"name": "globex"}]}.',
    )
  }
  const seen = new Set<string>()
  const descriptions = list.map((element: unknown, i) => {
    const pointer = `/accounts/${i}`
    const name = isObject(element) ? element['name'] : undefined
    if (typeof name !== 'string') {
      add(faults, `${pointer}/name`, `${pointer}/name must be the account's name.`)
      return { name: '', limits: {}, keys: [] }
    }
    if (seen.has(name)) add(faults, `${pointer}/name`, `The account ${excerpt(name)} occurs more than once.`)
    seen.add(name)
    checkAccountName(name)
    return { name, ...describedAccount(element, faults, { pointer, others: ['name'] }) }
  })
  faults.throwIfAny('body_invalid')
  return descriptions
}

/** Adds a fault for each member that is wrong. `others`: members besides those of a description. */
export function describedAccount(
  json: unknown,
  faults: Faults,
  { pointer, others }: { readonly pointer: string; readonly others: readonly string[] },
): AccountDescription {
  if (!isObject(json)) {
    add(faults, pointer, `${pointer || 'The body'} must be a JSON object.`)
    return { limits: {}, keys: [] }
  }
  const known = [...others, ...memberNames]
  for (const member of Object.keys(json)) {
    if (!known.includes(member))
      add(
        faults,
        `${pointer}/${member}`,
        `An account has no member "${excerpt(member)}".`,
        known,
        'member_unknown',
      )
  }
  const status = choiceIn(json, 'status', statuses, faults, pointer)
  const ids = choiceIn(json, 'ids', idSources, faults, pointer)
  const origins = json['cors_origins']
  return {
    ...(status === undefined ? {} : { status }),
    ...(ids === undefined ? {} : { ids }),
    ...(origins === undefined ? {} : { corsOrigins: originsIn(origins, faults, `${pointer}/cors_origins`) }),
    limits: limitsIn(json, faults, pointer),
    keys: keysIn(json['keys'] ?? [], faults, `${pointer}/keys`),
  }
}

export function limitsIn(json: JsonObject, faults: Faults, pointer: string): LimitParameters {
  const members = Object.entries(limitMembers).flatMap(([member, { of, min, max }]) => {
    const given = json[member]
    if (given === undefined) return []
    const isValid =
      given === null || (typeof given === 'number' && Number.isInteger(given) && given >= min && given <= max)
    if (!isValid) {
      const expected = [`an integer from ${min} to ${max}`, 'null']
      add(
        faults,
        `${pointer}/${member}`,
        `${member} must be ${expected.join(', or ')} for the default.`,
        expected,
      )
      return []
    }
    return [[of, given] as const]
  })
  return Object.fromEntries(members)
}

/** The scopes of a key. */
export function scopesIn(json: unknown, faults: Faults, pointer: string): Scope[] {
  if (!Array.isArray(json) || json.length === 0 || json.length > scopes.length) {
    add(faults, pointer, 'The scopes must be a list of at least one scope.', scopes)
    return []
  }
  return json.flatMap((element: unknown, i) => {
    const known = scopes.find((scope) => scope === element)
    if (known === undefined)
      add(faults, `${pointer}/${i}`, `This is not a scope. Scopes are ${scopes.join(', ')}.`, scopes)
    return known === undefined ? [] : [known]
  })
}

/** Null if it never expires. */
export function expiryIn(json: unknown, faults: Faults, pointer: string): Date | null {
  if (json === undefined || json === null) return null
  const ms =
    typeof json === 'string' && /^\d{4}-\d\d-\d\d(T[\d:.]+Z)?$/.test(json) ? Date.parse(json) : Number.NaN
  if (ms > Date.now()) return new Date(ms)
  const expected = ['a date or date-time in the future such as 2099-01-01T00:00:00Z', 'null']
  add(faults, pointer, `expires_at must be ${expected.join(', or ')}.`, expected)
  return null
}

function keysIn(json: unknown, faults: Faults, pointer: string): DescribedKey[] {
  if (!Array.isArray(json) || json.length > limits.keysValidMax) {
    add(faults, pointer, `The keys must be a list of up to ${limits.keysValidMax} keys.`)
    return []
  }
  const names = new Set<unknown>()
  return json.map((element: unknown, i) => keyIn(element, faults, `${pointer}/${i}`, names))
}

function keyIn(json: unknown, faults: Faults, pointer: string, names: Set<unknown>): DescribedKey {
  const key: JsonObject = isObject(json) ? json : {}
  const { name, scopes: granted, expires_at: expiresAt, ...others } = key
  for (const member of Object.keys(others))
    add(
      faults,
      `${pointer}/${member}`,
      `A key has no member "${excerpt(member)}".`,
      ['name', 'scopes', 'expires_at'],
      'member_unknown',
    )
  if (typeof name !== 'string' || names.has(name))
    add(faults, `${pointer}/name`, 'A key needs a name that no other key of the account has.')
  names.add(name)
  return {
    name: typeof name === 'string' ? name : '',
    scopes: scopesIn(granted, faults, `${pointer}/scopes`),
    expiresAt: expiryIn(expiresAt, faults, `${pointer}/expires_at`),
  }
}

function originsIn(json: unknown, faults: Faults, pointer: string): string[] {
  const origins = Array.isArray(json) ? json.filter((one: unknown) => typeof one === 'string') : []
  if (Array.isArray(json) && json.length <= limits.corsOriginsMax && origins.length === json.length) {
    if (origins.every(isOrigin) && new Set(origins).size === origins.length) return origins
  }
  const expected = [
    `a list of up to ${limits.corsOriginsMax} different origins such as https://shop.example.com`,
  ]
  add(faults, pointer, `cors_origins must be ${expected[0]}.`, expected)
  return []
}

function choiceIn<T extends string>(
  json: JsonObject,
  member: string,
  choices: readonly T[],
  faults: Faults,
  pointer: string,
): T | undefined {
  const given = json[member]
  if (given === undefined) return undefined
  const found = choices.find((choice) => choice === given)
  if (found === undefined)
    add(faults, `${pointer}/${member}`, `${member} must be ${choices.join(' or ')}.`, choices)
  return found
}

export function isObject(json: unknown): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json)
}

function add(
  faults: Faults,
  pointer: string,
  message: string,
  expected?: readonly string[],
  code: Fault['code'] = 'member_invalid',
): void {
  faults.add(() => ({ pointer, code, message, ...(expected === undefined ? {} : { expected }) }))
}
