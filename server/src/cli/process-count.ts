import type { Config } from '../config/config.ts'
import { parseProcesses } from './arguments.ts'

/** The number of worker processes; undefined for a single process without workers. */
export function processesOf({ QUARTERMASTER_PROCESSES: processes }: Config): number | undefined {
  return processes === undefined ? undefined : parseProcesses(processes)
}
