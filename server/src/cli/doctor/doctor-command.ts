import type { LoadedConfig } from '../../config/config.ts'
import type { Finding } from './finding.ts'
import { printFinding, summarize } from './print-findings.ts'
import { type CheckOptions, runChecks } from './run-checks.ts'

export interface DoctorOptions extends CheckOptions {
  readonly json: boolean
}

/** Prints each finding as soon as its check is done. Returns the exit code. */
export async function doctorCommand(loaded: LoadedConfig, options: DoctorOptions): Promise<number> {
  const findings: Finding[] = []
  for await (const finding of runChecks(loaded, options)) {
    findings.push(finding)
    if (!options.json) printFinding(finding)
  }
  return summarize(findings, options.json)
}
