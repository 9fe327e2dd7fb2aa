import type { Proof, ProofRecord } from './records.ts'

/** What `npm run verify` and `npm run bench` write into their folders `out/`. */
export interface Results {
  readonly suite: string
  readonly commit: string | null
  readonly clean: boolean
  readonly quick: boolean
  readonly seed?: number
  readonly at: string
  readonly machine: { readonly node: string; readonly cores: number }
  readonly checks?: readonly MeasuredCheck[]
  readonly benchmarks?: readonly MeasuredCheck[]
}

interface MeasuredCheck {
  readonly name: string
  readonly bound: string
  readonly value: string
  readonly state: string
}

/** The proof with the figures of a run, for the checks that it has. Checks that were skipped or failed measured nothing. */
export function addResults(proof: Proof, results: Results): Proof {
  if (results.quick)
    throw new Error('These are results of a short run (--quick). The page has those of full runs.')
  if (results.commit === null || !results.clean)
    throw new Error('These results are not of a commit: the working tree had changes. Commit, then measure.')
  const measured = new Map(
    [...(results.checks ?? []), ...(results.benchmarks ?? [])]
      .filter(({ state }) => state === 'ok' || state === 'SHORT')
      .map((check) => [check.name, check]),
  )
  const sections = proof.sections.map((section) => ({
    ...section,
    records: section.records.map((record) => {
      const check = measured.get(record.check)
      return check === undefined ? record : updated(record, check, results, results.commit ?? '')
    }),
  }))
  return { sections }
}

function updated(record: ProofRecord, check: MeasuredCheck, results: Results, commit: string): ProofRecord {
  const { claim, command } = record
  const { cores, node } = results.machine
  return {
    claim,
    check: record.check,
    figure: check.value.trim(),
    bound: fullBound(check.bound),
    met: check.state === 'ok',
    commit: commit.slice(0, 8),
    date: results.at.slice(0, 10),
    machine: `${cores} cores, Node ${node.replace('v', '')}`,
    command,
  }
}

/** A bound without what applies to --quick only. */
export function fullBound(bound: string): string {
  return bound.replaceAll(/ \(quick: [^)]*\)/g, '')
}
