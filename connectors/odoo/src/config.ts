import { readFileSync } from 'node:fs'
import {
  defaultPolling,
  type Kind,
  type Polling,
  type ResourceName,
  resourceNames,
} from '@quartermaster/sync'
import { defaultMapping, type FieldSpec, kinds } from './default-mapping.ts'

export type Domain = readonly unknown[]

export interface ResourceConfig {
  readonly domain: Domain
  readonly fields: Readonly<Record<string, FieldSpec>>
}

export interface Config {
  readonly odoo: {
    readonly url: string
    readonly database: string
    /** Their order decides company-dependent values: those of the first. Undefined: all that the user sees, by id. */
    readonly companies: readonly number[] | undefined
    readonly lang: string
    readonly share: number
  }
  readonly quartermaster: { readonly url: string }
  readonly resources: Partial<Record<ResourceName, ResourceConfig>>
  /** What goes to Odoo: partners created here, which match the filter, and changes of these fields of partners. */
  readonly back:
    | {
        readonly create: boolean
        readonly filter: string | undefined
        readonly update: readonly string[]
      }
    | undefined
  readonly polling: Polling
}

/** What is wrong with the configuration: every fault with its place. */
export class ConfigInvalid extends Error {
  override name = 'ConfigInvalid'
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(faults.join('\n'))
    this.faults = faults
  }
}

export function readConfigFile(path: string): Config {
  let parsed: unknown
  try {
    parsed = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new ConfigInvalid([`${path}: ${error instanceof Error ? error.message : String(error)}`])
  }
  return configOf(parsed)
}

/** Rejects what it does not know: a misspelled member must not be ignored. */
export function configOf(json: unknown): Config {
  const faults: string[] = []
  const root = new Members(json, '', faults, ['odoo', 'quartermaster', 'resources', 'back', 'polling'])
  const odoo = new Members(root.of('odoo'), 'odoo', faults, ['url', 'database', 'companies', 'lang', 'share'])
  const target = new Members(root.of('quartermaster'), 'quartermaster', faults, ['url'])
  const resources = new Members(root.of('resources') ?? {}, 'resources', faults, resourceNames)
  const back = new Members(root.of('back') ?? {}, 'back', faults, ['partner'])
  const polling = new Members(root.of('polling') ?? {}, 'polling', faults, Object.keys(defaultPolling))
  const config: Config = {
    odoo: {
      url: odoo.url('url'),
      database: odoo.text('database'),
      companies: odoo.ids('companies'),
      lang: odoo.text('lang', 'en_US'),
      share: odoo.number('share', 1),
    },
    quartermaster: { url: target.url('url') },
    resources: Object.fromEntries(
      resourceNames
        .filter((name) => resources.of(name) !== false)
        .map((name) => [name, resourceOf(name, resources.of(name) ?? {}, faults)]),
    ),
    back: backOf(back.of('partner'), faults),
    polling: {
      hot: polling.number('hot', defaultPolling.hot),
      overlap: polling.number('overlap', defaultPolling.overlap),
      late: polling.number('late', defaultPolling.late),
      window: polling.number('window', defaultPolling.window),
      sweep: polling.number('sweep', defaultPolling.sweep),
      roll: polling.number('roll', defaultPolling.roll),
      rollAll: polling.number('rollAll', defaultPolling.rollAll),
    },
  }
  if (config.odoo.share > 1) faults.push('odoo.share is more than 1, which is one worker of Odoo.')
  if (config.back !== undefined && config.resources.partner === undefined)
    faults.push('back.partner needs resources.partner, which is false.')
  if (faults.length > 0) throw new ConfigInvalid(faults)
  return config
}

