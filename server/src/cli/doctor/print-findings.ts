import { styleText } from 'node:util'
import { note, printJson, printLine } from '../print.ts'
import type { Finding } from './finding.ts'

const signs: Record<Finding['status'], [sign: string, colour: 'green' | 'red' | 'yellow']> = {
  ok: ['✓', 'green'],
  problem: ['✗', 'red'],
  repaired: ['✓', 'green'],
  unchecked: ['–', 'yellow'],
}

export function printFinding({ status, message, repair }: Finding): void {
  const [sign, colour] = signs[status]
  // It leaves the colour out where NO_COLOR is set or stdout is no terminal.
  printLine(
    `${styleText(colour, sign, { stream: process.stdout })} ${status === 'repaired' ? `repaired: ${message}` : message}`,
  )
  if (repair !== undefined) printLine(`    repair: ${repair}`)
}

/** Says what it comes to. Returns the exit code. */
export function conclude(findings: readonly Finding[], json: boolean): number {
  const faults = findings.filter(({ status }) => status === 'problem').length
  if (json) printJson({ ok: faults === 0, findings })
  else note(faults === 0 ? 'All is well.' : `${faults} ${faults === 1 ? 'thing is' : 'things are'} wrong.`)
  return faults === 0 ? 0 : 1
}
