import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { QuartermasterError } from '@quartermaster/client'
import { planOf, recordsOf, SourceUnavailable, StateFile, Stop, undeclared } from '@quartermaster/sync'
import { check, requireValid } from './check.ts'
import { type Config, ConfigInvalid, readConfigFile } from './config.ts'
import { type Connected, type Credentials, connect } from './connect.ts'
import { keyField } from './default-mapping.ts'
import { OdooError } from './odoo-api.ts'
import { OdooSource } from './odoo-source.ts'
import { run } from './run.ts'
import { planText, statusText } from './show.ts'
import { declarationsFor } from './write-updates.ts'

const usage = `quartermaster-odoo keeps a Quartermaster account in step with an Odoo.

  quartermaster-odoo check    tests addresses, rights and the mapping
  quartermaster-odoo plan     shows what a run would write
  quartermaster-odoo run      runs until it is stopped; --once reads everything once
  quartermaster-odoo status   shows what the last run has written to its state file

  --config FILE        the configuration (default: quartermaster-odoo.json)
  --state FILE         the state (default: quartermaster-odoo.state.json)
  --listen HOST:PORT   serves metrics at /metrics
  --allow-deletes N    lets the next sweep delete N records more than 1 %
  --accept-database    the Odoo is another one than before, or was restored

ODOO_KEY and QUARTERMASTER_KEY have the API keys, or ODOO_KEY_FILE and
QUARTERMASTER_KEY_FILE the files with them.

Exit codes: 0 done, 1 failed or a fault was found, 2 wrong arguments,
3 stopped, because a person has to decide.
`

const options = {
  config: { type: 'string', default: 'quartermaster-odoo.json' },
  state: { type: 'string', default: 'quartermaster-odoo.state.json' },
  listen: { type: 'string' },
  once: { type: 'boolean', default: false },
  'allow-deletes': { type: 'string', default: '0' },
  'accept-database': { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

/** The process, or a test. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  out(text: string): void
  err(text: string): void
  /** Ends a run. */
  readonly signal: AbortSignal
  /** For requests to Quartermaster. Default: the global one. */
  readonly fetch?: typeof fetch
}

/** Returns the exit code. */
export async function main(args: readonly string[], io: Io): Promise<number> {
  let parsed: ReturnType<typeof parse>
  try {
    parsed = parse(args)
  } catch (error) {
    io.err(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
    return 2
  }
  const { values, positionals } = parsed
  if (values.help) {
    io.out(usage)
    return 0
  }
  try {
    return await command(positionals[0] ?? '', values, io)
  } catch (error) {
    io.err(`${textOf(error)}\n`)
    return error instanceof Stop ? 3 : 1
  }
}

function parse(args: readonly string[]) {
  const parsed = parseArgs({ args: [...args], options, allowPositionals: true })
  const [name, ...others] = parsed.positionals
  const isKnown = name !== undefined && ['check', 'plan', 'run', 'status'].includes(name)
  if (!parsed.values.help && (!isKnown || others.length > 0)) throw new Error('Pass one command.')
  if (!/^\d{1,9}$/.test(parsed.values['allow-deletes'])) throw new Error('--allow-deletes is not a number.')
  return parsed
}

type Values = ReturnType<typeof parse>['values']

async function command(name: string, values: Values, io: Io): Promise<number> {
  if (name === 'status') return showStatus(values.state, io)
  const config = readConfigFile(values.config)
  const credentials = {
    odooKey: secretOf('ODOO_KEY', io),
    quartermasterKey: secretOf('QUARTERMASTER_KEY', io),
    signal: io.signal,
    fetch: io.fetch,
  }
  if (name === 'check') {
    const isFine = await check(config, await connect(config, credentials), (text) => io.out(text))
    return isFine ? 0 : 1
  }
  if (name === 'plan') {
    io.out(await plan(config, credentials))
    return 0
  }
  await run(config, credentials, {
    statePath: values.state,
    once: values.once,
    deletesAccepted: Number(values['allow-deletes']),
    acceptDatabase: values['accept-database'],
    listen: values.listen,
    signal: io.signal,
    log: (line) => io.err(`${new Date().toISOString()} ${line}\n`),
  })
  return 0
}

function showStatus(path: string, io: Io): number {
  const { status } = new StateFile(path).read()
  if (status === null) {
    io.err(`${path} has no status: no run has used it.\n`)
    return 1
  }
  io.out(statusText(status))
  return status.phase === 'stopped' ? 1 : 0
}

async function plan(config: Config, credentials: Credentials): Promise<string> {
  const { api, qm, context, mappings } = await connect(config, credentials)
  requireValid(config, mappings)
  const { missing } = await undeclared(qm, declarationsFor(config, mappings))
  const isMissing = (resource: string, name: string) =>
    missing.some((one) => one.resource === resource && one.name === name)
  const plans = []
  for (const mapping of mappings) {
    const { resource } = mapping
    const fields = mapping.fields.filter(({ name }) => !isMissing(resource, name))
    // Before the first run, no record here has a key.
    const records = isMissing(resource, keyField) ? undefined : recordsOf(qm, resource)
    plans.push(await planOf(new OdooSource(api, mapping, context), records, keyField, fields))
  }
  return planText(plans, await birthsOf(config, qm, isMissing('partner', keyField)))
}

/** The number of partners that a run would create in Odoo; undefined if it creates none. */
async function birthsOf({ back }: Config, qm: Connected['qm'], isNew: boolean): Promise<number | undefined> {
  if (back?.create !== true) return undefined
  const own = [
    ...(isNew ? [] : [`${keyField}=null`]),
    ...(back.filter === undefined ? [] : [`(${back.filter})`]),
  ]
  const { meta } = await qm.partners.list({
    limit: 1,
    ...(own.length === 0 ? {} : { filter: own.join('&') }),
  })
  return meta.total
}

/** From the environment, or from the file that it names. */
function secretOf(name: string, { env }: Io): string {
  const file = env[`${name}_FILE`]
  const value = file === undefined ? env[name] : readFileSync(file, 'utf8').trim()
  if (value === undefined || value === '') throw new ConfigInvalid([`${name} is not set.`])
  return value
}

function textOf(error: unknown): string {
  if (error instanceof Stop) return `stopped (${error.reason}): ${error.message}\n${error.wayOn}`
  const isExplained =
    error instanceof ConfigInvalid ||
    error instanceof QuartermasterError ||
    error instanceof OdooError ||
    error instanceof SourceUnavailable
  return error instanceof Error && !isExplained ? (error.stack ?? error.message) : String(error)
}
