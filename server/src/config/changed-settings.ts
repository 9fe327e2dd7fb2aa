import type { Config } from './config.ts'
import { declarations } from './declarations.ts'

/** What only the start of the service reads: the addresses on which it listens, and what the primary of several processes uses itself. */
const atStart: readonly string[] = [
  'PORT',
  'QUARTERMASTER_HOST',
  'QUARTERMASTER_PROCESSES',
  'QUARTERMASTER_ADMIN_PORT',
  'QUARTERMASTER_ADMIN_HOST',
  'QUARTERMASTER_SHUTDOWN_DELAY_MS',
  'QUARTERMASTER_LOG_LEVEL',
  'QUARTERMASTER_LOG_DESTINATION',
  'OTEL_SERVICE_NAME',
  'OTEL_RESOURCE_ATTRIBUTES',
  'NOTIFY_SOCKET',
]

export interface ChangedSettings {
  /** In use as soon as the workers are replaced. */
  readonly changed: readonly string[]
  /** Not in use before the service is restarted. */
  readonly needRestart: readonly string[]
}

/** Only names: a value may be a secret. */
export function changedSettings(before: Config, after: Config, hasWorkers: boolean): ChangedSettings {
  const isName = (name: string): name is keyof Config => name in declarations
  const names = Object.keys(declarations).filter((name) => isName(name) && before[name] !== after[name])
  const needsRestart = (name: string) => !hasWorkers || atStart.includes(name)
  return {
    changed: names.filter((name) => !needsRestart(name)),
    needRestart: names.filter(needsRestart),
  }
}
