import { limits } from '../limits/limits.ts'
import type { ConfigFault } from './config-fault.ts'
import { declarations } from './declarations.ts'
import { readSecretFiles } from './secret-files.ts'
import { InvalidSetting, type SettingRule, settingValue } from './setting-value.ts'
import { readSettingsFile } from './settings-file.ts'
import { isServiceLink, unknownVariables } from './unknown-variables.ts'

type Properties = typeof declarations
type NameOf<Property> = {
  [Name in keyof Properties]: Properties[Name] extends Property ? Name : never
}[keyof Properties]
type ValueOf<Property> = Property extends { readonly enum: readonly (infer Value)[] }
  ? Value
  : Property extends { readonly type: 'string' }
    ? string
    : number
type WithDefault = NameOf<{ readonly default: unknown }>

export type Config = { readonly [Name in WithDefault]: ValueOf<Properties[Name]> } & {
  readonly [Name in Exclude<keyof Properties, WithDefault>]?: ValueOf<Properties[Name]>
}

export function writeRoleOf(config: Config): string {
  const { QUARTERMASTER_DATABASE_ROLE: role, QUARTERMASTER_DATABASE_WRITE_ROLE: writeRole } = config
  return writeRole ?? (role === 'quartermaster_server' ? 'quartermaster_writer' : role)
}

/** The roles that serving connections set. None if they keep the role of the login. */
export function servingRolesOf(config: Config): string[] {
  const roles = new Set([config.QUARTERMASTER_DATABASE_ROLE, writeRoleOf(config)])
  return [...roles].filter((role) => role !== '')
}

/** Settings that may contain a secret. Each can be read from a file: `DATABASE_URL_FILE` names the file of `DATABASE_URL`. */
export const secretSettings = [
  'DATABASE_URL',
  'DATABASE_OWNER_URL',
  'DATABASE_REPLICA_URLS',
  'REDIS_URL',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'QUARTERMASTER_WEBHOOK_SECRET',
  'QUARTERMASTER_WEBHOOK_SECRET_PREVIOUS',
] as const

/** An empty QUARTERMASTER_DATABASE_ROLE is a value: serving connections use the role they log in with. */
const mayBeEmpty = 'QUARTERMASTER_DATABASE_ROLE'

export interface Setting {
  readonly name: keyof Config
  /** Undefined if it is not set and has no default, and if the value is invalid. */
  readonly value: Config[keyof Config]
  readonly origin: 'default' | 'environment' | 'file'
  /** If the origin is a file: its path. */
  readonly file?: string
}

export interface LoadedConfig {
  /** Reads the environment's files again. Only of the configuration of a process. */
  readonly reload?: () => LoadedConfig
  /** Has the default of every invalid setting: use it only if there are no faults. */
  readonly config: Config
  readonly settings: readonly Setting[]
  readonly faults: readonly ConfigFault[]
}

/**
 * Reads and validates the environment and the files it names. Only `main.ts` calls it, and passes the frozen result on; SIGHUP calls it
 * again.
 * An empty variable counts as unset, as in a file with the line `REDIS_URL=`.
 */
export function loadConfig(own: NodeJS.ProcessEnv): LoadedConfig {
  const names = settingNames()
  const settingsFile = readSettingsFile(own)
  const inFile = Object.entries(settingsFile.values).filter(([name]) => isMissing(own, name))
  const fromFile = new Set(inFile.map(([name]) => name))
  const environment: NodeJS.ProcessEnv = { ...own, ...Object.fromEntries(inFile) }
  const files = readSecretFiles(environment, secretSettings)
  const data: Record<string, string> = Object.fromEntries(files.values)
  for (const name of names) {
    const text = environment[name]
    const isSet = text !== undefined && (text !== '' || name === mayBeEmpty)
    if (isSet && !files.paths.has(name)) data[name] = text
  }
  const { config, invalid } = validated(data)
  const previous = previousWithout(config)
  const settings = names.map((name): Setting => {
    const file = files.paths.get(name)
    if (file !== undefined) return { name, value: config[name], origin: 'file', file }
    const { path } = settingsFile
    if (path !== undefined && fromFile.has(name))
      return { name, value: config[name], origin: 'file', file: path }
    return { name, value: config[name], origin: name in data ? 'environment' : 'default' }
  })
  const faults = [
    ...settingsFile.faults,
    ...files.faults,
    ...invalid,
    ...previous,
    ...unknownVariables(environment, [...names, ...secretSettings.map((name) => `${name}_FILE`)]),
  ]
  return { config, settings, faults }
}

