import type { Config } from '../../config.ts'
import type { TallyOptions } from './checks/tallies.ts'
import type { Finding } from './finding.ts'
import { conclude, printFinding } from './print-findings.ts'
import { examine } from './run-checks.ts'

/** Says what is right and what is wrong, as it finds it. Returns the exit code. */
export async function doctorCommand(
  config: Config,
  options: TallyOptions & { readonly json: boolean },
): Promise<number> {
  const findings: Finding[] = []
  for await (const finding of examine(config, options)) {
    findings.push(finding)
    if (!options.json) printFinding(finding)
  }
  return conclude(findings, options.json)
}
