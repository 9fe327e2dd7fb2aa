import { QuartermasterError } from '@quartermaster/client'
import { Stop, table, undeclared } from '@quartermaster/sync'
import type { Config } from './config.ts'
import { type Connected, keyWarningDays } from './connect.ts'
import { givenFields } from './load-births.ts'
import type { Mapping } from './mapping.ts'
import { OdooError } from './odoo-api.ts'
import { touchSourcesOf } from './touch.ts'
import { declarationsFor, updatedFields } from './write-updates.ts'

type Line = readonly [what: string, found: string, verdict: string]

/** Prints what a run needs, and whether it is there. Returns whether nothing is missing. */
export async function check(
  config: Config,
  connected: Connected,
  print: (text: string) => void,
): Promise<boolean> {
  const { version, companies, mappings, keyExpires } = connected
  const lines: Line[] = [
    ['Odoo', `${version}, ${config.odoo.url}, database ${config.odoo.database}`, 'ok'],
    ['companies', companies.map(({ id, name }) => `${id} ${name}`).join(', '), 'ok'],
    ['API key', keyText(keyExpires), keyVerdict(keyExpires)],
    ...(await reads(connected)),
    ...(await currencies(connected)),
    await target(config, connected),
    ...(await back(config, connected)),
  ]
  print(table(lines))
  for (const mapping of mappings) print(`\n${mappingText(mapping)}`)
  const faults = faultsOf(config, mappings)
  for (const fault of faults) print(`FAULT  ${fault}\n`)
  const isFine = faults.length === 0 && lines.every(([, , verdict]) => !verdict.startsWith('FAULT'))
  print(isFine ? '\nA run can start. `plan` shows what it would write.\n' : '\nA run would stop.\n')
  return isFine
}

function keyText(expires: number | undefined): string {
  return expires === undefined ? 'never expires' : `expires ${new Date(expires).toISOString().slice(0, 10)}`
}

function keyVerdict(expires: number | undefined): string {
  const days = ((expires ?? Number.POSITIVE_INFINITY) - Date.now()) / 86_400_000
  if (days < 1) return 'FAULT: create a new key'
  return days < keyWarningDays ? 'expires soon' : 'ok'
}

/** A row of each model with all its fields: computed ones can need rights on other models. */
async function reads({ api, context, mappings }: Connected): Promise<Line[]> {
  const lines: Line[] = []
  const { uid: _, ...inContext } = context
  for (const mapping of mappings) {
    const { model, domain, read } = mapping
    const models = [
      { name: model, domain, fields: read },
      ...touchSourcesOf(mapping).map((one) => ({ name: one.model, domain: [], fields: [one.products] })),
    ]
    for (const { name, domain: all, fields } of models) {
      try {
        const options = { domain: all, context: inContext }
        await api.call(name, 'search_read', { ...options, fields, limit: 1, order: 'id', load: null })
        const count: number = await api.call(name, 'search_count', options)
        lines.push([name, `${count.toLocaleString('en-US')} rows`, 'ok'])
      } catch (error) {
        if (!(error instanceof OdooError)) throw error
        lines.push([name, error.message, 'FAULT: give the user the right, or map other fields'])
      }
    }
  }
  return lines
}

async function currencies({ api, context, mappings }: Connected): Promise<Line[]> {
  if (!mappings.some(({ resource }) => resource === 'product')) return []
  const found: { currency_id: number }[] = await api.call('res.company', 'search_read', {
    domain: [['id', 'in', context.allowed_company_ids]],
    fields: ['currency_id'],
    load: null,
  })
  const count = new Set(found.map(({ currency_id: id }) => id)).size
  const verdict = count > 1 ? 'prices have no currency here: map currency_id, or limit odoo.companies' : 'ok'
  return [['currencies', String(count), verdict]]
}

async function target(config: Config, { qm, mappings }: Connected): Promise<Line> {
  try {
    const { missing, wrong } = await undeclared(qm, declarationsFor(config, mappings))
    const names = missing.map(({ resource, name }) => `${resource}.${name}`).join(', ')
    if (wrong.length > 0) return ['Quartermaster', wrong.join(' '), 'FAULT: map to other names']
    return ['Quartermaster', names === '' ? 'all fields are declared' : `run declares ${names}`, 'ok']
  } catch (error) {
    if (error instanceof QuartermasterError)
      return ['Quartermaster', error.message.split('\n')[0] ?? '', `FAULT: ${error.code}`]
    throw error
  }
}

async function back(config: Config, { api, mappings }: Connected): Promise<Line[]> {
  const partner = mappings.find(({ resource }) => resource === 'partner')
  if (config.back === undefined || partner === undefined) return [['way back', 'off', 'ok']]
  const verdictOf = async (operation: 'create' | 'write') =>
    (await api.call('res.partner', 'has_access', { operation })) === true
      ? 'ok'
      : `FAULT: the user may not ${operation} res.partner`
  const lines: Line[] = []
  if (config.back.create) {
    const names = givenFields(partner).map(({ spec }) => spec.field)
    lines.push(['way back', `new partners with ${names.join(', ')}`, await verdictOf('create')])
  }
  const updated = updatedFields(config, partner).fields.map(({ spec }) => spec.field)
  if (updated.length > 0)
    lines.push(['way back', `changes of ${updated.join(', ')}`, await verdictOf('write')])
  return lines
}

function mappingText({ resource, model, domain, fields, leftOut }: Mapping): string {
  const rows = fields.map(({ name, kind, spec, odoo, warning }) => [
    name,
    kind,
    spec.else === undefined ? spec.field : `${spec.field}, else ${spec.else}`,
    odoo.type,
    warning ?? '',
  ])
  const head = `${resource} from ${model}${domain.length === 0 ? '' : ` where ${JSON.stringify(domain)}`}\n`
  return head + table(rows, '  ') + leftOut.map((one) => `  left out: ${one}\n`).join('')
}

function faultsOf(config: Config, mappings: readonly Mapping[]): readonly string[] {
  return mappings.flatMap((mapping) => [
    ...mapping.faults.map((fault) => `${mapping.resource}.${fault}`),
    ...(mapping.resource === 'partner' ? updatedFields(config, mapping).faults : []),
  ])
}

/** A run does not start with a mapping that has faults. */
export function requireValid(config: Config, mappings: readonly Mapping[]): void {
  const faults = faultsOf(config, mappings)
  if (faults.length > 0)
    throw new Stop('mapping_invalid', faults.join(' '), 'Correct the configuration; check shows every field.')
}