/** A variable of the environment takes precedence over the file. An empty one is unset, except where empty is a value. */
function isMissing(environment: NodeJS.ProcessEnv, name: string): boolean {
  const text = environment[name]
  return text === undefined || (text === '' && name !== mayBeEmpty)
}

/** The configuration, if it has no faults. */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const { config, faults } = loadConfig(environment)
  throwFaults(faults)
  return config
}

export function throwFaults(faults: readonly ConfigFault[]): void {
  if (faults.length === 0) return
  const texts = faults.map(({ message, repair }) => `${message} ${repair}`)
  throw new Error(`Invalid configuration: ${texts.join(' ')}`)
}

function settingNames(): (keyof Config)[] {
  const isSetting = (name: string): name is keyof Config => name in declarations
  return Object.keys(declarations).filter(isSetting)
}

type Data = Readonly<Record<string, string | undefined>>

/** The value of every setting that has a valid text or a default, and what is wrong with the others. */
function validated(data: Data): { config: Config; invalid: readonly ConfigFault[] } {
  const values: Record<string, string | number> = {}
  const invalid: ConfigFault[] = []
  for (const [name, rule] of Object.entries<SettingRule>(declarations)) {
    const text = data[name]
    try {
      if (text !== undefined) values[name] = settingValue(text, rule)
    } catch (error) {
      if (!(error instanceof InvalidSetting)) throw error
      invalid.push(faultOf(name, text ?? '', error.message))
    }
    if (rule.default !== undefined) values[name] ??= rule.default
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each value has the type of its rule
  return { config: Object.freeze(values) as Config, invalid }
}

/** The previous master key without the current one would sign nothing. */
function previousWithout(config: Config): ConfigFault[] {
  const { QUARTERMASTER_WEBHOOK_SECRET: current, QUARTERMASTER_WEBHOOK_SECRET_PREVIOUS: previous } = config
  if (previous === undefined || (current !== undefined && current !== previous)) return []
  return [
    {
      variable: 'QUARTERMASTER_WEBHOOK_SECRET_PREVIOUS',
      message:
        current === undefined
          ? 'QUARTERMASTER_WEBHOOK_SECRET_PREVIOUS is set, but QUARTERMASTER_WEBHOOK_SECRET is not.'
          : 'QUARTERMASTER_WEBHOOK_SECRET_PREVIOUS is the same key as QUARTERMASTER_WEBHOOK_SECRET.',
      repair: 'Set QUARTERMASTER_WEBHOOK_SECRET to the new master key, or unset the previous one.',
    },
  ]
}

function faultOf(variable: string, text: string, problem: string): ConfigFault {
  return {
    variable,
    message: `${variable} ${rules[variable] ?? problem}.`,
    repair: isServiceLink(variable, text)
      ? 'Kubernetes has set it for a Service of that name: set enableServiceLinks to false in the pod.'
      : `Set ${variable} to a valid value, or unset it to use the default.`,
  }
}

/** What an invalid value does wrong, for settings that are validated by a pattern. */
const rules: Readonly<Record<string, string>> = {
  DATABASE_URL: 'does not begin with postgres://',
  DATABASE_OWNER_URL: 'does not begin with postgres://',
  DATABASE_REPLICA_URLS: 'does not begin with postgres://',
  REDIS_URL: 'does not begin with redis:// or rediss://',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'does not begin with http:// or https://',
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'does not begin with http:// or https://',
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'does not begin with http:// or https://',
  OTEL_METRICS_EXPORTER: 'is neither otlp, prometheus, a list of both, nor none',
  QUARTERMASTER_PROCESSES: `must be a number from 1 to ${limits.processesMax}, or auto`,
}
