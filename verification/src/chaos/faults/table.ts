import type { Fault } from './fault.ts'
import { networkFaults } from './network.ts'
import { processFaults } from './processes.ts'
import { resourceFaults } from './resources.ts'

/** Every fault: its name, how it begins, and how it ends. */
export const allFaults: readonly Fault[] = [...processFaults, ...networkFaults, ...resourceFaults]

/** These faults in this order, repeated until there are `count`. */
export function faultsNamed(names: readonly string[], count = names.length): Fault[] {
  const named = names.map((name) => {
    const fault = allFaults.find((one) => one.name === name)
    if (fault !== undefined) return fault
    throw new Error(`no fault "${name}": there are ${allFaults.map((one) => one.name).join(', ')}`)
  })
  return Array.from({ length: Math.ceil(count / named.length) }, () => named)
    .flat()
    .slice(0, count)
}