function resourceOf(name: ResourceName, json: unknown, faults: string[]): ResourceConfig {
  const at = `resources.${name}`
  const members = new Members(json, at, faults, ['domain', 'fields'])
  const domain = members.of('domain') ?? []
  if (!Array.isArray(domain)) faults.push(`${at}.domain is not a domain, such as [["sale_ok", "=", true]].`)
  const fields: Record<string, FieldSpec> = { ...defaultMapping[name] }
  for (const [field, spec] of Object.entries(members.of('fields') ?? {})) {
    const place = `${at}.fields.${field}`
    if (!(field in kinds[name]) && !/^x_[a-z][a-z0-9_]*$/.test(field)) {
      faults.push(`${place}: a ${name} has no such field. Names of fields that you declare begin with x_.`)
    } else if (spec === null) delete fields[field]
    else fields[field] = specOf(spec, place, faults)
  }
  return { domain: Array.isArray(domain) ? domain : [], fields }
}

const kindNames: readonly Kind[] = ['text', 'integer', 'decimal', 'boolean', 'timestamp']

function specOf(json: unknown, at: string, faults: string[]): FieldSpec {
  if (typeof json === 'string') return { field: json }
  const members = new Members(json, at, faults, ['field', 'else', 'type', 'digits'])
  const [other, type, digits] = [members.of('else'), members.of('type'), members.of('digits')]
  const kind = kindNames.find((one) => one === type)
  if (type !== undefined && kind === undefined)
    faults.push(`${at}.type is not one of ${kindNames.join(', ')}.`)
  return {
    field: members.text('field'),
    ...(other === undefined ? {} : { else: members.text('else') }),
    ...(kind === undefined ? {} : { type: kind }),
    ...(digits === undefined ? {} : { digits: members.number('digits', 0) }),
  }
}

function backOf(json: unknown, faults: string[]): Config['back'] {
  if (json === undefined || json === false) return undefined
  if (json === true) return { create: true, filter: undefined, update: [] }
  const members = new Members(json, 'back.partner', faults, ['create', 'filter', 'update'])
  const [create, update] = [members.of('create') ?? true, members.of('update') ?? []]
  if (typeof create !== 'boolean') faults.push('back.partner.create is not true or false.')
  if (!Array.isArray(update) || !update.every((name) => typeof name === 'string')) {
    faults.push('back.partner.update is not a list of fields.')
    return undefined
  }
  return {
    create: create === true,
    filter: members.of('filter') === undefined ? undefined : members.text('filter'),
    update,
  }
}

/** The members of a JSON object. Each fault is added to `faults`, and a value of the right type is returned nevertheless. */
class Members {
  readonly #json: Readonly<Record<string, unknown>>
  readonly #at: string
  readonly #faults: string[]

  constructor(json: unknown, at: string, faults: string[], known: readonly string[]) {
    this.#at = at
    this.#faults = faults
    this.#json = isObject(json) ? json : {}
    if (!isObject(json)) faults.push(`${at === '' ? 'The configuration' : at} is not a JSON object.`)
    for (const name of Object.keys(this.#json).filter((one) => !known.includes(one)))
      faults.push(`${this.#place(name)} is unknown. Known: ${known.join(', ')}.`)
  }

  of(name: string): unknown {
    return this.#json[name]
  }

  text(name: string, absent?: string): string {
    const value = this.#json[name] ?? absent
    if (typeof value === 'string' && value !== '') return value
    this.#faults.push(`${this.#place(name)} is not a text.`)
    return ''
  }

  number(name: string, absent: number): number {
    const value = this.#json[name] ?? absent
    if (typeof value === 'number' && value > 0) return value
    this.#faults.push(`${this.#place(name)} is not a number above 0.`)
    return absent
  }

  url(name: string): string {
    const text = this.text(name)
    if (text !== '' && !/^https?:\/\/[^/?#]+\/?$/.test(text))
      this.#faults.push(`${this.#place(name)} is not a URL such as https://erp.example.com.`)
    return text.endsWith('/') ? text.slice(0, -1) : text
  }

  ids(name: string): readonly number[] | undefined {
    const value = this.#json[name]
    if (value === undefined) return undefined
    if (Array.isArray(value) && value.length > 0 && value.every((id) => Number.isInteger(id))) return value
    this.#faults.push(`${this.#place(name)} is not a list of ids.`)
    return undefined
  }

  #place(name: string): string {
    return this.#at === '' ? name : `${this.#at}.${name}`
  }
}

function isObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null && !Array.isArray(json)
}
