import { styleText } from 'node:util'
import { note, printJson, printLine } from '../print.ts'
import type { Finding } from './finding.ts'

const symbols: Record<Finding['status'], [symbol: string, colour: 'green' | 'red' | 'yellow']> = {
  ok: ['✓', 'green'],
  warning: ['!', 'yellow'],
  problem: ['✗', 'red'],
  repaired: ['✓', 'green'],
  unchecked: ['–', 'yellow'],
}

export function printFinding({ status, message, repair }: Finding): void {
  const [symbol, colour] = symbols[status]
  // styleText adds no colour if NO_COLOR is set or stdout is not a terminal.
  printLine(
    `${styleText(colour, symbol, { stream: process.stdout })} ${status === 'repaired' ? `repaired: ${message}` : message}`,
  )
  if (repair !== undefined) printLine(`    repair: ${repair}`)
}

/** Prints the JSON, or the number of problems. Returns the exit code. */
export function summarize(findings: readonly Finding[], json: boolean): number {
  const problems = findings.filter(({ status }) => status === 'problem').length
  if (json) printJson({ ok: problems === 0, findings })
  else
    note(
      problems === 0 ? 'No problems found.' : `${problems} ${problems === 1 ? 'problem' : 'problems'} found.`,
    )
  return problems === 0 ? 0 : 1
}
