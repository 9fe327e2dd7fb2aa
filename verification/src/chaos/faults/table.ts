import { networkFaults } from './network.ts'
import { processFaults } from './processes.ts'
import { resourceFaults } from './resources.ts'

/** Every fault: its name, how it begins, and how it ends. */
export const allFaults = [...processFaults, ...networkFaults, ...resourceFaults]
